#include "fathom/ensemble/stack.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/stopwatch.h"
#include "fathom/data/fingerprint.h"
#include "fathom/data/split.h"
#include "fathom/ensemble/kinds.h"
#include "fathom/ensemble/shares.h"
#include "fathom/train/one_network.h"

namespace fathom {

namespace {

// Members of a smaller share are left out of the model: they would cost time at every prediction.
constexpr double kLeastShare = 0.01;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

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

// The largest share first; they are brought to the sum 1.
Model Assemble(std::vector<Model> members) {
  std::stable_sort(members.begin(), members.end(),
                   [](const Model& a, const Model& b) { return a.share > b.share; });
  double sum = 0;
  for (const Model& member : members) sum += member.share + member.wide_share;
  for (Model& member : members) {
    member.share /= sum;
    member.wide_share /= sum;
  }
  Model stack = std::move(members.front());
  stack.companions.assign(std::make_move_iterator(members.begin() + 1),
                          std::make_move_iterator(members.end()));
  return stack;
}

bool Interrupted(const Model& network) {
  return network.summary.reason == StopReason::kInterrupted;
}

Model WithShares(Model network, double share, double wide_share) {
  network.share = share;
  network.wide_share = wide_share;
  return network;
}

// First every kind on the rows of the split, then those with a share on all rows.
class StackTraining {
 public:
  // The time budget of the recipe is that of the first stage. Keeps references to dataset and
  // control.
  StackTraining(const Dataset& dataset, const Recipe& recipe, const FitControl& control)
      : dataset_(dataset),
        kinds_(StackRecipes(recipe, dataset)),
        time_budget_(recipe.optimizer.time_budget * 2 * static_cast<double>(kinds_.size())),
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
      for (Model& network : std::exchange(unfinished->model.companions, {})) {
        if (Interrupted(network) || done_.size() + 1 >= Stages())
          ThrowError("the networks of the stack are not those of a checkpoint");
        Add(std::move(network));
      }
    }
    while (done_.size() < Stages()) {
      Add(Stage(std::exchange(unfinished, {})));
      if (Interrupted(done_.back())) break;
    }
    return Whole();
  }

 private:
  // Planned, as far as is known by now.
  std::size_t Stages() const {
    return kinds_.size() + (verdict_ ? verdict_->kept.size() : kinds_.size());
  }

  void Add(Model network) {
    network.companions.clear();
    done_.push_back(WithShares(std::move(network), 1, 0));
    if (Interrupted(done_.back())) return;
    if (done_.size() == 1) kinds_ = PromisingKinds(std::move(kinds_), done_[0]);
    if (done_.size() == kinds_.size()) verdict_ = Judge();
  }

  // What the held-out rows say of the kinds.
  struct Verdict {
    Vector shares;
    std::vector<std::size_t> kept;  // those whose share is worth having
    std::size_t leader = 0;         // that with the largest share among those with moments
    double wide_share = 0;          // of the leader under more noise
  };

  // Of all kinds, or as far as they are.
  Verdict Judge() const {
    const std::size_t kinds = done_.size();
    std::vector<HeldOut> judged;
    Vector plain = Vector::Zero(static_cast<Index>(kinds));  // 1 for moments, 0 for paths
    for (std::size_t k = 0; k < kinds; ++k) {
      judged.push_back(OnHeldOut(done_[k], held_out_));
      if (Failed(k)) judged[k].log_density.setConstant(-kInfinity);
      if (done_[k].network.propagation == Propagation::kMoments && !Failed(k))
        plain[static_cast<Index>(k)] = 1;
    }
    Verdict verdict;
    Index leader = 0;
    SharesOf(judged).cwiseProduct(plain).maxCoeff(&leader);
    verdict.leader = static_cast<std::size_t>(leader);
    const bool has_wide = done_[0].network.likelihood->Name() == "gaussian";
    if (has_wide) {
      judged.push_back(OnHeldOut(WithShares(done_[verdict.leader], 0, 1), held_out_));
      plain.conservativeResize(plain.size() + 1);
      plain[plain.size() - 1] = 1;
    }
    Vector shares = SharesOf(judged);
    Vector reference = shares.cwiseProduct(plain);
    reference /= reference.sum();
    Matrix errors(judged[0].error.size(), shares.size());
    for (std::size_t k = 0; k < judged.size(); ++k)
      errors.col(static_cast<Index>(k)) = judged[k].error;
    shares = KeepMean(shares, reference, errors);
    verdict.shares = shares.head(static_cast<Index>(kinds));
    verdict.wide_share = has_wide ? shares[shares.size() - 1] : 0;
    for (std::size_t k = 0; k < kinds; ++k) {
      const double wide_share = k == verdict.leader ? verdict.wide_share : 0;
      if (verdict.shares[static_cast<Index>(k)] + wide_share >= kLeastShare && !Failed(k))
        verdict.kept.push_back(k);
    }
    if (verdict.kept.empty()) verdict.kept = {verdict.leader};
    return verdict;
  }

