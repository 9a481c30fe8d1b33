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
#include "fathom/fit/describe.h"
#include "fathom/fit/observations.h"
#include "fathom/fit/one_network.h"

namespace fathom {

namespace {

// Members of a smaller share are left out of the model: they would cost time at every prediction.
constexpr double kLeastShare = 0.01;

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

// What a network says about rows that it has not seen.
struct HeldOut {
  Vector log_density;  // [rows]
  Vector error;        // [rows times targets] of the mean; none of classes
};

HeldOut OnHeldOut(const Model& model, const Dataset& rows) {
  const ModelPredictor predictor(model, model.recipe.threads);
  HeldOut judged{Vector(rows.rows()), Vector()};
  if (!model.schema.classes.empty()) {
    const Matrix probability = predictor.ClassProbabilities(rows.inputs);
    for (Index n = 0; n < rows.rows(); ++n)
      judged.log_density[n] = std::log(probability(n, static_cast<Index>(rows.targets(n, 0))));
    return judged;
  }
  const Prediction prediction = predictor.Predict(rows.inputs);
  for (Index n = 0; n < rows.rows(); ++n)
    judged.log_density[n] = prediction.LogDensity(n, rows.targets.row(n));
  // Scaled, so that several targets count alike; a row that counts c times has root c times the
  // error.
  Matrix error = StandardizeTargets(model.target_scaler, prediction.Mean()) -
                 StandardizeTargets(model.target_scaler, rows.targets);
  if (rows.weights.size() > 0) error = rows.weights.cwiseSqrt().asDiagonal() * error;
  judged.error = error.reshaped();
  return judged;
}

// The largest share first.
Model Assemble(std::vector<Model> members, const Vector& shares) {
  std::vector<std::size_t> order(members.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return shares[a] > shares[b]; });
  Model stack;
  for (const std::size_t k : order) {
    Model& member = members[k];
    member.share = shares[k];
    member.companions.clear();
    if (k == order[0]) {
      stack = std::move(member);
    } else {
      stack.companions.push_back(std::move(member));
    }
  }
  return stack;
}

// The kinds that are worth their time once the first is known.
std::vector<Recipe> Promising(std::vector<Recipe> kinds, const Model& first) {
  const DeepGp& network = first.network;
  if (!network.likelihood->TakesScaledTargets()) return kinds;
  const double noise = ObservationVariance(network).maxCoeff();
  std::erase_if(kinds, [&](const Recipe& kind) {
    // Paths that may not become as narrow as what is there already have nothing to add. A deeper
    // network may, but trained for as long as little noise asks for, it would take most of the time.
    const bool paths = kind.architecture.propagation != Propagation::kMoments;
    const bool deeper = kind.architecture.hidden.size() >= network.layers.size();
    return (paths && kind.noise_floor > noise) ||
           (deeper && kind.stack == Stacking::kAuto && LeavesLittleNoise(network));
  });
  return kinds;
}

// First every kind on the rows of the split, then those with a share on all rows.
class StackTraining {
 public:
  // Keeps references to dataset and control.
  StackTraining(const Dataset& dataset, const Recipe& recipe, const FitControl& control)
      : dataset_(dataset),
        kinds_(StackRecipes(recipe, dataset)),
        // The budget of a kind, which those that go on share out among them.
        time_to_go_on_(recipe.optimizer.time_budget * static_cast<double>(kinds_.size())),
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
    if (unfinished) {
      for (Model& network : std::exchange(unfinished->model.companions, {}))
        Add(std::move(network));
    }
    if (unfinished && done_.size() >= Stages())
      ThrowError("the stack has more networks than kinds");
    while (done_.size() < Stages()) {
      Model network = Stage(std::exchange(unfinished, {}));
      network.companions.clear();
      const bool interrupted = network.summary.reason == StopReason::kInterrupted;
      Add(std::move(network));
      if (interrupted) break;
    }
    return Whole();
  }

 private:
  // Planned, as far as is known by now.
  std::size_t Stages() const { return kinds_.size() + (Judged() ? kept_.size() : kinds_.size()); }
  bool Judged() const { return shares_.size() > 0; }

