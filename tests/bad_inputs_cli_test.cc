// Runs every bad input of tests/support/bad_inputs.h and compares the messages, word for word, with
// docs/reference/errors.md. After a message has changed:
//   FATHOM_WRITE_DOCS=1 build/fathom_tests --gtest_filter='BadInputs.*'
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>

#include "fathom/base/text.h"
#include "fathom/fitted/model.h"
#include "fathom/fitted/predictor.h"
#include "fathom/io/safetensors.h"
#include "tests/support/bad_inputs.h"
#include "tests/support/changed_model.h"
#include "tests/support/places.h"
#include "tests/support/program.h"

namespace fathom {
namespace {

constexpr const char* kAbout =
    "# Errors\n\n"
    "Errors are one line on standard error: file, line, column, fix. The exit code is 0 for "
    "success, 2 for bad input\nand 3 for a numerical failure; an interrupted command returns 128 "
    "plus the number of the signal. A command that\nfails leaves no half-written file.\n\n"
    "A test runs every command of this page and compares the messages word for word "
    "(`tests/bad_inputs_cli_test.cc`).\n`⏎` marks the end of a line of the file. After you have "
    "changed a message, write the page again:\n\n"
    "    FATHOM_WRITE_DOCS=1 build/fathom_tests --gtest_filter='BadInputs.*'\n";

std::string TrainingTable() {
  RandomStream stream(1);
  return Rows("a,b,colour,y", 40, [&](int n) {
    const double a = stream.Normal(), b = stream.Normal();
    return std::to_string(a) + "," + std::to_string(b) + "," + (n % 3 == 0 ? "red" : "blue") + "," +
           std::to_string(a * b + (n % 3 == 0 ? 1 : 0));
  });
}

std::string WithReplaced(std::string text, const std::string& old, const std::string& by) {
  const std::size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return at == std::string::npos ? text : text.replace(at, old.size(), by);
}

// As a cell of a Markdown table.
std::string Cell(const std::string& text) {
  std::string cell;
  for (const char c : text) cell += c == '|' ? "\\|" : c == '\n' ? "⏎" : std::string(1, c);
  return cell;
}

// Whether the page can show it: short, and no control characters but ends of lines.
bool IsShort(const std::string& content) {
  return !content.empty() && content.size() < 60 && IsUtf8(content) &&
         std::all_of(content.begin(), content.end(),
                     [](char c) { return c == '\n' || static_cast<unsigned char>(c) >= ' '; });
}

class BadInputs : public ProgramTest {
 protected:
  void SetUp() override {
    folder_.Write("train.csv", TrainingTable());
    folder_.Write("empty.csv", "");
    std::filesystem::create_directory(File("folder"));
    folder_.Write("folder/results.jsonl", "step,energy\n");
    std::filesystem::create_directories(File("data/one"));
    folder_.Write("data/one/data.csv", "a,y\n1,2\n3,4\n5,6\n");
    folder_.Write("data/one/test_indices.txt", "0\n\n");
    Good(FitArguments(train_, model_));
    WriteDamagedModels(TestFolder::Read(model_));
    const auto overflow = [](DeepGp* network) {
      std::get<Whitened>(network->layers.back().gps[0].posterior).mu.setConstant(1e308);
    };
    SaveModel(WithNetwork(LoadModel(model_), overflow), File("overflow.fathom"));
    WriteSafeTensors(File("other.fathom"), {});
  }

  void WriteDamagedModels(const std::string& bytes) const {
    RandomStream stream(8);
    std::string noise(3000, ' ');
    for (char& c : noise) c = static_cast<char>(stream.Below(256));
    // A file begins with the length of its header, little-endian.
    const std::string huge = std::string("\0\0\0\0\0\0\0\x10", 8) + bytes.substr(8);
    const std::string cut = std::string("\x88\x13\0\0\0\0\0\0", 8) + bytes.substr(8, 892);
    std::uint64_t header = 0;
    std::memcpy(&header, bytes.data(), sizeof(header));
    const double value = std::numeric_limits<double>::quiet_NaN();
    std::string nan = bytes;
    std::memcpy(&nan[8 + header], &value, sizeof(value));
    std::string flipped = bytes;
    flipped[flipped.size() - 5] ^= 1;
    // Formats up to 5 have no checksum, so that what is wrong with them is found further inside.
    const auto old = [](const std::string& file) {
      return WithReplaced(WithReplaced(file, R"("checksum")", R"("checksun")"),
                          R"("format_version":"8")", R"("format_version":"5")");
    };
    const std::map<std::string, std::string> models = {
        {"empty", ""},
        {"random", noise},
        {"huge", huge},
        {"header_cut", cut},
        {"cut", bytes.substr(0, bytes.size() - 8)},
        {"flipped", flipped},
        {"nan", old(nan)},
        {"future", WithReplaced(old(bytes), R"("format_version":"5")", R"("format_version":"9")")},
        {"shapes", WithReplaced(old(bytes), R"(\"inducing\":10)", R"(\"inducing\":11)")}};
    for (const auto& [name, content] : models) folder_.Write(name + ".fathom", content);
  }

