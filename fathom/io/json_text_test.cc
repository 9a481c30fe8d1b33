#include "fathom/io/json_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fathom/base/error.h"

namespace fathom {
namespace {

std::string Nested(int depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(JsonText, IsOneLineOrIndented) {
  const nlohmann::ordered_json json = {{"b", 1}, {"a", {1.5, "é"}}};
  EXPECT_EQ(JsonText(json), R"({"b":1,"a":[1.5,"é"]})");
  EXPECT_EQ(JsonText(nlohmann::json(json), 1), "{\n \"a\": [\n  1.5,\n  \"é\"\n ],\n \"b\": 1\n}");
  EXPECT_EQ(JsonInAscii("é"), R"("\u00e9")");
  EXPECT_EQ(JsonText(TryParseOrderedJson(JsonText(json))), JsonText(json));
}

TEST(JsonText, RefusesOrReplacesWhatIsNotUtf8) {
  const nlohmann::json json = "a\xff";
  EXPECT_THROW(JsonText(json), nlohmann::json::exception);
  EXPECT_EQ(JsonText(json, -1, NotUtf8::kReplace), "\"a\uFFFD\"");
}

TEST(JsonText, ParsingNamesWhatIsWrong) {
  EXPECT_EQ(ParseJson("it", "[1, 2]"), nlohmann::json({1, 2}));
  for (const auto& [text, message] :
       {std::pair("[1,", "it is not JSON"), std::pair("[[[1]]]", "it is nested too deeply")}) {
    try {
      ParseJson("it", text, 2);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), message);
    }
    EXPECT_TRUE(TryParseJson(text, 2).is_discarded());
  }
  EXPECT_FALSE(TryParseJson("[[1]]", 2).is_discarded());
}

TEST(JsonText, DeepTextsDoNotEndTheStack) {
  EXPECT_FALSE(TryParseJson(Nested(kDeepestJson)).is_discarded());
  EXPECT_TRUE(TryParseJson(Nested(1000000)).is_discarded());
}

TEST(JsonText, BytesHoldAnyString) {
  const nlohmann::json json = {{"text", std::string("\0\xff", 2)}, {"number", 1.0 / 3}};
  EXPECT_EQ(JsonFromBytes(JsonBytes(json)), json);
  EXPECT_THROW(JsonFromBytes("\x9f"), nlohmann::json::exception);
}

}  // namespace
}  // namespace fathom
