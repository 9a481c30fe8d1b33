#include "fathom/base/error.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

namespace fathom {
namespace {

template <typename Exception, typename Function>
std::string MessageOf(const Function& function) {
  try {
    function();
  } catch (const Exception& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(ThrowError, JoinsItsParts) {
  EXPECT_EQ(MessageOf<Error>(
                [] { ThrowError("row ", 17, ", column '", std::string("age"), "': ", 0.5); }),
            "row 17, column 'age': 0.5");
}

TEST(Require, NamesThingRequirementAndValue) {
  EXPECT_EQ(MessageOf<Error>([] { Require(false, "alpha", "in (0, 1]", 1.5); }),
            "alpha must be in (0, 1], not 1.5");
}

TEST(Require, IsSilentWhenItHolds) { EXPECT_NO_THROW(Require(true, "alpha", "in (0, 1]", 0.5)); }

TEST(FathomCheck, NamesFileLineAndCondition) {
  const int line = __LINE__ + 1;
  const std::string message = MessageOf<InternalError>([] { FATHOM_CHECK(1 + 1 == 3); });
  EXPECT_NE(message.find("error_test.cc:" + std::to_string(line)), std::string::npos) << message;
  EXPECT_NE(message.find("1 + 1 == 3 does not hold"), std::string::npos) << message;
}

TEST(FathomCheck, EvaluatesItsConditionOnce) {
  int calls = 0;
  FATHOM_CHECK(++calls > 0);
  EXPECT_EQ(calls, 1);
}

TEST(Errors, AreThreeKindsThatNeverCatchEachOther) {
  // The program maps each kind to an exit code of its own, so none may be caught as another.
  EXPECT_FALSE((std::is_base_of_v<Error, NumericalError>));
  EXPECT_FALSE((std::is_base_of_v<NumericalError, Error>));
  EXPECT_FALSE((std::is_base_of_v<std::runtime_error, InternalError>));
}

}  // namespace
}  // namespace fathom
