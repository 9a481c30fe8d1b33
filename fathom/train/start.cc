#include "fathom/train/start.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/random.h"
#include "fathom/model/initialize.h"
#include "fathom/train/observations.h"
#include "fathom/train/screen_columns.h"
#include "fathom/train/training.h"

namespace fathom {

namespace {

bool VariesAtAll(const Scaler& scaler) {
  for (Index c = 0; c < scaler.mean.size(); ++c) {
    if (scaler.Varies(c)) return true;
  }
  return false;
}

// Whether a cell is not known exactly when it is standardised.
bool AnyUncertain(const RowStatistics& statistics, const Scaler& scaler) {
  for (Index c = 0; c < scaler.mean.size(); ++c) {
    if (statistics.missing[c] != 0 && scaler.missing_var[c] != 0) return true;
    if (statistics.largest_var[c] / scaler.scale[c] / scaler.scale[c] != 0) return true;
  }
  return false;
}

// Gives y [rows, targets] of the given rows.
using ReadTargets = std::function<Matrix(const std::vector<Index>& rows)>;

// The directions that standardised inputs are multiplied by, or nothing.
Matrix Directions(const DatasetRows& rows, const Scaler& scaler, const ReadTargets& targets,
                  Whitening whitening) {
  if (whitening == Whitening::kNever) return {};
  // With so many columns the directions would take longer than the training.
  constexpr Index kMostColumns = 2000;
  if (whitening == Whitening::kAuto && scaler.mean.size() > kMostColumns) return {};
  // Cells of unknown value blur all directions at once.
  if (whitening == Whitening::kAuto && AnyUncertain(rows.statistics(), scaler)) return {};
  const std::vector<Index> sample = EvenSample(rows.rows());
  const Matrix x = StandardizeInputs(scaler, rows.Read(sample).inputs()).mean;
  PrincipalDirections principal = FindPrincipalDirections(x);
  if (principal.directions.cols() == 0) return {};  // no column varies
  if (whitening == Whitening::kAlways) return std::move(principal.directions);
  const Matrix y = targets(sample);
  const Matrix known = y.array().isNaN().select(0, y);  // a gap explains nothing
  if (!HidesInSmallDirections(principal, x, known)) return {};
  return std::move(principal.directions);
}

Scaler FitInputScaler(const DatasetRows& rows, const ReadTargets& targets, const Recipe& recipe) {
  Scaler scaler = rows.statistics().input_scaler;
  scaler.directions = Directions(rows, scaler, targets, recipe.whitening);
  if (recipe.warping != Warping::kAlways || scaler.directions.size() > 0) return scaler;
  FATHOM_CHECK(rows.whole() != nullptr);  // whole columns are sorted
  const Moments& inputs = rows.whole()->inputs();
  scaler.warps = FitWarps(StandardizeInputs(scaler, inputs).mean, !inputs.mean.array().isNaN());
  return scaler;
}

// Numbers from which a likelihood starts: those of all rows, or of some of many.
Matrix SampledTargets(const DatasetRows& rows, std::uint64_t seed, const ReadTargets& targets) {
  constexpr Index kMost = 10000;
  std::vector<Index> sample = RandomStream(seed, 22).Sample(rows.rows(), kMost);
  std::sort(sample.begin(), sample.end());
  return targets(sample);
}

}  // namespace

Moments FitInputs(const Dataset& dataset, const Matrix& y, const Recipe& recipe, Scaler* scaler) {
  const auto targets = [&](const std::vector<Index>& rows) -> Matrix {
    return y(rows, Eigen::all);
  };
  *scaler = FitInputScaler(RowsInMemory(dataset), targets, recipe);
  return StandardizeInputs(*scaler, dataset.inputs());
}

NetworkInTraining StartNetwork(const DatasetRows& rows, const Recipe& recipe, bool screen) {
  NetworkInTraining start;
  start.recipe = recipe;
  ResolveSteps(rows.rows(), &start.recipe);
  std::string& likelihood_name = start.recipe.architecture.likelihood;
  likelihood_name = ChooseLikelihood(likelihood_name, rows.head());
  const std::shared_ptr<const Likelihood> likelihood = MakeLikelihood(likelihood_name);
  start.target_scaler = FitTargetScaler(*likelihood, rows);
  if (!VariesAtAll(start.target_scaler)) {
    // Nothing holds the noise up but its floor. N equal rows make a difference of the target's own
    // size unlikely, not impossible.
    double& floor = start.recipe.noise_floor;
    floor = std::max(floor, 1 / static_cast<double>(rows.rows() + 1));
  }
  const auto targets = [&](const std::vector<Index>& some) {
    return Observations(*likelihood, start.target_scaler, rows.Read(some));
  };
  // Only for numbers is it known how much a linear fit explains.
  const bool judge = recipe.whitening == Whitening::kAuto && likelihood->TakesScaledTargets();
  start.input_scaler = FitInputScaler(
      rows,
      [&](const std::vector<Index>& some) {
        return judge ? targets(some) : Matrix(std::ssize(some), 0);
      },
      recipe);
  start.network.likelihood = likelihood;
  const auto read = [&](const std::vector<Index>& some) {
    return ScaleRows(start, rows.Read(some));
  };
  const Index inputs = start.input_scaler.outputs();
  Vector lengthscales;
  if (screen && likelihood->TakesScaledTargets() && recipe.start.start == Start::kPrincipal) {
    const ThreadPool pool(recipe.threads);
    lengthscales = ScreenColumns({rows.rows(), inputs, read}, recipe.seed, pool);
  }
  start.network = Initialize(
      start.recipe.architecture, start.recipe.start, recipe.seed,
      {rows.rows(), inputs, [&](const std::vector<Index>& some) { return read(some).x.mean; }},
      NumOutputs(*likelihood, rows.head()), lengthscales);
  likelihood->StartFrom(SampledTargets(rows, recipe.seed, targets),
                        &start.network.likelihood_parameters);
  return start;
}

}  // namespace fathom
