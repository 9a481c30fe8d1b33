#include "fathom/ensemble/ensemble.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/stopwatch.h"
#include "fathom/data/split.h"
#include "fathom/ensemble/judge.h"
#include "fathom/ensemble/kinds.h"
#include "fathom/fitted/deep_gp_expert.h"

namespace fathom {

namespace {

bool Interrupted(const Member& network) {
  return network.summary.reason == StopReason::kInterrupted;
}

// The rows that the kinds are trained on, and those that judge them.
Split SplitOf(Index rows, std::uint64_t seed) {
  constexpr double kHeldOut = 0.1;
  constexpr double kMostHeldOut = 2000;
  RandomStream stream(seed, 5);
  return RandomSplit(rows, std::min(kHeldOut, kMostHeldOut / static_cast<double>(rows)), &stream);
}

// First every kind on the rows of the split, then those with a share on all rows.
class EnsembleTraining {
 public:
  // The time budget of the recipe is that of the first stage. Keeps references to dataset and
  // control.
  EnsembleTraining(const Dataset& dataset, const Recipe& recipe, const FitControl& control,
                   const TrainingContext& context)
      : dataset_(dataset),
        kinds_(StackRecipes(recipe, dataset)),
        time_budget_(recipe.optimizer.time_budget * 2 * static_cast<double>(kinds_.size())),
        control_(control),
        context_(context),
        split_(SplitOf(dataset.rows(), recipe.seed)),
        part_(Subset(dataset, split_.train)),
        held_out_(Subset(dataset, split_.held_out)) {}

