#include "fathom/ensemble/ensemble.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/stopwatch.h"
#include "fathom/ensemble/class_ensemble.h"
#include "fathom/ensemble/cross_fit.h"
#include "fathom/ensemble/kinds.h"
#include "fathom/ensemble/number_ensemble.h"
#include "fathom/ensemble/scaled_table.h"
#include "fathom/ensemble/shares.h"
#include "fathom/ensemble/target_choice.h"
#include "fathom/fitted/by_expert.h"
#include "fathom/fitted/deep_gp_expert.h"

namespace fathom {

namespace {

bool Interrupted(const TrainingSummary& summary) {
  return summary.reason == StopReason::kInterrupted;
}

// Whether a network of a checkpoint may be of this kind. Kinds differ in their layers or kernels.
bool IsOfKind(const Recipe& network, const Recipe& kind) {
  return network.architecture.hidden == kind.architecture.hidden &&
         network.architecture.kernel == kind.architecture.kernel;
}

// Kind after kind, fold after fold; then what is made of them.
class EnsembleTraining {
 public:
  // Keeps a reference to control.
  EnsembleTraining(const Dataset& dataset, Recipe recipe, const FitControl& control,
                   TrainingContext context)
      : natures_(DescribeTargets(dataset)),
        pool_(recipe.threads),
        choice_(ChooseTarget(dataset, recipe, pool_)),
        dataset_(choice_.target.latent()),
        recipe_(std::move(recipe)),
        control_(control),
        context_(std::move(context)),
        table_(std::make_unique<ScaledTable>(choice_.target.Scaled(recipe_))) {
    if (dataset.schema().classes.empty()) StartWithNumbers();
    Recipe as_table = recipe_;
    as_table.warping = table_->input_scaler.warps.size() > 0 ? Warping::kAlways : Warping::kNever;
    for (const Recipe& kind : EnsembleKinds(as_table, dataset_))
      kinds_.emplace_back(dataset_, *table_, kind);
    alive_.assign(kinds_.size(), true);
  }

  Model Run(std::optional<Checkpoint> unfinished) {
    if (unfinished) {
      for (Member& network : std::exchange(unfinished->done, {})) {
        if (Interrupted(network.summary) || !GoOnTo(network.recipe)) {
          if (stopped_) return Whole();
          ThrowError("the networks of the ensemble are not those of a checkpoint");
        }
        Add(std::move(network));
      }
      if (!stopped_) GoOnTo(unfinished->network.recipe);
    }
    while (!interrupted_ && !stopped_ && HasNext()) Stage(std::exchange(unfinished, {}));
    return Whole();
  }

 private:
  // Fits what needs no network, and decides by it whether skewed columns are warped: networks agree
  // with neighbours on that (docs/measurements/decisions.md).
  void StartWithNumbers() {
    const auto start = [this](const ScaledTable& table, const std::vector<NeighbourGp>& on_line) {
      return std::make_unique<NumberEnsemble>(
          table, recipe_, pool_, [this](const Progress& progress) { return Tell(progress); },
          on_line);
    };
    numbers_ = start(*table_, choice_.on_line);
    if (recipe_.warping != Warping::kAuto || recipe_.local == Local::kNever) return;
    Recipe with_warps = recipe_;
    with_warps.warping = Warping::kAlways;
    auto warped = std::make_unique<ScaledTable>(choice_.target.Scaled(with_warps));
    if (warped->input_scaler.warps.size() == 0) return;
    auto numbers = start(*warped, {});
    // More columns cost time, so they must be worth it.
    constexpr double kWorthIt = 0.99;
    if (!(numbers->SquaredError() < kWorthIt * numbers_->SquaredError())) return;
    numbers_ = std::move(numbers);
    table_ = std::move(warped);
  }

  // Whether there is a network to train. When all kinds are complete, that may be one more: see
  // PlanSpecialists.
  bool HasNext() {
    if (kind_ == kinds_.size() && !finished_) {
      Finish();
      PlanSpecialists();
    }
    return kind_ < kinds_.size();
  }

