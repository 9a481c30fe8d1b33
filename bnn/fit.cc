#include "bnn/fit.h"

#include <cmath>
#include <memory>
#include <utility>

#include "bnn/expert.h"
#include "bnn/fit_method.h"
#include "bnn/training_rows.h"
#include "bnn/watch.h"
#include "fathom/base/error.h"
#include "fathom/base/stopwatch.h"
#include "fathom/data/fingerprint.h"

namespace fathom::bnn {

namespace {

// Throws Error, with the first difference that a user can see, unless the fit began with `dataset`.
void RequireSameTable(const Dataset& dataset, const BaselineCheckpoint& checkpoint) {
  if (Fingerprint(dataset) == checkpoint.fingerprint) return;
  const std::string difference = dataset.rows() == checkpoint.rows
                                     ? "its columns or cells differ"
                                     : "it has " + std::to_string(dataset.rows()) +
                                           " rows instead of " + std::to_string(checkpoint.rows);
  ThrowError(dataset.source(), ": is not the table that the training began with: ", difference,
             "; name that table, or fit a new model");
}

// Writes checkpoints of a fit.
class CheckpointWriter {
 public:
  CheckpointWriter(BaselineCheckpoint* checkpoint, const BaselineControl& control)
      : checkpoint_(*checkpoint), control_(control), seconds_before_(checkpoint->seconds) {}

  double Seconds() const { return seconds_before_ + clock_.Seconds(); }
  void operator()(const JobStates& jobs) {
    checkpoint_.seconds = Seconds();
    try {
      SaveBaselineCheckpoint(checkpoint_, jobs, control_.checkpoint);
    } catch (const Error& error) {
      if (!control_.on_checkpoint_failure) throw;
      control_.on_checkpoint_failure(error.what());
    }
  }

 private:
  BaselineCheckpoint& checkpoint_;
  const BaselineControl& control_;
  double seconds_before_;
  Stopwatch clock_;
};

Model MakeModel(const Dataset& dataset, const TrainingRows& train, const TrainingData& data,
                Member member) {
  member.input_scaler = train.input_scaler;
  member.target_scaler = train.target_scaler;
  ModelParts parts{.schema = dataset.schema(),
                   .members = {},
                   .recipe = member.recipe,
                   .summary = member.summary,
                   .data = data};
  parts.members.push_back(std::move(member));
  return Model(std::move(parts));
}

Model Run(const Dataset& dataset, BaselineCheckpoint checkpoint, const BaselineControl& control) {
  CheckpointWriter writer(&checkpoint, control);
  const BaselineOptions options = checkpoint.options;
  CheckBaseline(options);
  const TrainingRows train = Standardize(dataset);
  const MlpShape shape(train.x.cols(), options.hidden, options.activation);
  const ThreadPool pool(options.threads);
  const bool writes = !control.checkpoint.empty();
  const bool remembers = writes || !checkpoint.jobs.empty();
  Journal journal(std::move(checkpoint.jobs), writes ? control.checkpoint_interval : HUGE_VAL,
                  std::ref(writer));
  Watch watch(control.callback, remembers ? &journal : nullptr);
  FitContext context{
      .dataset = dataset,
      .options = options,
      .train = train,
      .shape = shape,
      .pool = pool,
      .watch = &watch,
      .seed = SeedFor(options.seed, NameOf(options.method) + checkpoint.fingerprint)};
  context.findings.settings = BaselineToJson(options);
  NetworkPosterior posterior;
  try {
    posterior = FitMethod(&context);
  } catch (const StoppedTooEarly&) {
    if (writes) journal.Write();
    throw;
  }
  if (watch.stopped()) {
    context.Warn("the fit was stopped before its end");
    if (writes) journal.Write();
  }

  Member member;
  member.expert =
      std::make_shared<NetworkExpert>(shape, std::move(posterior), std::move(context.findings));
  member.recipe.seed = options.seed;
  member.summary = {.rows = dataset.rows(),
                    .reason = watch.stopped() ? StopReason::kInterrupted : StopReason::kFinished,
                    .message = watch.stopped() ? "interrupted" : "the fit is done",
                    .steps = context.steps,
                    .seconds = writer.Seconds()};
  return MakeModel(
      dataset, train,
      {checkpoint.fingerprint, checkpoint.origin, {}, FindInputRange(dataset.inputs())},
      std::move(member));
}

}  // namespace

Model FitBaseline(const Dataset& dataset, const BaselineOptions& options,
                  const BaselineControl& control) {
  return Run(dataset,
             {.options = options,
              .fingerprint = Fingerprint(dataset),
              .origin = control.origin,
              .rows = dataset.rows()},
             control);
}

Model ResumeBaseline(const Dataset& dataset, BaselineCheckpoint checkpoint,
                     const BaselineControl& control) {
  RequireSameTable(dataset, checkpoint);
  return Run(dataset, std::move(checkpoint), control);
}

}  // namespace fathom::bnn
