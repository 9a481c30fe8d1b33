#include "fathom/io/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <zlib.h>

#include <bit>
#include <csignal>
#include <cstring>
#include <limits>

#include "fathom/base/error.h"
#include "fathom/io/atomic_file.h"
#include "fathom/io/file_bytes.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

using testing::HasSubstr;

SafeTensors Sample() {
  SafeTensors content;
  content.metadata = {{"kind", "test \"quoted\" \xc3\xa4"}, {"options", "{}"}};
  content.tensors["a/weights"] = {{2, 3}, {1, 2, 3, 4, 5, 6.5}};
  content.tensors["empty"] = {{0, 7}, {}};
  content.tensors["scalar"] = {{}, {0.1}};
  return content;
}

// The bytes of a file with this header and this many bytes of data.
std::string FileOf(const std::string& header, std::size_t data_bytes) {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + std::string(data_bytes, '\1');
}

std::string Fault(std::string_view bytes) {
  const TestFolder folder;
  const std::string path = folder.Write("m.fathom", bytes);
  std::string text = ErrorOf([&] { ReadSafeTensors(path); });
  EXPECT_THAT(text, HasSubstr(path + ": is damaged or no safetensors file: "));
  return text;
}

std::string HeaderFault(const std::string& header, std::size_t data_bytes = 16) {
  return Fault(FileOf(header, data_bytes));
}

// One array with this description.
std::string EntryFault(const std::string& dtype, const std::string& shape,
                       const std::string& offsets) {
  return HeaderFault(R"({"a":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" +
                     offsets + "}}");
}

TEST(SafeTensors, ATableInsteadOfAModelIsRecognised) {
  EXPECT_THAT(Fault("price,size\n1,2\n"), HasSubstr("it begins with the text 'price,si'"));
}

TEST(SafeTensors, ReadsBackWhatWasWritten) {
  const TestFolder folder;
  const std::string path = folder.Path("m.fathom");
  WriteSafeTensors(path, Sample());
  SafeTensors content = ReadSafeTensors(path);
  EXPECT_EQ(content.metadata.erase(kChecksum), 1U);
  EXPECT_EQ(content, Sample());
  EXPECT_EQ(folder.CountFiles(), 1u);
}

TEST(SafeTensors, AnyChangedBitIsNoticed) {
  const TestFolder folder;
  const std::string path = folder.Path("m.fathom");
  WriteSafeTensors(path, Sample());
  const std::string bytes = TestFolder::Read(path);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 1 << i % 8);
    folder.Write("m.fathom", changed);
    try {
      // A changed name of the entry hides the checksum; whoever needs one asks for it.
      EXPECT_FALSE(ReadSafeTensors(path).metadata.contains(kChecksum)) << i;
    } catch (const Error&) {
    }
  }
}

TEST(SafeTensors, AFileWithoutAChecksumIsRead) {
  const TestFolder folder;
  const std::string header = R"({"a":{"dtype":"F64","shape":[],"data_offsets":[0,8]}}   )";
  const std::string path =
      folder.Write("m", std::string(1, static_cast<char>(header.size())) + std::string(7, '\0') +
                            header + std::string(8, '\0'));
  EXPECT_EQ(ReadSafeTensors(path).tensors.at("a").values, std::vector<double>{0});
}