  // Goes on to the kind of a network of a checkpoint. Kinds before it that are not complete have
  // failed. False if there is no such kind.
  bool GoOnTo(const Recipe& network) {
    while (HasNext() && !IsOfKind(network, kinds_[kind_].recipe())) {
      if (failure_.empty()) failure_ = "one had failed before the training was resumed";
      alive_[kind_++] = false;
    }
    return kind_ < kinds_.size();
  }

  // Weighs what there is.
  void Finish() {
    finished_ = true;
    if (numbers_ != nullptr) numbers_->Finish(Complete());
  }

  // The networks of a kind end in optima of very different worth, which their energies tell early.
  // If most of the weight rests on the kind, the best of them train on: specialists. The folds
  // that they have left out judge them.
  void PlanSpecialists() {
    const bool own_steps = recipe_.optimizer.steps > 0 || !HasLightNetworks(recipe_, dataset_);
    if (numbers_ == nullptr || numbers_->carrier() == nullptr || own_steps || stopped_) return;
    // What is known of copies is about the blend, and a fold must have all targets to judge by.
    if (dataset_.rows() < kManyRows || !choice_.target.shape().is_plain() || table_->y.hasNaN() ||
        numbers_->calibration()->seen != nullptr) {
      return;
    }
    constexpr std::size_t kSpecialists = 2;
    const CrossFit& carrier = *numbers_->carrier();
    const std::vector<Member>& networks = carrier.networks();
    std::vector<std::size_t> folds(networks.size());
    std::iota(folds.begin(), folds.end(), 0);
    std::stable_sort(folds.begin(), folds.end(), [&](std::size_t one, std::size_t other) {
      return networks[one].summary.energy_per_row > networks[other].summary.energy_per_row;
    });
    folds.resize(std::min(folds.size(), kSpecialists));
    kinds_.emplace_back(dataset_, *table_, carrier.recipe(), folds);
    const TrainingSummary& best = networks[folds.front()].summary;
    const bool in_time = recipe_.optimizer.time_budget == 0 || TimeForNext() >= best.seconds;
    if (!in_time || best.steps == 0) {
      kinds_.pop_back();
      return;
    }
    for (const std::size_t fold : folds) scouts_.push_back(networks[fold]);
    alive_.push_back(true);
  }

  std::size_t FoldsLeft() const {
    std::size_t left = 0;
    for (std::size_t k = kind_; k < kinds_.size(); ++k) left += kinds_[k].folds_left();
    return left;
  }

  // Adds a network that was trained to its end. If it failed numerically, its kind is left out.
  void Add(Member network) {
    done_.push_back(network);
    const bool failed = network.summary.reason == StopReason::kNumericalFailure;
    if (failed && failure_.empty()) failure_ = network.summary.message;
    if (!scouts_.empty()) begun_ = kinds_[kind_].networks().size() + 1;
    if (!failed) kinds_[kind_].Add(std::move(network));
    if (!scouts_.empty()) {
      if (failed || kinds_[kind_].complete()) EndSpecialists();
      return;
    }
    if (failed || !IsPromising(kinds_[kind_])) alive_[kind_] = false;
    if (!alive_[kind_] || kinds_[kind_].complete()) ++kind_;
  }

  bool IsPromising(const CrossFit& kind) {
    if (stopped_) return true;  // what was stopped half way is no ground for a decision
    return numbers_ != nullptr ? numbers_->IsPromising(kind)
                               : IsPromisingForClasses(*table_, recipe_, kind, Complete());
  }

  // Weighs the specialists that are there.
  void EndSpecialists() {
    if (!kinds_[kind_].networks().empty()) numbers_->AddSpecialists(kinds_[kind_]);
    alive_[kind_++] = false;
  }

  void Stage(std::optional<Checkpoint> unfinished) {
    Member network;
    try {
      network = Train(std::move(unfinished));
    } catch (const NumericalError& error) {
      if (failure_.empty()) failure_ = error.what();
      if (scouts_.empty()) {
        alive_[kind_++] = false;
      } else {
        begun_ = kinds_[kind_].networks().size();
        EndSpecialists();
      }
      return;
    }
    if (Interrupted(network.summary)) {
      interrupted_ = network.summary;
      steps_of_interrupted_ = network.summary.steps;
      half_trained_ = std::move(network);
      return;
    }
    Add(std::move(network));
  }

