#include "fathom/data/row_picker.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/text.h"

namespace fathom {

namespace {

// Squares of the targets and of their differences must be numbers, too.
void CheckTargetSize(const std::string& source, const std::string& target, Index known, double low,
                     double high) {
  constexpr double kLargest = 1e150, kSmallest = 1e-150;
  if (known == 0) {
    ThrowError(source, ": target column ", Quoted(target),
               " has no value in any row; fill in the known ones, or leave the column out");
  }
  const double size = std::max(std::abs(low), std::abs(high));
  const bool large = size > kLargest;
  if (!large && !(size > 0 && size < kSmallest)) return;
  ThrowError(source, ": target column ", Quoted(target), " holds numbers ",
             large ? "up to " : "not above ", size, ", which are too ", large ? "large" : "small",
             " to be squared; give it in ", large ? "larger" : "smaller", " units");
}

}  // namespace

RowPicker::RowPicker(const Table& head, const Schema& schema,
                     const std::vector<Index>& target_places, Index first)
    : head_(head), schema_(schema), target_places_(target_places), first_(first) {
  if (target_places.size() != schema.targets.size()) {
    ThrowError(head.source, ": has not all of the target columns ", QuotedList(schema.targets));
  }
  if (!schema.weights.empty()) weight_place_ = FindColumn(head, schema.weights);
  targets_.resize(target_places.size());
}

bool RowPicker::Keep(const double* cells) {
  ++seen_;
  const double weight = WeightOf(cells);
  if (!(weight >= 0)) {
    ThrowError(head_.source, ": row ", first_ + seen_, ", column ", Quoted(schema_.weights), ": ",
               std::isnan(weight) ? "the weight is missing" : "the weight is negative",
               "; give every row a weight from 0 on");
  }
  const auto missing = std::count_if(target_places_.begin(), target_places_.end(),
                                     [&](Index place) { return std::isnan(cells[place]); });
  const bool taught = target_places_.empty() || std::cmp_less(missing, target_places_.size());
  if (!taught) ++without_target_;
  if (!taught || !(weight > 0)) return false;
  ++kept_;
  largest_weight_ = std::max(largest_weight_, weight);
  if (missing > 0) ++incomplete_;
  for (std::size_t t = 0; t < targets_.size(); ++t) {
    const double y = cells[target_places_[t]];
    if (std::isnan(y)) continue;
    TargetSpan& span = targets_[t];
    if (span.known++ == 0) span.first = y;
    span.varies = span.varies || y != span.first;
    span.low = std::min(span.low, y);
    span.high = std::max(span.high, y);
  }
  return true;
}

void RowPicker::Finish(std::vector<Note>* notes) const {
  const std::string& source = head_.source;
  const Index weightless = seen_ - without_target_ - kept_;
  if (kept_ == 0) {
    if (weightless > 0) {
      ThrowError(source, ": column ", Quoted(schema_.weights),
                 ": all rows with a target have weight 0; give some a positive one");
    }
    ThrowError(source, ": no row has a value in ",
               schema_.targets.size() == 1 ? "target column " : "the target columns ",
               QuotedList(schema_.targets), "; fill in the known targets");
  }
  const auto note = [&](const char* kind, Index count, const char* what) {
    if (count == 0) return;
    notes->push_back(
        {kind, count,
         source + ": skipped " + std::to_string(count) + (count == 1 ? " row " : " rows ") + what});
  };
  note("rows_without_target", without_target_, "without a target");
  if (incomplete_ > 0) {
    notes->push_back({"rows_with_some_targets", incomplete_,
                      source + ": " + std::to_string(incomplete_) +
                          (incomplete_ == 1 ? " row lacks" : " rows lack") +
                          " some of the targets; what is there is learnt from"});
  }
  note("rows_of_weight_zero", weightless, "of weight 0");
  if (schema_.has_classes()) return;
  std::vector<std::string> constant;
  for (std::size_t t = 0; t < targets_.size(); ++t) {
    const TargetSpan& span = targets_[t];
    CheckTargetSize(source, schema_.targets[t], span.known, span.low, span.high);
    if (!span.varies) constant.push_back(schema_.targets[t]);
  }
  if (constant.empty()) return;
  notes->push_back(
      {"constant_targets", static_cast<Index>(constant.size()),
       source + ": target " + QuotedList(constant) +
           ": the same value in all rows, which says nothing of how others will differ from it; "
           "the predicted spread is a guess"});
}

std::vector<double> RowPicker::ToNumbers() const {
  std::vector<double> numbers = {largest_weight_};
  for (const Index count : {seen_, kept_, without_target_, incomplete_})
    numbers.push_back(static_cast<double>(count));
  for (const TargetSpan& span : targets_) {
    numbers.insert(numbers.end(), {span.low, span.high, static_cast<double>(span.known),
                                   span.varies ? 1.0 : 0.0, span.first});
  }
  return numbers;
}

void RowPicker::Join(std::span<const double> numbers) {
  const double* next = numbers.data();
  largest_weight_ = std::max(largest_weight_, *next++);
  for (Index* count : {&seen_, &kept_, &without_target_, &incomplete_})
    *count += static_cast<Index>(*next++);
  for (TargetSpan& span : targets_) {
    const auto known = static_cast<Index>(next[2]);
    const bool differs = span.known > 0 && known > 0 && next[4] != span.first;
    span.low = std::min(span.low, next[0]);
    span.high = std::max(span.high, next[1]);
    span.varies = span.varies || next[3] != 0 || differs;
    if (span.known == 0) span.first = next[4];
    span.known += known;
    next += 5;
  }
}

void RowPicker::Clear() {
  largest_weight_ = 0;
  seen_ = kept_ = without_target_ = incomplete_ = 0;
  targets_.assign(targets_.size(), {});
}

double MeanInOrder(const Vector& weights) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  return sum / static_cast<double>(weights.size());
}

}  // namespace fathom
