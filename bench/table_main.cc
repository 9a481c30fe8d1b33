// Writes a table of any size to standard output: normal inputs x1, x2, ... and a target y that is a
// smooth function of the first five of them, with noise of standard deviation 0.3. A row depends on
// the seed and its number alone, so that a shorter table is the beginning of a longer one.
//   fathom_bench_table rows=10000000 inputs=10 seed=1 > table.csv
#include <charconv>
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "bench/arguments.h"
#include "fathom/base/error.h"
#include "fathom/base/random.h"

namespace fathom::bench {

namespace {

constexpr Index kLeastInputs = 5;
constexpr double kNoise = 0.3;

void Append(double value, std::string* text) {
  char digits[32];
  const auto end =
      std::to_chars(digits, digits + sizeof(digits), value, std::chars_format::general, 7);
  text->append(digits, end.ptr);
}

double Target(const std::vector<double>& x) {
  return std::sin(2 * x[0]) * x[1] + std::abs(x[2]) * x[3] + 0.5 * x[4];
}

void WriteOut(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
    ThrowError("standard output: cannot write; is the disk full?");
}

void Run(const Arguments& arguments) {
  const Index rows = arguments.Number("rows", 1000);
  const Index inputs = arguments.Number("inputs", 10);
  const auto seed = static_cast<std::uint64_t>(arguments.Number("seed", 1));
  Require(inputs >= kLeastInputs, "inputs", "at least 5", inputs);
  std::string text;
  for (Index c = 1; c <= inputs; ++c) text.append("x").append(std::to_string(c)).append(",");
  text += "y\n";
  std::vector<double> x(static_cast<std::size_t>(inputs));
  for (Index n = 0; n < rows; ++n) {
    RandomStream stream(seed, static_cast<std::uint64_t>(n));
    for (double& value : x) value = stream.Normal();
    for (const double value : x) {
      Append(value, &text);
      text += ',';
    }
    Append(Target(x) + kNoise * stream.Normal(), &text);
    text += '\n';
    constexpr std::size_t kAtATime = 1 << 20;
    if (text.size() < kAtATime) continue;
    WriteOut(text);
    text.clear();
  }
  WriteOut(text);
  if (std::fflush(stdout) != 0) ThrowError("standard output: cannot write; is the disk full?");
}

}  // namespace

}  // namespace fathom::bench

int main(int argc, char** argv) {
  try {
    fathom::bench::Run({argc, argv, {"rows", "inputs", "seed"}});
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fathom_bench_table: %s\n", error.what());
    return 2;
  }
}