TEST(SafeTensors, KeepsEveryBitOfTheNumbers) {
  using Limits = std::numeric_limits<double>;
  const std::vector<double> values = {Limits::quiet_NaN(),
                                      -Limits::quiet_NaN(),
                                      std::bit_cast<double>(0x7ff8'dead'beef'0001),
                                      -0.0,
                                      Limits::denorm_min(),
                                      -Limits::denorm_min(),
                                      Limits::infinity(),
                                      Limits::max(),
                                      0.1};
  SafeTensors content;
  content.tensors["x"] = {{values.size()}, values};
  const TestFolder folder;
  WriteSafeTensors(folder.Path("m"), content);
  const std::vector<double> read = ReadSafeTensors(folder.Path("m")).tensors.at("x").values;
  ASSERT_EQ(read.size(), values.size());
  EXPECT_EQ(std::memcmp(read.data(), values.data(), 8 * values.size()), 0);
}

TEST(SafeTensors, HasTheDocumentedLayout) {
  SafeTensors content;
  content.tensors["x"] = {{1}, {1.0}};
  const TestFolder folder;
  WriteSafeTensors(folder.Path("m"), content);
  const std::string bytes = TestFolder::Read(folder.Path("m"));
  std::string header = R"({"__metadata__":{"checksum":"00000000"},)"
                       R"("x":{"data_offsets":[0,8],"dtype":"F64","shape":[1]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::string expected(1, static_cast<char>(header.size()));
  expected += std::string(7, '\0') + header + std::string("\0\0\0\0\0\0\xf0\x3f", 8);
  char checksum[9];
  std::snprintf(checksum, sizeof(checksum), "%08lx",
                ::crc32(0, reinterpret_cast<const Bytef*>(expected.data()),
                        static_cast<uInt>(expected.size())));
  expected.replace(expected.find("00000000"), 8, checksum);
  EXPECT_EQ(bytes, expected);
}

TEST(SafeTensors, ReadsFloats) {
  std::string bytes = FileOf(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8);
  const float values[] = {0.1F, -3};
  std::memcpy(bytes.data() + bytes.size() - 8, values, 8);
  const TestFolder folder;
  const SafeTensors content = ReadSafeTensors(folder.Write("m", bytes));
  EXPECT_THAT(content.tensors.at("a").values, testing::ElementsAre(double{0.1F}, -3.0));
}

TEST(SafeTensors, RefusesBadHeaders) {
  EXPECT_THAT(Fault(""), HasSubstr("only 0 bytes"));
  EXPECT_THAT(Fault("1234567"), HasSubstr("only 7 bytes"));
  EXPECT_THAT(Fault(std::string(8, '\xff')),
              HasSubstr("its header would have 18446744073709551615"));
  EXPECT_THAT(Fault(std::string("\x10\0\0\0\0\0\0\0{}", 10)), HasSubstr("the file ends after 2"));
  EXPECT_THAT(HeaderFault(""), HasSubstr("not JSON"));
  EXPECT_THAT(HeaderFault("{\"a\":"), HasSubstr("not JSON"));
  EXPECT_THAT(HeaderFault("{} {}"), HasSubstr("not JSON"));
  EXPECT_THAT(HeaderFault("{\"\xff\":1}"), HasSubstr("not JSON"));
  EXPECT_THAT(HeaderFault("[]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(HeaderFault("7"), HasSubstr("not a JSON object"));
  EXPECT_THAT(HeaderFault(std::string(1'000'000, '[')), HasSubstr("nested too deeply"));
  EXPECT_THAT(HeaderFault(R"({"a":1,"a":2})"), HasSubstr("names 'a' twice"));
}

TEST(SafeTensors, RefusesBadMetadata) {
  EXPECT_THAT(HeaderFault(R"({"__metadata__":[]})", 0), HasSubstr("metadata are not an object"));
  EXPECT_THAT(HeaderFault(R"({"__metadata__":{"k":1}})", 0), HasSubstr("'k' is not text"));
}

TEST(SafeTensors, RefusesBadDescriptions) {
  EXPECT_THAT(HeaderFault(R"({"a":7})"), HasSubstr("not described by an object"));
  EXPECT_THAT(HeaderFault(R"({"a":{}})"), HasSubstr("no dtype"));
  EXPECT_THAT(EntryFault("64", "[2]", "[0,16]"), HasSubstr("no dtype"));
  EXPECT_THAT(EntryFault("\"I64\"", "[2]", "[0,16]"), HasSubstr("dtype 'I64'"));
  EXPECT_THAT(EntryFault("\"F64\"", "2", "[0,16]"), HasSubstr("no list 'shape'"));
  EXPECT_THAT(EntryFault("\"F64\"", "[-2]", "[0,16]"), HasSubstr("no size: '-2'"));
  EXPECT_THAT(EntryFault("\"F64\"", "[2.0]", "[0,16]"), HasSubstr("no size"));
  EXPECT_THAT(EntryFault("\"F64\"", "[\"2\"]", "[0,16]"), HasSubstr("no size"));
  EXPECT_THAT(EntryFault("\"F64\"", "[1e400]", "[0,16]"), HasSubstr("not JSON"));
  EXPECT_THAT(EntryFault("\"F64\"", "[2]", "{}"), HasSubstr("no list 'data_offsets'"));
}

TEST(SafeTensors, RefusesBadExtents) {
  for (const char* const offsets :
       {"[0]", "[0,8,16]", "[16,0]", "[0,24]", "[8,18446744073709551615]"}) {
    EXPECT_THAT(EntryFault("\"F64\"", "[2]", offsets), HasSubstr("outside the file")) << offsets;
  }
  EXPECT_THAT(EntryFault("\"F64\"", "[3]", "[0,16]"), HasSubstr("do not fit its shape"));
  EXPECT_THAT(EntryFault("\"F32\"", "[2]", "[0,16]"), HasSubstr("do not fit its shape"));
  // 2^32 * 2^32 * 2 and 2^61 * 8 wrap around to 0; 2^61 + 2 times 8 wraps around to the right 16.
  EXPECT_THAT(EntryFault("\"F64\"", "[4294967296,4294967296,2]", "[0,0]"),
              HasSubstr("fit its shape"));
  EXPECT_THAT(EntryFault("\"F64\"", "[2305843009213693952]", "[0,0]"), HasSubstr("fit its shape"));
  EXPECT_THAT(EntryFault("\"F64\"", "[2305843009213693954]", "[0,16]"), HasSubstr("fit its shape"));
  EXPECT_THAT(EntryFault("\"F64\"", "[1]", "[0,8]"),
              HasSubstr("8 bytes at its end belong to no array"));
  EXPECT_THAT(EntryFault("\"F64\"", "[1]", "[8,16]"), HasSubstr("a gap before array 'a'"));
  EXPECT_THAT(HeaderFault(R"({"a":{"dtype":"F64","shape":[2],"data_offsets":[0,16]},)"
                          R"("b":{"dtype":"F64","shape":[1],"data_offsets":[8,16]}})"),
              HasSubstr("array 'b' overlaps another"));
}

TEST(SafeTensors, RefusesEveryTruncationAndAnExcess) {
  const TestFolder folder;
  WriteSafeTensors(folder.Path("m"), Sample());
  const std::string bytes = TestFolder::Read(folder.Path("m"));
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THROW(ReadSafeTensors(folder.Write("cut", bytes.substr(0, length))), Error) << length;
  }
  EXPECT_THROW(ReadSafeTensors(folder.Write("long", bytes + '\0')), Error);
}

TEST(SafeTensors, SurvivesEveryChangedByteOfTheHeader) {
  const TestFolder folder;
  WriteSafeTensors(folder.Path("m"), Sample());
  const std::string bytes = TestFolder::Read(folder.Path("m"));
  std::size_t refused = 0;
  for (std::size_t at = 0; at + 56 < bytes.size();
       ++at) {  // 7 numbers of 8 bytes follow the header
    for (const char change : {'\x01', '\x20', '\x80'}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ change);
      try {
        ReadSafeTensors(folder.Write("changed", changed));
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 3 * (bytes.size() - 56) / 2);
}

TEST(SafeTensors, RefusesTextThatIsNotUtf8) {
  const TestFolder folder;
  SafeTensors content = Sample();
  content.metadata["latin"] = "\xe4";
  EXPECT_THAT(ErrorOf([&] { WriteSafeTensors(folder.Path("m"), content); }),
              HasSubstr("not UTF-8"));
  EXPECT_EQ(folder.CountFiles(), 0u);
}

TEST(SafeTensors, NamesAMissingFile) {
  EXPECT_THAT(ErrorOf([] { ReadSafeTensors("/nowhere/m.fathom"); }),
              HasSubstr("/nowhere/m.fathom: cannot open the file: No such file"));
}

void WriteText(const std::string& path, std::string_view text) {
  WriteFileAtomically(path, std::span(&text, 1));
}

TEST(WriteFileAtomically, ReplacesAFileAndKeepsItsPermissions) {
  const TestFolder folder;
  const std::string path = folder.Write("f", "old");
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  WriteText(path, "new");
  EXPECT_EQ(TestFolder::Read(path), "new");
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
  EXPECT_EQ(folder.CountFiles(), 1u);
}

TEST(WriteFileAtomically, TouchesNoOtherFile) {
  const TestFolder folder;
  const std::string other = folder.Write("file.fathom-tmp", "of the user");
  WriteText(folder.Path("file"), "new");
  EXPECT_EQ(TestFolder::Read(folder.Path("file")), "new");
  EXPECT_EQ(TestFolder::Read(other), "of the user");
  EXPECT_EQ(folder.CountFiles(), 2U);
}

TEST(WriteFileAtomically, FollowsALink) {
  const TestFolder folder;
  const std::string path = folder.Write("f", "old");
  std::filesystem::create_symlink("f", folder.Path("link"));
  WriteText(folder.Path("link"), "new");
  EXPECT_EQ(TestFolder::Read(path), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.Path("link")));
}

TEST(WriteFileAtomically, RefusesFoldersAndDevices) {
  const TestFolder folder;
  EXPECT_THAT(ErrorOf([&] { WriteText(folder.Path("none/f"), "x"); }),
              HasSubstr("none/f: cannot write the file: No such file or directory"));
  EXPECT_THAT(ErrorOf([&] { WriteText(folder.Path(""), "x"); }), HasSubstr("is a directory"));
  EXPECT_THAT(ErrorOf([&] { WriteText("/dev/null", "x"); }), HasSubstr("not a regular file"));
  EXPECT_EQ(folder.CountFiles(), 0u);
}

TEST(WriteFileAtomically, LeavesTheOldFileWhenThereIsNoRoom) {
  const TestFolder folder;
  const std::string path = folder.Write("f", "old");
  // A limit on the size of files fails in the middle of the write, as a full disk does.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{.rlim_cur = 100'000, .rlim_max = before.rlim_max};
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string text = ErrorOf([&] { WriteText(path, std::string(300'000, 'x')); });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, handler);
  EXPECT_THAT(text, HasSubstr(path + ": cannot write the file: File too large"));
  EXPECT_EQ(TestFolder::Read(path), "old");
  EXPECT_EQ(folder.CountFiles(), 1u);
}

TEST(WriteFileAtomically, LeavesTheOldFileInAFolderThatRefusesNewOnes) {
  if (::geteuid() == 0) GTEST_SKIP() << "permissions do not bind root";
  const TestFolder folder;
  const std::string path = folder.Write("f", "old");
  ASSERT_EQ(::chmod(folder.Path("").c_str(), 0555), 0);
  EXPECT_THAT(ErrorOf([&] { WriteText(path, "new"); }), HasSubstr("Permission denied"));
  ASSERT_EQ(::chmod(folder.Path("").c_str(), 0755), 0);
  EXPECT_EQ(TestFolder::Read(path), "old");
}

TEST(SafeTensors, BytesAreThoseOfTheFile) {
  const TestFolder folder;
  WriteSafeTensors(folder.Path("m"), Sample());
  const std::string bytes = SafeTensorsToBytes("memory", Sample());
  EXPECT_EQ(FileBytes(folder.Path("m")).bytes(), bytes);
  EXPECT_EQ(SafeTensorsFromBytes("memory", bytes), ReadSafeTensors(folder.Path("m")));
  EXPECT_EQ(SafeTensorsFromBytes("memory", bytes).tensors, Sample().tensors);
  try {
    SafeTensorsFromBytes("memory", std::string_view{bytes}.substr(0, 20));
    FAIL() << "half a file was read";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("memory: is damaged"));
  }
}

}  // namespace
}  // namespace fathom