  Member Train(std::optional<Checkpoint> unfinished) {
    const Member* scout = nullptr;
    if (!scouts_.empty()) {
      scout = &scouts_[kinds_[kind_].networks().size()];
      begun_ = kinds_[kind_].networks().size() + 1;
    }
    const auto done = static_cast<double>(done_.size());
    const double all = (1 + kAgain) * (done + static_cast<double>(FoldsLeft()));
    // Specialists are planned late. Each gets half of the progress that is left.
    const FitControl control =
        ControlOf({.stage = std::ssize(done_),
                   .steps = StepsOfDone(),
                   .seconds = SecondsOfDone(),
                   .begin = scout != nullptr ? furthest_ : done / all,
                   .share = scout != nullptr ? (1 - furthest_) / 2 : 1 / all});
    const Dataset part = Subset(dataset_, table_->folds[kinds_[kind_].next_fold()].train);
    // A network that learns from all rows was in training when the members had been weighed.
    const bool of_all_rows = unfinished && unfinished->network.summary.rows == dataset_.rows();
    if (unfinished && !of_all_rows) {
      unfinished->done = done_;
      return ContinueTraining(part, std::move(*unfinished), control, &since_checkpoint_);
    }
    if (scout != nullptr) {
      const Index times_as_long = recipe_.stack == Stacking::kAlways ? 20 : 5;
      Checkpoint start = FurtherTraining(*scout, times_as_long * scout->summary.steps);
      start.network.recipe.optimizer.time_budget = TimeForNext();
      return ContinueTraining(part, std::move(start), control, &since_checkpoint_);
    }
    Recipe recipe = kinds_[kind_].recipe();
    recipe.optimizer.time_budget = TimeForNext();
    recipe.seed += kinds_[kind_].next_fold();
    TrainingContext context = context_;
    context.asked = recipe_;
    context.done = done_;
    context.since_checkpoint = &since_checkpoint_;
    return TrainNetwork(part, recipe, control, context);
  }

  Checkpoint FurtherTraining(const Member& network, Index steps) const {
    Checkpoint start = TrainFurther(network, steps);
    start.schema = context_.schema;
    start.data = context_.data;
    start.asked = recipe_;
    start.done = done_;
    return start;
  }

  // Each network has left a fold out. Now that the folds have said what it is worth, it learns from
  // all rows, with small steps. What was checked is the least that it can do.
  void LearnFromAllRows(std::vector<Member>* members) {
    constexpr double kOfRate = 0.4;
    std::vector<Member*> networks;
    for (Member& member : *members) {
      if (dynamic_cast<const DeepGpExpert*>(member.expert.get()) != nullptr)
        networks.push_back(&member);
    }
    const double begin = std::max(furthest_, 1 / (1 + kAgain));
    const double share = (1 - begin) / static_cast<double>(networks.size());
    for (std::size_t k = 0; k < networks.size() && !interrupted_ && !stopped_; ++k) {
      Member& network = *networks[k];
      const Index before = network.summary.steps;
      const auto steps = static_cast<Index>(kAgain * static_cast<double>(before));
      if (steps == 0) continue;
      Checkpoint start = FurtherTraining(network, steps);
      start.network.recipe.optimizer.learning_rate *= kOfRate;
      const FitControl control = ControlOf({.stage = std::ssize(done_) + static_cast<Index>(k),
                                            .steps = StepsOfDone() + steps_again_ - before,
                                            .seconds = SecondsOfDone() + seconds_again_,
                                            .begin = begin + share * static_cast<double>(k),
                                            .share = share});
      try {
        Member longer = ContinueTraining(dataset_, std::move(start), control, &since_checkpoint_);
        if (longer.summary.reason == StopReason::kNumericalFailure) continue;
        steps_again_ += longer.summary.steps - before;
        seconds_again_ += longer.summary.seconds;
        if (Interrupted(longer.summary)) interrupted_ = longer.summary;
        if (interrupted_) break;
        network.expert = longer.expert;
        network.summary = longer.summary;
      } catch (const NumericalError&) {
        continue;  // it is as good as before
      }
    }
  }

