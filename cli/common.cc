#include "cli/common.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/data/role_error.h"
#include "fathom/io/write_all.h"

namespace fathom::cli {

namespace {

// Parses all of `text` as a number.
template <typename Number>
bool ParseNumber(std::string_view text, Number* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

void WriteOut(std::string_view text) {
  if (WriteAll(STDOUT_FILENO, text)) return;
  if (errno == EPIPE) throw ClosedPipe();
  ThrowError("cannot write to standard output: ", std::strerror(errno));
}

void Complain(const std::string& message) {
  WriteAll(STDERR_FILENO, "fathom: " + Visible(message) + "\n");
}

std::vector<Index> ParseCounts(const char* option, const std::string& text) {
  std::vector<Index> counts;
  for (const std::string& item : SplitLists({text})) {
    if (!ParseNumber(item, &counts.emplace_back()))
      ThrowError(option, ": ", Quoted(item), " is not a whole number; give one, or several as 5,3");
  }
  return counts;
}

std::vector<double> ParseProbabilities(const char* option, const std::string& text) {
  std::vector<double> probabilities;
  for (const std::string& item : SplitLists({text})) {
    double p = 0;
    if (!ParseNumber(item, &p) || !(p > 0 && p < 1))
      ThrowError(option, ": ", Quoted(item), " is not a number between 0 and 1");
    if (std::count(probabilities.begin(), probabilities.end(), p) > 0)
      ThrowError(option, ": ", Quoted(item), " is named twice; name it once");
    probabilities.push_back(p);
  }
  return probabilities;
}

std::string JoinCounts(const std::vector<Index>& counts) {
  std::string text;
  for (const Index count : counts) text += (text.empty() ? "" : ",") + std::to_string(count);
  return text.empty() ? "0" : text;
}

std::string WithOptions(const Error& error) {
  const auto* of_role = dynamic_cast<const RoleError*>(&error);
  if (of_role == nullptr) return error.what();
  const std::string& value = of_role->value();
  const bool plain = value.find_first_of(" \t'\"$&;|<>()*?#!`\\") == std::string::npos;
  return of_role->text() + " (--" + of_role->role() +
         (value.empty() ? "" : " " + (plain ? value : Quoted(value))) + ")";
}

CLI::Validator InRange(Index low, Index high) {
  return {[low, high](const std::string& text) {
            Index value = 0;
            if (ParseNumber(text, &value) && value >= low && value <= high) return std::string();
            return Quoted(text) + " is not a whole number from " + std::to_string(low) + " to " +
                   std::to_string(high);
          },
          ""};
}

CLI::Validator OneOf(const std::vector<std::string>& words) {
  return {[words](const std::string& text) {
            if (std::count(words.begin(), words.end(), text) > 0) return std::string();
            return Quoted(text) + " is none of " + QuotedList(words);
          },
          ""};
}

void CheckOutput(const std::string& path, const std::vector<std::string>& inputs) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  for (const std::string& input : inputs) {
    if (fs::equivalent(path, input, ignored))
      ThrowError(path, ": would be overwritten but is read too; name another file to write");
  }
  const fs::path target =
      fs::is_symlink(path, ignored) ? fs::weakly_canonical(path, ignored) : fs::path(path);
  if (target.empty()) ThrowError("the file to write has no name");
  if (path == "-") ThrowError("what is written here cannot go to standard output; name a file");
  if (fs::is_directory(target, ignored)) ThrowError(path, ": is a directory; name a file in it");
  if (fs::exists(target, ignored) && !fs::is_regular_file(target, ignored))
    ThrowError(path, ": is not a regular file; name another file to write");
  // Files are written beside their place and renamed, so it is the folder that must be writable. A
  // kill leaves no file behind that has no name. Only one that has shows that a name is too long.
  constexpr std::size_t kLongName = 200;
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  const int nameless = ::open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  if (nameless >= 0) ::close(nameless);
  if (nameless >= 0 && target.filename().string().size() < kLongName) return;
  const std::string probe = target.string() + ".probe-" + std::to_string(::getpid());
  const int descriptor = ::open(probe.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    ThrowError(path, ": cannot write the file: ", std::strerror(errno),
               errno == ENOENT ? "; make its folder first" : "; name a place that can be written");
  }
  ::close(descriptor);
  ::unlink(probe.c_str());
}

CLI::Option* AddSeed(CLI::App* app, std::uint64_t* seed, const char* what) {
  // Read as text: a negative number would be wrapped around in silence.
  const auto parse = [seed](const std::string& text) {
    if (!ParseNumber(text, seed))
      throw CLI::ValidationError("--seed", Quoted(text) + " is not a whole number from 0 on");
  };
  return app->add_option_function<std::string>("--seed", parse, what)
      ->type_name("N")
      ->default_str(std::to_string(*seed));
}

void AddThreads(CLI::App* app, int* threads) {
  app->add_option("--threads", *threads,
                  "Threads to use; 0 means all cores. The result does not depend on it")
      ->check(InRange(0, 1024))
      ->type_name("N")
      ->capture_default_str();
}

void AddSamples(CLI::App* app, Index* samples, std::uint64_t* seed) {
  app->add_option("--samples", *samples,
                  "Predict with a mixture of so many samples through the layers; 0 means as the "
                  "model was trained")
      ->check(InRange(0, 100000))
      ->type_name("S")
      ->capture_default_str();
  AddSeed(app, seed, "Seed of the samples");
}

}  // namespace fathom::cli