  // What the program says; empty if nothing.
  std::string Tell(const BadInput& input) const {
    folder_.Write("bad.csv", input.content);
    std::istringstream words(input.command);
    const Arguments arguments{std::istream_iterator<std::string>(words), {}};
    int ends[2] = {-1, -1};
    if (input.out == Stdout::kClosed) {
      EXPECT_EQ(::pipe(ends), 0);
      ::close(ends[0]);
    } else {
      ends[1] = ::open(input.out == Stdout::kFull ? "/dev/full" : File("stdout").c_str(),
                       O_WRONLY | O_CREAT | O_TRUNC, 0600);
    }
    const int in = ::open("/dev/null", O_RDONLY);
    const int err = ::open(File("stderr").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    StartOptions start{.in = in, .out = ends[1], .err = err, .folder = folder_path_.c_str()};
    if (input.most_bytes >= 0) start.file_size = static_cast<rlim_t>(input.most_bytes);
    EXPECT_EQ(ExitCode(StartProgram(arguments, start)), input.code) << input.what;
    for (const int descriptor : {in, ends[1], err}) ::close(descriptor);
    return TestFolder::Read(File("stderr"));
  }

  // Checks one input; its line of the page.
  std::string Check(const BadInput& input) const {
    SCOPED_TRACE(input.what + ": fathom " + input.command);
    const std::size_t files = folder_.CountFiles();
    std::string said = Tell(input);
    if (!input.told.empty()) {
      EXPECT_EQ(CountLines(said), 1U) << said;
      EXPECT_TRUE(said.starts_with("fathom: ")) << said;
      EXPECT_EQ(said.starts_with("fathom: note: "), input.code == 0) << said;
      if (!said.empty()) said.pop_back();
    } else {
      EXPECT_EQ(said, "");
    }
    for (const std::string& word : input.told)
      EXPECT_NE(said.find(word), std::string::npos) << "does not name " << word << ": " << said;
    if (input.code != 0) {
      EXPECT_EQ(TestFolder::Read(File("stdout")), "");
      EXPECT_EQ(folder_.CountFiles(), files) << "left a file";
    }
    std::filesystem::remove(File("new.fathom"));
    return "| " + input.what + (IsShort(input.content) ? ": `" + Cell(input.content) + "`" : "") +
           " | `fathom" + (input.command.empty() ? "" : " ") + Cell(input.command) + "` | " +
           (said.empty() ? "nothing" : "`" + Cell(said) + "`") + " | " +
           std::to_string(input.code) + " |\n";
  }

  const std::string folder_path_ = folder_.Path("");
};

TEST_F(BadInputs, AreToldInOneLineAsThePageSays) {
  folder_.Write("bad.csv", "");
  folder_.Write("stdout", "");
  folder_.Write("stderr", "");
  std::string page = kAbout;
  std::size_t kinds = 0;
  for (const BadInputSection& section : fathom::ListBadInputs()) {
    page +=
        "\n## " + section.title + "\n\n" + (section.about.empty() ? "" : section.about + "\n\n");
    page += "| what is wrong | command | message | exit |\n|---|---|---|---|\n";
    for (const BadInput& input : section.inputs) page += Check(input);
    kinds += section.inputs.size();
  }
  EXPECT_GE(kinds, 40U);
  const std::string path = SourceFile("docs/reference/errors.md");
  if (::getenv("FATHOM_WRITE_DOCS") != nullptr) std::ofstream(path) << page;
  EXPECT_EQ(TestFolder::Read(path), page);
}

}  // namespace
}  // namespace fathom