  void Add(Model network) {
    done_.push_back(std::move(network));
    if (done_.back().summary.reason == StopReason::kInterrupted) return;
    if (done_.size() == 1) kinds_ = Promising(std::move(kinds_), done_[0]);
    if (done_.size() == kinds_.size()) Judge();
  }

  void Judge() {
    const auto kinds = static_cast<Index>(kinds_.size());
    Matrix log_densities(held_out_.rows(), kinds);
    Matrix errors;
    Vector plain(kinds);  // 1 for moments, 0 for paths
    for (Index k = 0; k < kinds; ++k) {
      const Model& network = done_[static_cast<std::size_t>(k)];
      const HeldOut judged = OnHeldOut(network, held_out_);
      log_densities.col(k) = judged.log_density;
      errors.conservativeResize(judged.error.size(), kinds);
      errors.col(k) = judged.error;
      plain[k] = network.network.propagation == Propagation::kMoments ? 1 : 0;
    }
    shares_ = StackShares(log_densities, held_out_.weights);
    Vector reference = shares_.cwiseProduct(plain);
    reference /= reference.sum();
    shares_ = KeepMean(shares_, reference, errors);
    for (Index k = 0; k < kinds; ++k)
      if (shares_[k] >= kLeastShare) kept_.push_back(static_cast<std::size_t>(k));
  }

  Model Stage(std::optional<Checkpoint> unfinished) {
    FitControl control = control_;
    control.fingerprint = fingerprint_;
    CountOn(&control);
    if (!done_.empty() || unfinished) control.seconds_before = 0;
    const std::size_t stage = done_.size();
    const std::size_t kinds = kinds_.size();
    if (!unfinished && stage < kinds) return FitOneNetwork(part_, kinds_[stage], control, done_);
    if (!unfinished) unfinished = WithAllRows(done_[kept_[stage - kinds]]);
    unfinished->model.companions = done_;
    return ResumeOneNetwork(stage < kinds ? part_ : dataset_, std::move(*unfinished), control);
  }

  // Moments gain from the planned steps once more, unless they had more than those already. Paths
  // would only become narrower than what their share was judged by. For these, a quarter of their
  // steps, small ones, take in the rows that they have not seen.
  Checkpoint WithAllRows(const Model& network) const {
    const bool paths = network.network.propagation != Propagation::kMoments;
    const Index done = network.summary.steps;
    const bool little = paths || done > network.recipe.optimizer.steps;
    Checkpoint run = TrainOn(network, std::max(Index{1}, little ? done / 4 : done));
    MinimizeOptions& optimizer = run.model.recipe.optimizer;
    if (little) optimizer.learning_rate *= 0.1;
    optimizer.time_budget = time_to_go_on_ / static_cast<double>(kept_.size());
    // The energy falls while the rate is high again, which the plateau rule would take for the end.
    optimizer.patience = 0;
    return run;
  }

  // Steps of the stage alone; a network that goes on counts those of its first stage, too.
  Index StepsOf(std::size_t stage) const {
    const Index before =
        stage < kinds_.size() ? 0 : done_[kept_[stage - kinds_.size()]].summary.steps;
    return done_[stage].summary.steps - before;
  }