  // Most of the time budget is for the networks, in equal parts.
  double TimeForNext() const {
    const double budget = recipe_.optimizer.time_budget;
    if (budget == 0) return 0;
    constexpr double kForNetworks = 0.65;
    constexpr double kLeast = 1e-3;  // 0 would be no budget at all
    const double left = kForNetworks * (budget - control_.seconds_before) - SecondsOfDone();
    return std::max(kLeast, left / static_cast<double>(FoldsLeft()));
  }

  double SecondsOfDone() const {
    double seconds = 0;
    for (const Member& network : done_) seconds += network.summary.seconds;
    return seconds;
  }

  Index StepsOfDone() const {
    Index steps = 0;
    for (const Member& network : done_) steps += network.summary.steps;
    // The steps of a specialist go on from those of its scout.
    for (std::size_t k = 0; k < begun_; ++k) steps -= scouts_[k].summary.steps;
    return steps;
  }

  // Reports on the fit of neighbour GPs, as progress where the networks have got to.
  bool Tell(Progress progress) {
    if (!control_.callback || stopped_) return !stopped_;
    progress.step = progress.steps = StepsOfDone();
    const auto done = static_cast<double>(done_.size());
    const auto left = static_cast<double>(FoldsLeft());
    progress.fraction = FurthestWith(done + left == 0 ? 0 : done / (done + left) / (1 + kAgain));
    stopped_ = !control_.callback(progress);
    return !stopped_;
  }

  // Progress never goes back.
  double FurthestWith(double fraction) { return furthest_ = std::max(furthest_, fraction); }

  // Where a training stands in the whole: what comes before it, and its part of the progress.
  struct Stand {
    Index stage = 0;
    Index steps = 0;
    double seconds = 0;
    double begin = 0, share = 1;
  };

  // Steps and time go on where the networks before have ended.
  FitControl ControlOf(const Stand& stand) {
    FitControl control = control_;
    control.seconds_before = 0;
    const double seconds = control_.seconds_before + stand.seconds;
    if (control_.callback) {
      control.callback = [=, this](Progress progress) {
        progress.step += stand.steps;
        progress.steps += stand.steps;
        progress.seconds += seconds;
        progress.fraction = FurthestWith(stand.begin + stand.share * progress.fraction);
        return control_.callback(progress);
      };
    }
    if (control_.on_epoch) {
      control.on_epoch = [=, this](EpochMetrics metrics) {
        metrics.stage = stand.stage;
        metrics.step += stand.steps;
        metrics.seconds += seconds;
        control_.on_epoch(metrics);
      };
    }
    return control;
  }

  // The kinds that have predicted all rows.
  std::vector<const CrossFit*> Complete() const {
    std::vector<const CrossFit*> complete;
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      if (alive_[k] && kinds_[k].complete()) complete.push_back(&kinds_[k]);
    }
    return complete;
  }

  // Of classes, where not one kind has seen all rows: the networks of the last kind that has any,
  // in equal parts; else a logistic regression; else the network that was in training.
  std::vector<Member> WhatThereIs() const {
    std::vector<Member> members;
    for (const CrossFit& kind : kinds_) {
      if (!kind.networks().empty()) members = kind.networks();
    }
    if (members.empty()) members = MixtureOfClasses(*table_, dataset_, recipe_, {});
    if (members.empty() && half_trained_) members = {*half_trained_};
    if (members.empty()) throw NumericalError(failure_);
    NormalizeWeights(&members);
    return members;
  }

