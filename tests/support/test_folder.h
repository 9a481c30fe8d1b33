// A folder of its own for a test, removed with all it holds.
#ifndef FATHOM_TESTS_SUPPORT_TEST_FOLDER_H_
#define FATHOM_TESTS_SUPPORT_TEST_FOLDER_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>

#include "fathom/base/error.h"

namespace fathom {

class TestFolder {
 public:
  TestFolder() : path_(testing::TempDir() + "fathom-XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no folder for the test");
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  std::string Path(const std::string& name) const { return path_ + "/" + name; }
  // Writes the file and returns its path.
  std::string Write(const std::string& name, std::string_view content) const {
    std::ofstream(Path(name), std::ios::binary) << content;
    return Path(name);
  }
  static std::string Read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::size_t CountFiles() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::string path_;
};

// The text of the Error that `call` throws; it must be one line.
inline std::string ErrorOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    std::string text = error.what();
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    return text;
  }
  ADD_FAILURE() << "no Error was thrown";
  return {};
}

}  // namespace fathom

#endif  // FATHOM_TESTS_SUPPORT_TEST_FOLDER_H_