  Vector SharesOf(const std::vector<HeldOut>& judged) const {
    Matrix log_densities(held_out_.rows(), static_cast<Index>(judged.size()));
    for (std::size_t k = 0; k < judged.size(); ++k)
      log_densities.col(static_cast<Index>(k)) = judged[k].log_density;
    return StackShares(log_densities, held_out_.weights);
  }

  // Of the first kind there is always a network.
  bool Failed(std::size_t kind) const {
    return kind > 0 && done_[kind].summary.reason == StopReason::kNumericalFailure;
  }

  // A kind that cannot be trained is left out, and one that cannot go on stays as it was: the
  // others are as good as before.
  Model Stage(std::optional<Checkpoint> unfinished) {
    const std::size_t stage = done_.size();
    if (stage == 0) return Train(std::move(unfinished));
    const Stopwatch watch;
    TrainingSummary failure;
    try {
      Model network = Train(std::move(unfinished));
      if (network.summary.reason != StopReason::kNumericalFailure) return network;
      failure = network.summary;
    } catch (const NumericalError& error) {
      failure.message = error.what();
      failure.seconds = watch.Seconds();
    }
    failure.reason = StopReason::kNumericalFailure;
    if (stage < kinds_.size()) {
      Model stand_in = done_[0];
      stand_in.summary = failure;
      return stand_in;
    }
    Model as_it_was = done_[verdict_->kept[stage - kinds_.size()]];
    as_it_was.summary.steps = failure.steps;
    as_it_was.summary.seconds = failure.seconds;
    as_it_was.summary.recoveries = failure.recoveries;
    return as_it_was;
  }

  Model Train(std::optional<Checkpoint> unfinished) {
    FitControl control = control_;
    control.seconds_before = 0;
    CountOn(&control);
    const std::size_t stage = done_.size();
    const std::size_t kinds = kinds_.size();
    if (!unfinished && stage < kinds) {
      Recipe recipe = kinds_[stage];
      recipe.optimizer.time_budget = TimeFor(stage);
      return FitOneNetwork(part_, recipe, control, {fingerprint_, done_, &since_checkpoint_});
    }
    if (!unfinished) unfinished = WithAllRows(stage);
    unfinished->model.companions = done_;
    return ResumeOneNetwork(stage < kinds ? part_ : dataset_, std::move(*unfinished), control,
                            &since_checkpoint_);
  }

  // Moments gain from the planned steps once more, unless they had more than those already. Paths
  // would only become narrower than what their share was judged by. For these, a quarter of their
  // steps, small ones, take in the rows that they have not seen.
  Checkpoint WithAllRows(std::size_t stage) const {
    Checkpoint run;
    run.model = done_[verdict_->kept[stage - kinds_.size()]];
    const DeepGp& network = run.model.network;
    Recipe& recipe = run.model.recipe;
    const Index done = run.model.summary.steps;
    const bool little =
        network.propagation != Propagation::kMoments || done > recipe.optimizer.steps;
    recipe.optimizer.steps = std::max(Index{1}, little ? done / 4 : done);
    recipe.low_noise_steps = recipe.optimizer.steps;
    if (little) recipe.optimizer.learning_rate *= 0.1;
    recipe.optimizer.time_budget = TimeFor(stage);
    // The energy falls while the rate is high again, which the plateau rule would take for the end.
    recipe.optimizer.patience = 0;
    recipe.threads = kinds_[0].threads;
    run.state = MinimizeState(Pack(network, PackingOf(recipe)));
    return run;
  }

  // Half of the time budget is for the kinds, the rest for those that go on.
  double TimeFor(std::size_t stage) const {
    if (time_budget_ == 0) return 0;
    const bool first = stage < kinds_.size();
    const double left = (first ? time_budget_ / 2 : time_budget_) - SecondsOfDone();
    const auto stages_left = static_cast<double>((first ? kinds_.size() : Stages()) - stage);
    constexpr double kLeast = 1e-3;  // 0 would be no budget at all
    return std::max(kLeast, left / stages_left);
  }

