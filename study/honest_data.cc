#include "study/honest_data.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "fathom/base/error.h"
#include "fathom/base/random.h"

namespace fathom {

namespace {

constexpr Index kHonestSplits = 4;
constexpr Index kHonestTestRows = 1000;

using Row = Eigen::Ref<const Eigen::RowVectorXd>;

double Logistic(double f) { return 1 / (1 + std::exp(-f)); }

// To a number of this many decimals, as tables are written.
double Rounded(double y, int decimals) {
  const double unit = std::pow(10.0, decimals);
  return std::round(y * unit) / unit;
}

double Gamma(double shape, RandomStream* stream) {
  // Marsaglia and Tsang (2000), with a power of a uniform for shapes below 1.
  if (shape < 1) return Gamma(shape + 1, stream) * std::pow(stream->Uniform(), 1 / shape);
  const double d = shape - 1.0 / 3;
  while (true) {
    const double z = stream->Normal();
    const double v = std::pow(1 + z / std::sqrt(9 * d), 3);
    if (v > 0 && std::log(stream->Uniform()) < 0.5 * z * z + d * (1 - v + std::log(v)))
      return d * v;
  }
}

double Poisson(double rate, RandomStream* stream) {
  double left = stream->Uniform();
  double p = std::exp(-rate);
  double k = 0;
  for (; left > p && k < 1000; ++k) {
    left -= p;
    p *= rate / (k + 1);
  }
  return k;
}

double StudentT(double freedom, RandomStream* stream) {
  return stream->Normal() / std::sqrt(2 * Gamma(freedom / 2, stream) / freedom);
}

// A smooth function of the first three inputs, from about -2.5 to 2.5.
double Smooth(const Row& x) {
  return std::sin(2 * std::numbers::pi * x[0]) + 2 * (x[1] - 0.5) + x[0] * x[2] + 0.1 * x[3] - 0.3;
}

double TwoValues(const Row& x, RandomStream* stream) {
  return stream->Uniform() < Logistic(-3 + 8 * x[0] - 4 * x[1]) ? 1 : 0;
}
double RareValue(const Row& x, RandomStream* stream) {
  return stream->Uniform() < Logistic(-4.5 + 3 * x[0]) ? 1 : 0;
}
double FewValues(const Row& x, RandomStream* stream) {
  return std::clamp(std::round(5.5 + 0.8 * Smooth(x) + 0.7 * stream->Normal()), 3.0, 8.0);
}
double RareCounts(const Row& x, RandomStream* stream) {
  return Poisson(std::exp(-3 + 2.5 * x[0] + x[1]), stream);
}
double PoissonCounts(const Row& x, RandomStream* stream) {
  return Poisson(std::exp(1.2 + 0.7 * Smooth(x)), stream);
}
double WideCounts(const Row& x, RandomStream* stream) {
  const double rate = std::exp(1 + 0.6 * Smooth(x));
  return Poisson(rate * Gamma(1.2, stream) / 1.2, stream);
}
double ZerosAndLognormal(const Row& x, RandomStream* stream) {
  if (stream->Uniform() > Logistic(-3 + 2.5 * x[0])) return 0;
  return Rounded(std::exp(2 + 1.5 * x[1] + stream->Normal()), 2);
}
double Rain(const Row& x, RandomStream* stream) {
  if (stream->Uniform() > Logistic(-1.5 + 3 * x[0])) return 0;
  return std::max(0.1, Rounded(Gamma(0.8, stream) * (2 + 8 * x[1]), 1));
}
double Lognormal(const Row& x, RandomStream* stream) {
  return std::exp(1 + Smooth(x) + 0.5 * stream->Normal());
}
double Waiting(const Row& x, RandomStream* stream) {
  return Gamma(1, stream) * std::exp(0.5 * Smooth(x));
}
double Share(const Row& x, RandomStream* stream) {
  const double mean = Logistic(1.5 * Smooth(x));
  const double a = Gamma(4 * mean, stream);
  const double b = Gamma(4 * (1 - mean), stream);
  return a / (a + b);
}
double RoundedValues(const Row& x, RandomStream* stream) {
  return std::round(20 + 3 * Smooth(x) + 0.5 * stream->Normal());
}
double HeavyTails(const Row& x, RandomStream* stream) {
  return Smooth(x) + 0.3 * StudentT(2, stream);
}
double LocalNoise(const Row& x, RandomStream* stream) {
  return Smooth(x) + (0.05 + 0.8 * x[1] * x[1]) * stream->Normal();
}
double TwoHumps(const Row& x, RandomStream* stream) {
  const double side = stream->Uniform() < 0.3 + 0.4 * x[1] ? 1 : -1;
  return Smooth(x) + 2 * side + 0.3 * stream->Normal();
}
double Plain(const Row& x, RandomStream* stream) { return Smooth(x) + 0.3 * stream->Normal(); }
double FewFunctions(const Row& x, RandomStream* stream) {
  return std::sin(2 * std::numbers::pi * x[0]) + 2 * x[1] + 0.2 * stream->Normal();
}
double NothingToLearn(const Row& /*x*/, RandomStream* stream) { return 10 + stream->Normal(); }
double Trend(const Row& x, RandomStream* stream) {
  return 2 * x[0] + std::sin(x[0]) + 0.5 * stream->Normal();
}
double SeasonalTrend(const Row& x, RandomStream* stream) {
  return 50 - 0.3 * x[0] + 5 * std::sin(0.5 * x[0]) + stream->Normal();
}
double NoisyTrend(const Row& x, RandomStream* stream) { return 0.1 * x[0] + 3 * stream->Normal(); }

// Of inputs with few values: many rows have the same ones.
double OfCells(const Row& x, RandomStream* stream) {
  return 2 * x[0] + x[1] * (1 + x[2]) + stream->Normal();
}
double OfSteps(const Row& x, RandomStream* stream) {
  return std::exp(5 + 1.5 * x[0] + 0.5 * stream->Normal());
}

double Line1(const Row& x, RandomStream* stream) {
  return 3 * x[0] - 2 * x[1] + 0.5 * stream->Normal();
}
double Line2(const Row& x, RandomStream* stream) {
  return x[0] + x[1] + x[2] - x[3] + 2 * stream->Normal();
}
double Line3(const Row& x, RandomStream* stream) {
  return 100 + 50 * x[0] + 0.01 * stream->Normal();
}
double Line4(const Row& x, RandomStream* stream) { return x.sum() + stream->Normal(); }
double Line5(const Row& x, RandomStream* stream) {
  return x[0] - 0.5 * x[3] + 0.3 * StudentT(4, stream);
}

struct Kind {
  const char* name;
  double (*target)(const Row& x, RandomStream* stream);
  std::vector<Index> rows;  // of training
  Index inputs = 4;
  bool repeats = false;  // training rows stand there three times each
  bool goes_on = false;  // inputs are times, and the test rows come after the training rows
  Index values = 0;      // that an input may have, evenly from 0; 0: any
};

const std::vector<Kind>& Kinds() {
  static const std::vector<Kind> kKinds = {
      {"two_values", TwoValues, {50, 300, 1000}},
      {"rare_value", RareValue, {300}},
      {"few_values", FewValues, {100, 500}},
      {"counts_rare", RareCounts, {100, 300, 1000}},
      {"counts_poisson", PoissonCounts, {100, 500}},
      {"counts_wide", WideCounts, {200, 1000}},
      {"zeros_lognormal", ZerosAndLognormal, {200, 600, 2000}},
      {"rain", Rain, {150, 600}},
      {"lognormal", Lognormal, {60, 300, 1000}},
      {"waiting", Waiting, {300}},
      {"share", Share, {100, 500}},
      {"rounded", RoundedValues, {100, 400}},
      {"heavy_tails", HeavyTails, {100, 500}},
      {"local_noise", LocalNoise, {100, 500}},
      {"two_humps", TwoHumps, {300, 1000}},
      {"repeated_rows", Plain, {210, 600}, 4, true},
      {"irrelevant", FewFunctions, {200, 1000}, 20},
      {"smooth", Plain, {20, 40, 150}},
      {"nothing", NothingToLearn, {20, 200}},
      {"line_1", Line1, {150}},
      {"line_2", Line2, {150}},
      {"line_3", Line3, {150}},
      {"line_4", Line4, {150}, 8},
      {"line_5", Line5, {150}},
      {"trend", Trend, {200}, 1, false, true},
      {"trend_season", SeasonalTrend, {150}, 1, false, true},
      {"trend_noisy", NoisyTrend, {100}, 1, false, true},
      {"cells", OfCells, {120, 500}, 3, false, false, 2},
      {"steps", OfSteps, {350}, 1, false, false, 20},
  };
  return kKinds;
}

std::string NameOf(const Kind& kind, Index rows) {
  return std::string(kind.name) + "_" + std::to_string(rows);
}

// The training rows and then the test rows of one split: inputs and, in the last column, y.
Matrix MakeRows(const Kind& kind, Index rows, RandomStream* stream) {
  Matrix values(rows + kHonestTestRows, kind.inputs + 1);
  for (Index n = 0; n < values.rows(); ++n) {
    for (Index d = 0; d < kind.inputs; ++d) {
      values(n, d) = stream->Uniform();
      if (kind.values > 0) {
        const auto steps = static_cast<double>(kind.values);
        values(n, d) = std::floor(steps * values(n, d)) / steps;
      }
    }
    // The test rows reach half as far again as the training rows.
    if (kind.goes_on) {
      const auto all = static_cast<double>(rows);
      values(n, 0) = n < rows ? static_cast<double>(n) : all * (1 + 0.5 * values(n, 0));
    }
    if (kind.repeats && n < rows && n % 3 != 0) {
      values.row(n) = values.row(n - 1);
    } else {
      const Eigen::RowVectorXd x = values.row(n).head(kind.inputs);
      values(n, kind.inputs) = kind.target(x, stream);
    }
  }
  return values;
}

SplitData MakeTable(const Kind& kind, std::uint64_t seed, Index rows) {
  const Index block = rows + kHonestTestRows;
  SplitData data;
  data.table.source = NameOf(kind, rows);
  for (Index d = 0; d < kind.inputs; ++d) data.table.columns.push_back("x" + std::to_string(d + 1));
  data.table.columns.emplace_back("y");
  data.table.values.resize(kHonestSplits * block, kind.inputs + 1);
  for (Index s = 0; s < kHonestSplits; ++s) {
    RandomStream stream(seed, static_cast<std::uint64_t>(s));
    data.table.values.middleRows(s * block, block) = MakeRows(kind, rows, &stream);
    Split split;
    for (Index n = 0; n < block; ++n)
      (n < rows ? split.train : split.held_out).push_back(s * block + n);
    data.splits.push_back(std::move(split));
  }
  return data;
}

}  // namespace

std::vector<std::string> HonestNames() {
  std::vector<std::string> names;
  for (const Kind& kind : Kinds()) {
    for (const Index rows : kind.rows) names.push_back(NameOf(kind, rows));
  }
  return names;
}

SplitData MakeHonestData(const std::string& name) {
  std::uint64_t seed = 1000;
  for (const Kind& kind : Kinds()) {
    for (const Index rows : kind.rows) {
      ++seed;
      if (NameOf(kind, rows) == name) return MakeTable(kind, seed, rows);
    }
  }
  throw InternalError("an unknown made table");
}

}  // namespace fathom