  Model Run(std::optional<Checkpoint> unfinished) {
    if (unfinished) {
      for (Member& network : std::exchange(unfinished->done, {})) {
        if (Interrupted(network) || done_.size() + 1 >= Stages())
          ThrowError("the networks of the ensemble are not those of a checkpoint");
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

  void Add(Member network) {
    done_.push_back(std::move(network));
    if (Interrupted(done_.back())) return;
    if (done_.size() == 1) kinds_ = PromisingKinds(std::move(kinds_), NetworkOf(done_[0]));
    if (done_.size() == kinds_.size()) verdict_ = Judge(done_, context_.schema, held_out_);
  }

  // A kind that cannot be trained is left out, and one that cannot go on stays as it was: the
  // others are as good as before.
  Member Stage(std::optional<Checkpoint> unfinished) {
    const std::size_t stage = done_.size();
    if (stage == 0) return Train(std::move(unfinished));
    const Stopwatch watch;
    TrainingSummary failure;
    try {
      Member network = Train(std::move(unfinished));
      if (network.summary.reason != StopReason::kNumericalFailure) return network;
      failure = network.summary;
    } catch (const NumericalError& error) {
      failure.message = error.what();
      failure.seconds = watch.Seconds();
    }
    failure.reason = StopReason::kNumericalFailure;
    if (stage < kinds_.size()) {
      Member stand_in = done_[0];
      stand_in.summary = failure;
      return stand_in;
    }
    Member as_it_was = done_[verdict_->kept[stage - kinds_.size()]];
    as_it_was.summary.steps = failure.steps;
    as_it_was.summary.seconds = failure.seconds;
    as_it_was.summary.recoveries = failure.recoveries;
    return as_it_was;
  }

  Member Train(std::optional<Checkpoint> unfinished) {
    FitControl control = control_;
    control.seconds_before = 0;
    CountOn(&control);
    const std::size_t stage = done_.size();
    const std::size_t kinds = kinds_.size();
    if (!unfinished && stage < kinds) {
      Recipe recipe = kinds_[stage];
      recipe.optimizer.time_budget = TimeFor(stage);
      return TrainNetwork(part_, recipe, control,
                          {context_.schema, context_.data, done_, &since_checkpoint_});
    }
    if (!unfinished) unfinished = WithAllRows(stage);
    unfinished->done = done_;
    return ContinueTraining(stage < kinds ? part_ : dataset_, std::move(*unfinished), control,
                            &since_checkpoint_);
  }

  // Networks with moments repeat the planned steps on all rows, unless they had more already. Those
  // that had, and paths, which would only get narrower than they were when judged, take a quarter
  // of their steps at a tenth of the rate.
  Checkpoint WithAllRows(std::size_t stage) const {
    Checkpoint run{.schema = context_.schema,
                   .data = context_.data,
                   .network = FromMember(done_[verdict_->kept[stage - kinds_.size()]])};
    const DeepGp& network = run.network.network;
    Recipe& recipe = run.network.recipe;
    const Index done = run.network.summary.steps;
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
    for (const Member& network : done_) seconds += network.summary.seconds;
    return seconds;
  }

  // Steps and time go on where the networks before have ended.
  void CountOn(FitControl* control) const {
    const auto stage = static_cast<Index>(done_.size());
    const double seconds = control_.seconds_before + SecondsOfDone();
    Index steps = 0;
    for (const Member& network : done_) steps += network.summary.steps;
    if (control_.callback) {
      const auto stages = static_cast<double>(Stages());
      control->callback = [=, this](Progress progress) {
        progress.step += steps;
        progress.steps += steps;
        progress.seconds += seconds;
        progress.fraction = (static_cast<double>(stage) + progress.fraction) / stages;
        return control_.callback(progress);
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

  // The model when all stages are done, or as far as they are.
  Model Whole() const {
    const Verdict verdict = verdict_ ? *verdict_ : Judge(done_, context_.schema, held_out_);
    std::vector<Member> latest;
    for (std::size_t kind = 0; kind < done_.size() && kind < kinds_.size(); ++kind)
      latest.push_back(Latest(kind));
    ModelParts parts;
    parts.schema = context_.schema;
    parts.members = Assemble(verdict, latest);
    // That of the first kind, with the time of all stages.
    parts.recipe = done_[0].recipe;
    parts.recipe.optimizer.time_budget = time_budget_;
    parts.data = context_.data;
    parts.summary = Combined(parts.members.front().summary);
    return Model(std::move(parts));
  }

  // Returns the network of a kind after its training on all rows, or, until that has ended, the one
  // that was judged.
  Member Latest(std::size_t kind) const {
    Member network = done_[kind];
    if (!verdict_) return network;
    const auto place = std::find(verdict_->kept.begin(), verdict_->kept.end(), kind);
    const std::size_t stage =
        kinds_.size() + static_cast<std::size_t>(place - verdict_->kept.begin());
    if (place == verdict_->kept.end() || stage >= done_.size() || Interrupted(done_[stage]))
      return network;
    network = done_[stage];
    network.recipe = done_[kind].recipe;  // without what is special to going on
    return network;
  }

  // Energy and rows of the first member; steps and time of all that was trained.
  TrainingSummary Combined(TrainingSummary summary) const {
    summary.steps = 0;
    summary.seconds = control_.seconds_before + SecondsOfDone();
    summary.recoveries = 0;
    for (const Member& network : done_) {
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
  TrainingContext context_;
  Split split_;
  Dataset part_, held_out_;
  Stopwatch since_checkpoint_;
  std::vector<Member> done_;
  std::optional<Verdict> verdict_;  // when all kinds are done
};

}  // namespace

Model FitEnsemble(const Dataset& dataset, const Recipe& recipe, const FitControl& control,
                  const TrainingContext& context) {
  CheckEnsembleRecipe(recipe);
  // Settled for all stages at once, so that a resumed ensemble settles nothing anew.
  Recipe settled = recipe;
  ResolveSteps(dataset.rows(), &settled);
  double& time = settled.optimizer.time_budget;
  if (time > 0) {
    constexpr double kLeast = 1e-3;
    time = std::max(kLeast, time - control.seconds_before) /
           static_cast<double>(2 * StackRecipes(recipe, dataset).size());
  }
  return EnsembleTraining(dataset, settled, control, context).Run({});
}

Model ResumeEnsemble(const Dataset& dataset, Checkpoint checkpoint, const FitControl& control) {
  // The first kind has the recipe that the ensemble was asked for.
  Recipe recipe =
      checkpoint.done.empty() ? checkpoint.network.recipe : checkpoint.done.front().recipe;
  CheckEnsembleRecipe(recipe);
  recipe.threads = checkpoint.network.recipe.threads;
  const TrainingContext context{.schema = checkpoint.schema, .data = checkpoint.data};
  return EnsembleTraining(dataset, recipe, control, context).Run(std::move(checkpoint));
}

}  // namespace fathom
