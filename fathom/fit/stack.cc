#include "fathom/fit/stack.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/data/fingerprint.h"
#include "fathom/data/split.h"
#include "fathom/fit/one_network.h"

namespace fathom {

namespace {

// Members of a smaller share are left out of the model: they would cost time at every prediction.
constexpr double kLeastShare = 0.01;

// The networks that stay are trained for so many times the steps of those that only decide the
// shares.
constexpr Index kFinalSteps = 2;

// Where a target takes few values: the variance of rounding to them, of the target scaled to
// variance 1, for the target of which it is largest; 0 where none does.
double RoundingVariance(const Matrix& targets) {
  constexpr std::size_t kFew = 100;
  double largest = 0;
  for (Index t = 0; t < targets.cols(); ++t) {
    std::set<double> levels;
    for (Index n = 0; n < targets.rows() && levels.size() <= kFew; ++n)
      levels.insert(targets(n, t));
    // A short table has few values of anything.
    const bool few =
        levels.size() <= kFew && 5 * static_cast<Index>(levels.size()) < targets.rows();
    if (!few || levels.size() < 2) continue;
    double gap = std::numeric_limits<double>::infinity();
    for (auto level = std::next(levels.begin()); level != levels.end(); ++level)
      gap = std::min(gap, *level - *std::prev(level));
    const double variance = (targets.col(t).array() - targets.col(t).mean()).square().mean();
    largest = std::max(largest, gap * gap / (12 * variance));
  }
  return largest;
}

Vector LogDensities(const Model& model, const Dataset& rows) {
  const ModelPredictor predictor(model, model.recipe.threads);
  Vector log_densities(rows.rows());
  if (!model.schema.classes.empty()) {
    const Matrix probability = predictor.ClassProbabilities(rows.inputs);
    for (Index n = 0; n < rows.rows(); ++n)
      log_densities[n] = std::log(probability(n, static_cast<Index>(rows.targets(n, 0))));
    return log_densities;
  }
  const Prediction prediction = predictor.Predict(rows.inputs);
  for (Index n = 0; n < rows.rows(); ++n)
    log_densities[n] = prediction.LogDensity(n, rows.targets.row(n));
  return log_densities;
}

// The members with a share worth having, the largest first.
Model Assemble(std::vector<Model> members, const Vector& shares) {
  std::vector<std::size_t> order(members.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return shares[a] > shares[b]; });
  double kept = 0;
  for (const std::size_t k : order) kept += shares[k] >= kLeastShare ? shares[k] : 0;
  Model stack = std::move(members[order[0]]);
  stack.share = shares[order[0]] / kept;
  stack.companions.clear();
  for (const std::size_t k : order) {
    if (k == order[0] || shares[k] < kLeastShare) continue;
    members[k].companions.clear();
    members[k].share = shares[k] / kept;
    stack.companions.push_back(std::move(members[k]));
  }
  return stack;
}

// Stage k < K: kind k on the rows of the split; stage K + k: kind k on all rows.
class StackTraining {
 public:
  // Keeps references to both.
  StackTraining(const Dataset& dataset, const Recipe& recipe, const FitControl& control)
      : dataset_(dataset),
        recipes_(StackRecipes(recipe, dataset)),
        control_(control),
        fingerprint_(Fingerprint(dataset)) {
    RandomStream stream(recipe.seed, 5);
    constexpr double kHeldOut = 0.1;
    constexpr double kMostHeldOut = 2000;
    const Split split = RandomSplit(
        dataset.rows(), std::min(kHeldOut, kMostHeldOut / static_cast<double>(dataset.rows())),
        &stream);
    part_ = Subset(dataset, split.train);
    held_out_ = Subset(dataset, split.held_out);
  }

