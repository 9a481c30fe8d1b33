#include "fathom/data/input_range.h"

#include <cmath>
#include <limits>

#include "fathom/base/error.h"

namespace fathom {

namespace {

bool SameCells(const Vector& a, const Vector& b) {
  if (a.size() != b.size()) return false;
  for (Index c = 0; c < a.size(); ++c) {
    if (a[c] != b[c] && !(std::isnan(a[c]) && std::isnan(b[c]))) return false;
  }
  return true;
}

}  // namespace

bool InputRange::operator==(const InputRange& other) const {
  return SameCells(low, other.low) && SameCells(high, other.high);
}

InputRange FindInputRange(const Moments& inputs) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  InputRange range{Vector::Constant(inputs.cols(), nan), Vector::Constant(inputs.cols(), nan)};
  for (Index n = 0; n < inputs.rows(); ++n) {  // in the order of memory
    for (Index c = 0; c < inputs.cols(); ++c) {
      // fmin and fmax pass over NaN.
      range.low[c] = std::fmin(range.low[c], inputs.mean(n, c));
      range.high[c] = std::fmax(range.high[c], inputs.mean(n, c));
    }
  }
  return range;
}

InputRange FindInputRange(const DatasetRows& rows) {
  return {rows.statistics().low, rows.statistics().high};
}

InputRange Union(const InputRange& a, const InputRange& b) {
  if (!a.known() || !b.known()) return {};
  FATHOM_CHECK(a.low.size() == b.low.size());
  InputRange both = a;
  for (Index c = 0; c < a.low.size(); ++c) {
    both.low[c] = std::fmin(a.low[c], b.low[c]);
    both.high[c] = std::fmax(a.high[c], b.high[c]);
  }
  return both;
}

InputRange Widened(InputRange range, double margin) {
  const Vector more = margin * (range.high - range.low);
  range.low -= more;
  range.high += more;
  return range;
}

Moments Clipped(const InputRange& range, Moments inputs) {
  FATHOM_CHECK(range.low.size() == inputs.cols());
  for (Index c = 0; c < inputs.cols(); ++c) {
    for (Index n = 0; n < inputs.rows(); ++n) {
      double& cell = inputs.mean(n, c);
      if (cell < range.low[c]) cell = range.low[c];
      if (cell > range.high[c]) cell = range.high[c];
    }
  }
  return inputs;
}

Vector CountOutside(const InputRange& range, const Schema& schema, const Moments& inputs,
                    std::vector<Index>* rows_of_column) {
  FATHOM_CHECK(range.low.size() == inputs.cols() && schema.width() == inputs.cols());
  if (rows_of_column != nullptr) rows_of_column->resize(schema.inputs.size());
  Vector count = Vector::Zero(inputs.rows());
  for (Index n = 0; n < inputs.rows(); ++n) {
    Index c = 0;
    for (std::size_t column = 0; column < schema.inputs.size(); ++column) {
      bool outside = false;
      for (const Index end = c + schema.inputs[column].width(); c < end; ++c) {
        const double cell = inputs.mean(n, c);
        outside = outside || cell < range.low[c] || cell > range.high[c];
      }
      if (!outside) continue;
      count[n] += 1;
      if (rows_of_column != nullptr) ++(*rows_of_column)[column];
    }
  }
  return count;
}

}  // namespace fathom
