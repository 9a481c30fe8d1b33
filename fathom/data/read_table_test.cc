// Tables that are packed or binary; text is in csv_test.cc.
#include "fathom/data/read_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <zlib.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/support/test_folder.h"

namespace fathom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string Gzip(const std::string& text) {
  std::string packed(text.size() + 1000, '\0');
  z_stream stream{};
  EXPECT_EQ(::deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  ::deflateEnd(&stream);
  return packed;
}

Table Read(const std::string& content, const ReadOptions& options = {}) {
  const TestFolder folder;
  return ReadTable(folder.Write("t", content), options);
}

std::string FileFault(const std::string& content) {
  return ErrorOf([&] { Read(content); });
}

TEST(ReadTable, UnpacksGzip) {
  std::string text = "a,b\n";
  for (int n = 0; n < 200000; ++n) text += std::to_string(n % 10) + ",1\n";  // packs 400 to 1
  const Table table = Read(Gzip(text));
  ASSERT_EQ(table.values.rows(), 200000);
  EXPECT_EQ(table.values(199999, 0), 9);
  EXPECT_EQ(Read(Gzip("a,b\n1,2\n") + Gzip("3,4\n")).values.rows(), 2);
  EXPECT_EQ(Read(Gzip("a,b\n1,2\n") + std::string(512, '\0')).values.rows(), 1);
}

TEST(ReadTable, RefusesDamagedGzip) {
  const std::string packed = Gzip("a,b\n1,2\n3,4\n");
  for (std::size_t length = 2; length < packed.size(); ++length)
    EXPECT_THAT(FileFault(packed.substr(0, length)), HasSubstr("its gzip data are cut off"))
        << length;
  std::string damaged = packed;
  damaged[14] ^= 0x55;
  EXPECT_THAT(FileFault(damaged), HasSubstr("its gzip data are"));
  EXPECT_THAT(FileFault(packed + "rubbish"), HasSubstr("its gzip data are damaged"));
}

// A version 1 file as numpy.save writes it.
template <typename Number>
std::string Npy(const std::string& header, const std::vector<Number>& numbers) {
  std::string text = header;
  text.resize((10 + header.size() + 1 + 63) / 64 * 64 - 11, ' ');
  text += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(text.size() & 0xFF);
  file += static_cast<char>(text.size() >> 8);
  file += text;
  file.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number));
  return file;
}

TEST(ReadTable, ReadsNumpyArrays) {
  const Matrix expected = (Matrix(2, 3) << 1, 2, 3, 4, 5, 6).finished();
  const std::string shape = "'shape': (2, 3), }";
  const std::string c = "'fortran_order': False, " + shape;
  const std::string fortran = "'fortran_order': True, " + shape;
  const Table table = Read(Npy<double>("{'descr': '<f8', " + c, {1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(table.values, expected);
  EXPECT_THAT(table.columns, ElementsAre("x1", "x2", "x3"));
  EXPECT_EQ(table.unnamed_columns, 3);
  EXPECT_EQ(Read(Npy<float>("{'descr': '<f4', " + fortran, {1, 4, 2, 5, 3, 6})).values, expected);
  EXPECT_EQ(Read(Npy<std::int64_t>("{'descr': '<i8', " + c, {1, 2, 3, 4, 5, 6})).values, expected);
  EXPECT_EQ(Read(Npy<std::uint8_t>("{'descr': '|u1', " + c, {1, 2, 3, 4, 5, 6})).values, expected);
  EXPECT_EQ(Read(Gzip(Npy<double>("{'descr': '<f8', " + c, {1, 2, 3, 4, 5, 6}))).values, expected);
  const Table chosen = Read(Npy<double>("{'descr': '<f8', " + c, {1, 2, 7, 4, 5, 7}),
                            {.ignore = {"1"}, .text = {"3"}});
  EXPECT_THAT(chosen.columns, ElementsAre("x2", "x3"));
  EXPECT_THAT(chosen.LevelsOf(1), ElementsAre("7"));
  EXPECT_EQ(chosen.values(1, 0), 5);
}

TEST(ReadTable, RefusesOtherArrays) {
  const std::string c = "'fortran_order': False, 'shape': (1, 2), }";
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(FileFault(Npy<double>("{'descr': '>f8', " + c, {1, 2})), HasSubstr("of type '>f8'"));
  EXPECT_THAT(FileFault(Npy<double>("{'descr': '<f8', " + c, {1, 2, 3})), HasSubstr("is damaged"));
  EXPECT_THAT(FileFault(Npy<double>("{'descr': '<f8', " + c, {1, infinity})),
              HasSubstr("row 1, column 2: the number is infinite"));
  EXPECT_THAT(
      FileFault(Npy<double>("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", {1, 2})),
      HasSubstr("the array has 1 axis"));
  // Sizes whose product overflows to the right number of bytes.
  EXPECT_THAT(FileFault(Npy<double>("{'descr': '<f8', 'fortran_order': False, "
                                    "'shape': (4611686018427387905, 4), }",
                                    {1, 2, 3, 4})),
              HasSubstr("is damaged"));
  for (const char* const header :
       {"", "{", "{'descr': '<f8'}", "{'descr': [('a', '<f8')], }", "{'shape': (1, -2), }",
        "{'descr': '<f8', 'descr': '<f8', }", "{'descr': '<f8', 'other': 1}"}) {
    EXPECT_FALSE(FileFault(Npy<double>(header, {1, 2})).empty()) << header;
  }
}

RC_GTEST_PROP(ReadTable, EndsWithATableOrAnErrorOnAnyDamage, ()) {
  const std::string npy =
      Npy<double>("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }", {1, 2});
  std::string content = *rc::gen::element(npy, Gzip("a,b\n1,2\n"));
  const auto place = *rc::gen::inRange<std::size_t>(0, content.size());
  content[place] = *rc::gen::arbitrary<char>();
  content.resize(*rc::gen::inRange<std::size_t>(1, content.size() + 1));
  try {
    Read(content);
  } catch (const Error& error) {
    RC_ASSERT(std::string(error.what()).find('\n') == std::string::npos);
  }
}

}  // namespace
}  // namespace fathom