  // Steps and time go on where the networks before have ended.
  void CountOn(FitControl* control) const {
    const std::size_t stage = done_.size();
    Index steps = 0;
    double seconds = 0;
    for (std::size_t s = 0; s < stage; ++s) {
      steps += StepsOf(s);
      seconds += done_[s].summary.seconds;
    }
    if (stage >= kinds_.size()) steps -= done_[kept_[stage - kinds_.size()]].summary.steps;
    if (control_.callback) {
      const auto stages = static_cast<double>(Stages());
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

  // What stands when all stages are done, or as far as they are: of a kind that has not yet gone on,
  // the network that saw nine tenths of the rows.
  Model Whole() const {
    std::vector<Model> members;
    Vector shares;
    if (Judged()) {
      shares.resize(static_cast<Index>(kept_.size()));
      for (std::size_t j = 0; j < kept_.size(); ++j) {
        const std::size_t stage = kinds_.size() + j;
        members.push_back(done_[stage < done_.size() ? stage : kept_[j]]);
        shares[static_cast<Index>(j)] = shares_[static_cast<Index>(kept_[j])];
      }
    } else {
      members = done_;
      shares = Vector::Ones(static_cast<Index>(done_.size()));
    }
    Model stack = Assemble(std::move(members), shares / shares.sum());
    stack.summary = Combined(stack.summary);
    return stack;
  }

  // Energy and rows of the first member; steps and time of all that was trained.
  TrainingSummary Combined(TrainingSummary summary) const {
    summary.steps = 0;
    summary.seconds = 0;
    summary.recoveries = 0;
    for (std::size_t s = 0; s < done_.size(); ++s) {
      summary.steps += StepsOf(s);
      summary.seconds += done_[s].summary.seconds;
      summary.recoveries += done_[s].summary.recoveries;
    }
    summary.reason = done_.back().summary.reason;
    summary.message = done_.back().summary.message;
    return summary;
  }

  const Dataset& dataset_;
  std::vector<Recipe> kinds_;
  double time_to_go_on_;
  const FitControl& control_;
  std::string fingerprint_;
  Dataset part_, held_out_;
  std::vector<Model> done_;
  Vector shares_;                  // of the kinds, when all are done
  std::vector<std::size_t> kept_;  // the kinds whose share is worth having
};

}  // namespace

bool StackPays(const Dataset& dataset, const Recipe& recipe) {
  if (recipe.stack != Stacking::kAuto) return recipe.stack == Stacking::kAlways;
  constexpr Index kEnoughRows = 500;
  const Architecture& architecture = recipe.architecture;
  return dataset.rows() >= kEnoughRows && !architecture.hidden.empty() &&
         architecture.propagation == Propagation::kMoments && !architecture.full_covariance &&
         recipe.inference == Inference::kAep &&
         ChooseLikelihood(architecture.likelihood, dataset) == "gaussian";
}

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
    if (recipe.stack == Stacking::kAlways) {
      add([&](Recipe* sampled) {
        sampled->architecture.propagation = Propagation::kSamples;
        sampled->architecture.skip_links = true;
        sampled->noise_floor = floor;
      });
    }
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

Vector StackShares(const Matrix& log_densities, const Vector& weights) {
  const Index N = log_densities.rows();
  const Index K = log_densities.cols();
  FATHOM_CHECK(N > 0 && K > 0 && (weights.size() == 0 || weights.size() == N));
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
      counts += (weights.size() > 0 ? weights[n] : 1.0) / part.sum() * part;
    }
    shares = counts.transpose() / counts.sum();
  }
  return shares;
}

Vector KeepMean(const Vector& shares, const Vector& reference, const Matrix& errors) {
  // Mean squared error of (1 - t) shares + t reference: a t^2 + b t + c.
  const Vector error = errors * shares;
  const Vector change = errors * reference - error;
  constexpr double kWorse = 1.05;  // at most so many times the error of the reference
  const double limit = kWorse * kWorse * (errors * reference).squaredNorm();
  const double a = change.squaredNorm();
  const double b = 2 * error.dot(change);
  const double c = error.squaredNorm();
  if (!(c > limit) || !(a > 0)) return shares;
  // The parabola falls from above the limit at t = 0 to below it at t = 1 and crosses it once.
  const double t = 2 * (c - limit) / (-b + std::sqrt(b * b - 4 * a * (c - limit)));
  return (1 - t) * shares + t * reference;
}

Model FitStack(const Dataset& dataset, const Recipe& recipe, const FitControl& control) {
  Require(recipe.architecture.propagation == Propagation::kMoments, "propagation",
          "'moments' for a stack, which has the others too", "paths");
  Require(recipe.inference == Inference::kAep, "inference", "'aep' for a stack", "'sep' or 'ep'");
  Require(!recipe.architecture.full_covariance, "covariance", "'diag' for a stack", "'full'");
  // Settled for all stages at once, so that a resumed stack settles nothing anew.
  Recipe settled = recipe;
  ResolveSteps(dataset.rows(), &settled);
  settled.optimizer.time_budget /= static_cast<double>(2 * StackRecipes(recipe, dataset).size());
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