  Model Run(std::optional<Checkpoint> unfinished) {
    if (unfinished) done_ = std::exchange(unfinished->model.companions, {});
    if (done_.size() >= 2 * recipes_.size()) ThrowError("the stack has more networks than kinds");
    const std::size_t kinds = recipes_.size();
    while (done_.size() < 2 * kinds) {
      Model network = Stage(done_.size(), std::exchange(unfinished, {}));
      network.companions.clear();
      const bool interrupted = network.summary.reason == StopReason::kInterrupted;
      done_.push_back(std::move(network));
      if (interrupted) break;
    }
    return Whole();
  }

 private:
  Model Stage(std::size_t stage, std::optional<Checkpoint> unfinished) {
    const std::size_t kinds = recipes_.size();
    FitControl control = control_;
    control.fingerprint = fingerprint_;
    CountOn(stage, &control);
    if (stage > 0 || unfinished) control.seconds_before = 0;
    const Dataset& rows = stage < kinds ? part_ : dataset_;
    if (!unfinished) {
      Recipe recipe = recipes_[stage % kinds];
      if (stage >= kinds) {
        recipe.optimizer.steps = std::min(kFinalSteps * recipe.optimizer.steps, kMostSteps);
        recipe.low_noise_steps = std::min(kFinalSteps * recipe.low_noise_steps, kMostSteps);
        recipe.optimizer.time_budget *= kFinalSteps;
      }
      return FitOneNetwork(rows, recipe, control, done_);
    }
    unfinished->model.companions = done_;
    return ResumeOneNetwork(rows, std::move(*unfinished), control);
  }

  // Steps and time go on where the networks before have ended.
  void CountOn(std::size_t stage, FitControl* control) const {
    Index steps = 0;
    double seconds = 0;
    for (const Model& network : done_) {
      steps += network.summary.steps;
      seconds += network.summary.seconds;
    }
    if (control_.callback) {
      const double stages = 2 * static_cast<double>(recipes_.size());
      control->callback = [=, this](Progress progress, const MinimizeState& state) {
        progress.step += steps;
        progress.steps += steps;
        progress.seconds += seconds;
        progress.fraction = (static_cast<double>(stage) + progress.fraction) / stages;
        return control_.callback(progress, state);
      };
    }
    if (control_.on_epoch) {
      control->on_epoch = [=, this](EpochMetrics metrics) {
        metrics.stage = static_cast<Index>(stage);
        metrics.step += steps;
        metrics.seconds += seconds;
        control_.on_epoch(metrics);
      };
    }
  }

  // What stands when all stages are done, or as far as they are.
  Model Whole() const {
    const std::size_t kinds = recipes_.size();
    const bool judged = done_.size() > kinds;
    const std::size_t first = judged ? kinds : 0;
    std::vector<Model> members(done_.begin() + static_cast<std::ptrdiff_t>(first), done_.end());
    const auto count = static_cast<Index>(members.size());
    Vector shares = Vector::Ones(count);
    if (judged) shares = HeldOutShares().head(count);
    const TrainingSummary last = done_.back().summary;
    Model stack = Assemble(std::move(members), shares / shares.sum());
    stack.summary = Combined(stack.summary, last);
    return stack;
  }

  Vector HeldOutShares() const {
    const auto kinds = static_cast<Index>(recipes_.size());
    Matrix log_densities(held_out_.rows(), kinds);
    for (Index k = 0; k < kinds; ++k)
      log_densities.col(k) = LogDensities(done_[static_cast<std::size_t>(k)], held_out_);
    return StackShares(log_densities);
  }

  // Energy and rows of the first member; steps and time of all that was trained.
  TrainingSummary Combined(TrainingSummary summary, const TrainingSummary& last) const {
    summary.steps = 0;
    summary.seconds = 0;
    summary.recoveries = 0;
    for (const Model& network : done_) {
      summary.steps += network.summary.steps;
      summary.seconds += network.summary.seconds;
      summary.recoveries += network.summary.recoveries;
    }
    summary.reason = last.reason;
    summary.message = last.message;
    return summary;
  }

  const Dataset& dataset_;
  std::vector<Recipe> recipes_;
  const FitControl& control_;
  std::string fingerprint_;
  Dataset part_, held_out_;
  std::vector<Model> done_;
};

}  // namespace