  // The model when all networks are done, or as far as they are.
  Model Whole() {
    const std::vector<const CrossFit*> complete = Complete();
    ModelParts parts;
    parts.schema = context_.schema;
    parts.recipe = recipe_;
    parts.data = context_.data;
    parts.natures = natures_;
    if (!finished_) Finish();
    // Interrupted between two specialists.
    if (!scouts_.empty() && kind_ < kinds_.size()) EndSpecialists();
    if (numbers_ != nullptr) {
      parts.members = numbers_->members();
      parts.calibration = choice_.target.Complete(
          {numbers_->members(), *numbers_->calibration(), numbers_->centre()}, *table_);
    } else {
      parts.members =
          complete.empty() ? WhatThereIs() : MixtureOfClasses(*table_, dataset_, recipe_, complete);
    }
    if (!complete.empty()) LearnFromAllRows(&parts.members);
    parts.summary = WholeSummary(parts.members);
    return Model(std::move(parts));
  }

  TrainingSummary WholeSummary(const std::vector<Member>& members) const {
    TrainingSummary summary;
    if (!done_.empty()) summary = done_.front().summary;
    if (members.size() == 1) summary = members.front().summary;
    if (interrupted_) summary = *interrupted_;
    summary.rows = choice_.target.rows();
    summary.steps = StepsOfDone() + steps_again_ + steps_of_interrupted_;
    summary.recoveries = 0;
    for (const Member& network : done_) summary.recoveries += network.summary.recoveries;
    summary.seconds = control_.seconds_before + watch_.Seconds() + seconds_before_;
    if (stopped_ && !interrupted_) {
      summary.reason = StopReason::kInterrupted;
      summary.message = "interrupted";
    } else if (!interrupted_) {
      summary.reason = StopReason::kFinished;
      if (!failure_.empty()) {
        summary.message = "networks that failed were left out: " + failure_;
      } else if (done_.empty() && numbers_ != nullptr) {
        summary.message = "all rows were learnt from their neighbours";
      } else if (summary.message.empty()) {
        summary.message = "all members were trained";
      }
    }
    return summary;
  }

  std::vector<std::string> natures_;
  ThreadPool pool_;
  TargetChoice choice_;
  const Dataset& dataset_;  // what the members learn
  Recipe recipe_;
  const FitControl& control_;
  TrainingContext context_;
  std::unique_ptr<ScaledTable> table_;
  Stopwatch watch_;
  double seconds_before_ = 0;
  Stopwatch since_checkpoint_;
  std::deque<CrossFit> kinds_;  // in place: numbers_ has pointers to them
  std::vector<bool> alive_;     // [kinds]: neither failed nor far behind
  std::size_t kind_ = 0;        // in training
  std::vector<Member> done_;    // in the order of training
  bool finished_ = false;       // the kinds are weighed
  std::vector<Member> scouts_;  // from which specialists go on
  std::size_t begun_ = 0;       // of the specialists
  // When a network learns from all rows, it makes so many of its steps again.
  static constexpr double kAgain = 0.25;
  Index steps_again_ = 0;
  double seconds_again_ = 0;
  std::optional<TrainingSummary> interrupted_;  // of the network that was
  Index steps_of_interrupted_ = 0;
  std::optional<Member> half_trained_;  // the network that was
  std::string failure_;                 // of the first network that could not be trained
  double furthest_ = 0;                 // fraction of the whole that was told
  bool stopped_ = false;                // by the callback, while there was no network
  std::unique_ptr<NumberEnsemble> numbers_;
};

}  // namespace

Model FitEnsemble(const Dataset& dataset, const Recipe& recipe, const FitControl& control,
                  const TrainingContext& context) {
  CheckEnsembleRecipe(recipe);
  return EnsembleTraining(dataset, recipe, control, context).Run({});
}

Model ResumeEnsemble(const Dataset& dataset, Checkpoint checkpoint, const FitControl& control) {
  if (checkpoint.network.recipe.stack != Stacking::kNever)
    ThrowError("the ensemble was begun by an older fathom, whose ensembles were made in another ",
               "way; fit it anew");
  Recipe recipe = checkpoint.asked;
  CheckEnsembleRecipe(recipe);
  recipe.threads = checkpoint.network.recipe.threads;
  const TrainingContext context{.schema = checkpoint.schema, .data = checkpoint.data};
  return EnsembleTraining(dataset, recipe, control, context).Run(std::move(checkpoint));
}

}  // namespace fathom
