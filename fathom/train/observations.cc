#include "fathom/train/observations.h"

#include <algorithm>
#include <cmath>

#include "fathom/base/error.h"
#include "fathom/base/text.h"

namespace fathom {

namespace {

Index NumClasses(const Dataset& dataset) {
  return static_cast<Index>(dataset.schema().classes.size());
}

}  // namespace

std::string ChooseLikelihood(const std::string& name, const Dataset& dataset) {
  const Index classes = NumClasses(dataset);
  if (name == "auto") return classes == 0 ? "gaussian" : classes == 2 ? "probit" : "robust_max";
  const auto likelihood = MakeLikelihood(name);
  const Index explained = likelihood->NumClasses(std::max<Index>(classes, 2));
  if (explained == classes) return name;
  const std::string place = dataset.source() + ": the likelihood " + Quoted(name);
  if (classes == 0) {
    ThrowError(place, " is for classes, but the target ", QuotedList(dataset.schema().targets),
               " is a number; classify, or use another likelihood");
  }
  if (explained == 0) {
    ThrowError(place, " is for numbers, but the target ", QuotedList(dataset.schema().targets),
               " has ", classes, " classes; use ", classes == 2 ? "probit, " : "",
               "softmax or robust_max");
  }
  ThrowError(place, " is for ", explained, " classes, but the target ",
             QuotedList(dataset.schema().targets), " has ", classes, "; use softmax or robust_max");
}

Index NumOutputs(const Likelihood& likelihood, const Dataset& dataset) {
  return likelihood.NumOutputs(dataset.targets().cols(), NumClasses(dataset));
}

Scaler FitTargetScaler(const Likelihood& likelihood, const Dataset& dataset) {
  return FitTargetScaler(likelihood, RowsInMemory(dataset));
}

Scaler FitTargetScaler(const Likelihood& likelihood, const DatasetRows& rows) {
  const Index targets = rows.head().targets().cols();
  if (!likelihood.TakesScaledTargets())
    return {Vector::Zero(targets), Vector::Ones(targets), Vector::Ones(targets)};
  Scaler scaler = rows.statistics().target_scaler;
  // A target that never varies has no scale but its own size.
  for (Index t = 0; t < targets; ++t) {
    if (!scaler.Varies(t) && scaler.mean[t] != 0) scaler.scale[t] = std::abs(scaler.mean[t]);
  }
  return scaler;
}

Matrix Observations(const Likelihood& likelihood, const Scaler& scaler, const Dataset& dataset) {
  Matrix y = StandardizeTargets(scaler, dataset.targets());
  if (NumClasses(dataset) > 0)
    y = y.unaryExpr(
        [&](double label) { return likelihood.ClassTarget(static_cast<Index>(label)); });
  const Index outputs = NumOutputs(likelihood, dataset);
  for (Index n = 0; n < y.rows(); ++n) {
    for (Index t = 0; t < y.cols(); ++t) {
      const std::string rule = likelihood.TargetRule(outputs, y(n, t));
      if (rule.empty() || std::isnan(y(n, t))) continue;
      const Index row = dataset.table_rows().empty() ? n : dataset.table_rows()[n];
      ThrowError(dataset.source(), ": row ", row + 1, ", column ",
                 Quoted(dataset.schema().targets[t]), ": ", dataset.targets()(n, t), " must be ",
                 rule, " for the likelihood ", Quoted(likelihood.Name()),
                 "; correct it, or choose another likelihood");
    }
  }
  return y;
}

}  // namespace fathom