std::vector<Recipe> StackRecipes(const Recipe& recipe, const Dataset& dataset) {
  std::vector<Recipe> kinds = {recipe};
  const auto add = [&](auto&& change) {
    kinds.push_back(recipe);
    change(&kinds.back());
  };
  const Architecture& architecture = recipe.architecture;
  if (!architecture.hidden.empty()) {
    add([](Recipe* deeper) {
      deeper->architecture.hidden.push_back(deeper->architecture.hidden.back());
    });
    add([](Recipe* shallow) { shallow->architecture.hidden.clear(); });
    // A mixture of paths could sit on the values of a target that takes few, so no component is
    // narrower than the rounding to them.
    const bool classes = !dataset.schema.classes.empty();
    const double floor =
        std::max(recipe.noise_floor, classes ? 0 : RoundingVariance(dataset.targets));
    add([&](Recipe* sampled) {
      sampled->architecture.propagation = Propagation::kSamples;
      sampled->architecture.skip_links = true;
      sampled->noise_floor = floor;
    });
    if (!classes) {
      add([&](Recipe* points) {
        points->architecture.propagation = Propagation::kPoints;
        points->architecture.skip_links = true;
        points->noise_floor = std::max(floor, 1e-3);
      });
    }
  }
  return kinds;
}

Vector StackShares(const Matrix& log_densities) {
  const Index N = log_densities.rows();
  const Index K = log_densities.cols();
  FATHOM_CHECK(N > 0 && K > 0);
  // Relative to the best of each row; a member that gives a row no density at all has 0.
  Matrix density(N, K);
  for (Index n = 0; n < N; ++n) {
    const double best = log_densities.row(n).maxCoeff();
    density.row(n) = std::isfinite(best)
                         ? Eigen::RowVectorXd((log_densities.row(n).array() - best).exp())
                         : Eigen::RowVectorXd(Eigen::RowVectorXd::Ones(K));
  }
  Vector shares = Vector::Constant(K, 1 / static_cast<double>(K));
  constexpr int kIterations = 500;
  for (int i = 0; i < kIterations; ++i) {
    Eigen::RowVectorXd counts = Eigen::RowVectorXd::Constant(K, 1 / static_cast<double>(K));
    for (Index n = 0; n < N; ++n) {
      const Eigen::RowVectorXd part = density.row(n).cwiseProduct(shares.transpose());
      counts += part / part.sum();
    }
    shares = counts.transpose() / counts.sum();
  }
  return shares;
}

Model FitStack(const Dataset& dataset, const Recipe& recipe, const FitControl& control) {
  Require(recipe.architecture.propagation == Propagation::kMoments, "propagation",
          "'moments' for a stack, which has the others too", "paths");
  Require(recipe.inference == Inference::kAep, "inference", "'aep' for a stack", "'sep' or 'ep'");
  Require(!recipe.architecture.full_covariance, "covariance", "'diag' for a stack", "'full'");
  // Settled for all stages at once, so that a resumed stack settles nothing anew.
  Recipe settled = recipe;
  ResolveSteps(dataset.rows(), &settled);
  settled.optimizer.steps = std::max(Index{1}, settled.optimizer.steps / kFinalSteps);
  settled.low_noise_steps = std::max(Index{1}, settled.low_noise_steps / kFinalSteps);
  settled.optimizer.time_budget /=
      static_cast<double>((1 + kFinalSteps) * StackRecipes(recipe, dataset).size());
  return StackTraining(dataset, settled, control).Run({});
}

Model ResumeStack(const Dataset& dataset, Checkpoint checkpoint, const FitControl& control) {
  // The first kind has the recipe that the stack was asked for.
  const std::vector<Model>& done = checkpoint.model.companions;
  Recipe recipe = done.empty() ? checkpoint.model.recipe : done.front().recipe;
  recipe.threads = checkpoint.model.recipe.threads;
  return StackTraining(dataset, recipe, control).Run(std::move(checkpoint));
}

}  // namespace fathom
