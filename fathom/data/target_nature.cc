#include "fathom/data/target_nature.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <sstream>
#include <vector>

namespace fathom {

namespace {

constexpr Index kFewValues = 12;

// The largest number of which all gaps are multiples, or 0 if that is next to nothing.
double CommonStep(const std::vector<double>& distinct) {
  const double range = distinct.back() - distinct.front();
  constexpr double kTooFine = 1e-5;
  double step = 0;
  for (std::size_t i = 1; i < distinct.size(); ++i) {
    double a = distinct[i] - distinct[i - 1];
    double b = step;
    // Euclid's algorithm. What is left of decimal fractions by rounding counts as 0.
    while (b > 0.1 * kTooFine * range) {
      double rest = std::fmod(a, b);
      if (b - rest < 1e-3 * b) rest = 0;
      a = b;
      b = rest < 1e-3 * b ? 0 : rest;
    }
    step = a;
    if (step < kTooFine * range) return 0;
  }
  return step;
}

double Quantile(const std::vector<double>& sorted, double p) {
  return sorted[std::lround(p * static_cast<double>(sorted.size() - 1))];
}

std::string Percent(double share) {
  std::ostringstream text;
  text.precision(share > 0.995 || share < 0.095 ? 2 : 3);
  text << std::round(1000 * share) / 10;
  return text.str() + " %";
}

}  // namespace

bool TargetNature::has_frequent_value() const {
  constexpr double kFrequent = 0.1;
  constexpr double kRare = 15;  // rows of the other values
  const auto all = static_cast<double>(rows);
  return distinct > 2 && common_share >= kFrequent && common_share * all >= kRare &&
         (1 - common_share) * all >= kRare;
}

TargetNature NatureOf(const Eigen::Ref<const Vector>& target) {
  TargetNature nature;
  std::vector<double> values;
  std::copy_if(target.begin(), target.end(), std::back_inserter(values),
               [](double value) { return !std::isnan(value); });
  nature.rows = std::ssize(values);
  if (values.empty()) return nature;
  const Eigen::Map<const Vector> known(values.data(), nature.rows);
  const double mean = known.mean();
  nature.sd = std::sqrt((known.array() - mean).square().mean());
  std::sort(values.begin(), values.end());
  std::vector<double> distinct;
  Index shared = 0;  // rows whose value another row has
  nature.whole = true;
  for (std::size_t i = 0; i < values.size();) {
    std::size_t end = i;
    while (end < values.size() && values[end] == values[i]) ++end;
    const auto count = static_cast<Index>(end - i);
    if (count > 1) shared += count;
    const double share = static_cast<double>(count) / static_cast<double>(values.size());
    if (share > nature.common_share) {
      nature.common = values[i];
      nature.common_share = share;
    }
    nature.whole = nature.whole && std::floor(values[i]) == values[i];
    distinct.push_back(values[i]);
    i = end;
  }
  nature.distinct = static_cast<Index>(distinct.size());
  nature.least = values.front();
  nature.most = values.back();
  nature.median = Quantile(values, 0.5);
  constexpr double kShared = 0.1;   // of the rows
  constexpr double kCoarse = 0.02;  // of the standard deviation
  if (distinct.size() > 1 &&
      static_cast<double>(shared) >= kShared * static_cast<double>(values.size())) {
    nature.step = CommonStep(distinct);
    // Few whole numbers may all be even by chance.
    constexpr Index kManyRows = 100;
    if (nature.whole && nature.step > 1 && nature.rows < kManyRows) nature.step = 1;
    const bool few = nature.distinct <= kFewValues;
    if (nature.step < kCoarse * nature.sd || !(nature.whole || few)) nature.step = 0;
  }
  constexpr double kSkewed = 1.5;
  nature.skewed =
      Quantile(values, 0.9) - nature.median > kSkewed * (nature.median - Quantile(values, 0.1));
  constexpr double kFilled = 0.7;
  for (const double most : {1.0, 100.0}) {
    nature.bounded = nature.bounded || (nature.least >= 0 && nature.most <= most &&
                                        nature.most - nature.least > kFilled * most);
  }
  return nature;
}

std::string Describe(const TargetNature& nature) {
  std::ostringstream text;
  text.precision(4);
  const auto share = [&] {
    if (nature.common == 0) {
      text << Percent(nature.common_share) << " zeros";
    } else {
      text << Percent(nature.common_share) << " are " << nature.common;
    }
  };
  const auto range = [&] { text << " from " << nature.least << " to " << nature.most; };
  if (nature.distinct == 1) {
    text << "always " << nature.least;
  } else if (nature.has_two_values()) {
    text << "two values, " << nature.least << " and " << nature.most << "; ";
    share();
  } else if (nature.is_count() && nature.least == 0) {
    text << "counts";
    range();
    text << ", ";
    share();
  } else if (nature.distinct <= kFewValues) {
    text << nature.distinct << " values";
    range();
  } else {
    if (nature.step > 0) {
      text << (nature.whole && nature.step == 1 ? "whole numbers" : "numbers");
      range();
      if (!nature.whole || nature.step != 1) text << " in steps of " << nature.step;
    } else {
      text << (nature.least > 0 ? "positive numbers" : "numbers");
      range();
    }
    if (nature.has_frequent_value()) {
      text << ", ";
      share();
    }
    if (nature.skewed && nature.least >= 0) text << ", skewed";
    if (nature.bounded && nature.step == 0) text << ", bounded";
  }
  return text.str();
}

std::vector<std::string> DescribeTargets(const Dataset& dataset) {
  return DescribeTargets(RowsInMemory(dataset));
}

std::vector<std::string> DescribeTargets(const DatasetRows& rows) {
  std::vector<std::string> natures;
  if (rows.schema().has_classes()) return natures;
  const RowStatistics& statistics = rows.statistics();
  for (Index t = 0; t < statistics.target_sample.cols(); ++t) {
    TargetNature nature = NatureOf(statistics.target_sample.col(t));
    if (nature.rows > 0) {
      nature.least = statistics.least[t];
      nature.most = statistics.most[t];
    }
    natures.push_back(Describe(nature));
  }
  return natures;
}

}  // namespace fathom