  double SecondsOfDone() const {
    double seconds = 0;
    for (const Model& network : done_) seconds += network.summary.seconds;
    return seconds;
  }

  // Steps and time go on where the networks before have ended.
  void CountOn(FitControl* control) const {
    const auto stage = static_cast<Index>(done_.size());
    const double seconds = control_.seconds_before + SecondsOfDone();
    Index steps = 0;
    for (const Model& network : done_) steps += network.summary.steps;
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
        metrics.stage = stage;
        metrics.step += steps;
        metrics.seconds += seconds;
        control_.on_epoch(metrics);
      };
    }
  }

  // What stands when all stages are done, or as far as they are.
  Model Whole() const {
    const Verdict verdict = verdict_ ? *verdict_ : Judge();
    std::vector<Model> members;
    for (const std::size_t kind : verdict.kept) {
      members.push_back(WithShares(Latest(kind), verdict.shares[static_cast<Index>(kind)],
                                   kind == verdict.leader ? verdict.wide_share : 0));
    }
    Model stack = Assemble(std::move(members));
    stack.summary = Combined(stack.summary);
    return stack;
  }

  // Of a kind that has not gone on to the end yet, the network that was judged.
  Model Latest(std::size_t kind) const {
    Model network = done_[kind];
    if (!verdict_) return network;
    const auto place = std::find(verdict_->kept.begin(), verdict_->kept.end(), kind);
    const std::size_t stage =
        kinds_.size() + static_cast<std::size_t>(place - verdict_->kept.begin());
    if (stage < done_.size() && !Interrupted(done_[stage])) {
      network = done_[stage];
      network.recipe = done_[kind].recipe;  // without what is special to going on
    }
    return network;
  }

  // Energy and rows of the first member; steps and time of all that was trained.
  TrainingSummary Combined(TrainingSummary summary) const {
    summary.steps = 0;
    summary.seconds = control_.seconds_before + SecondsOfDone();
    summary.recoveries = 0;
    for (const Model& network : done_) {
      summary.steps += network.summary.steps;
      summary.recoveries += network.summary.recoveries;
    }
    const TrainingSummary& last = done_.back().summary;
    if (verdict_ && last.reason == StopReason::kNumericalFailure)
      return summary;  // not of a member
    summary.reason = last.reason;
    summary.message = last.message;
    return summary;
  }

  const Dataset& dataset_;
  std::vector<Recipe> kinds_;
  double time_budget_;  // of all stages
  const FitControl& control_;
  std::string fingerprint_;
  Stopwatch since_checkpoint_;
  Dataset part_, held_out_;
  std::vector<Model> done_;
  std::optional<Verdict> verdict_;  // when all kinds are done
};

void CheckStack(const Recipe& recipe) {
  Require(recipe.architecture.propagation == Propagation::kMoments, "propagation",
          "'moments' for a stack, which has the others too", "paths");
  Require(recipe.inference == Inference::kAep, "inference", "'aep' for a stack", "'sep' or 'ep'");
  Require(!recipe.architecture.full_covariance, "covariance", "'diag' for a stack", "'full'");
}

}  // namespace

Model FitStack(const Dataset& dataset, const Recipe& recipe, const FitControl& control) {
  CheckStack(recipe);
  // Settled for all stages at once, so that a resumed stack settles nothing anew.
  Recipe settled = recipe;
  ResolveSteps(dataset.rows(), &settled);
  double& time = settled.optimizer.time_budget;
  if (time > 0) {
    constexpr double kLeast = 1e-3;
    time = std::max(kLeast, time - control.seconds_before) /
           static_cast<double>(2 * StackRecipes(recipe, dataset).size());
  }
  return StackTraining(dataset, settled, control).Run({});
}

Model ResumeStack(const Dataset& dataset, Checkpoint checkpoint, const FitControl& control) {
  // The first kind has the recipe that the stack was asked for.
  const std::vector<Model>& done = checkpoint.model.companions;
  Recipe recipe = done.empty() ? checkpoint.model.recipe : done.front().recipe;
  CheckStack(recipe);
  recipe.threads = checkpoint.model.recipe.threads;
  // Networks that are yet to come are of the same table as this one.
  FitControl same_data = control;
  same_data.origin = checkpoint.model.data.origin;
  same_data.settings = checkpoint.model.data.settings;
  return StackTraining(dataset, recipe, same_data).Run(std::move(checkpoint));
}

}  // namespace fathom
