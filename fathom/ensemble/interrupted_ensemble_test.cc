// Ensembles that are stopped, fail in part, and go on.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/ensemble/ensemble.h"
#include "fathom/fit/resume.h"
#include "tests/support/small_ensemble.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

TEST(ResumedEnsemble, RefusesNetworksThatAreNotItsOwn) {
  const DatasetParts dataset = Wave(60);
  const TestFolder folder;
  FitControl control;
  control.checkpoint = folder.Path("checkpoint");
  control.callback = [](const Progress& progress) { return progress.step < 33; };
  Fit(dataset, SmallStack(), control);
  const Checkpoint checkpoint = LoadCheckpoint(control.checkpoint);
  ASSERT_EQ(checkpoint.done.size(), 5U);
  Checkpoint bad = checkpoint;
  bad.done[4].summary.reason = StopReason::kInterrupted;
  EXPECT_THROW(Resume(dataset, bad), Error);
  bad = checkpoint;
  bad.done.insert(bad.done.end(), 19, checkpoint.done[0]);
  EXPECT_THROW(Resume(dataset, bad), Error);
  bad = checkpoint;
  bad.network.recipe.stack = Stacking::kAuto;  // as in ensembles of before
  EXPECT_THROW(Resume(dataset, bad), Error);
}

class InterruptedEnsemble : public testing::TestWithParam<Index> {};

TEST_P(InterruptedEnsemble, IsUsableAndResumesToTheSameBits) {
  const DatasetParts dataset = Wave(60);
  const TestFolder folder;
  FitControl control;
  control.checkpoint = folder.Path("checkpoint");
  control.origin = "a place";
  control.callback = [](const Progress& progress) { return progress.step < GetParam(); };
  const Model cut = Fit(dataset, SmallStack(), control);
  EXPECT_EQ(cut.summary().reason, StopReason::kInterrupted);
  EXPECT_EQ(cut.summary().steps, GetParam());
  EXPECT_TRUE(ModelPredictor(cut, 1).Predict(dataset.inputs).Mean().allFinite());
  const Checkpoint checkpoint = LoadCheckpoint(control.checkpoint);
  const Model whole = Resume(dataset, checkpoint);
  const Model uncut = Fit(dataset, SmallStack());
  EXPECT_EQ(whole.summary().steps, uncut.summary().steps);
  ExpectSamePredictions(uncut, whole);

  // And once more, in what may be another network, which knows as well where its table is.
  FitControl again;
  again.checkpoint = folder.Path("second");
  again.callback = [](const Progress& progress) { return progress.step < GetParam() + 7; };
  if (Resume(dataset, checkpoint, again).summary().reason == StopReason::kInterrupted) {
    EXPECT_EQ(LoadCheckpoint(again.checkpoint).data.origin, "a place");
    ExpectSamePredictions(uncut, Resume(dataset, LoadCheckpoint(again.checkpoint)));
  }
  DatasetParts other = dataset;
  other.targets(5, 0) += 1;
  EXPECT_THROW(Resume(other, LoadCheckpoint(control.checkpoint)), Error);
}

INSTANTIATE_TEST_SUITE_P(Steps, InterruptedEnsemble, testing::Values(2, 6, 11, 31, 45, 66, 85));

// The first kind fails at its first network, so what is done belongs to the second.
TEST(ResumedEnsemble, ResumesPastAKindThatCannotBeTrained) {
  const DatasetParts dataset = Wave(60);
  const TestFolder folder;
  const auto failing = [](Index last) {
    FitControl control;
    control.callback = [last, failed = false](const Progress& progress) mutable {
      if (progress.step == 2 && !std::exchange(failed, true)) throw NumericalError("no way on");
      return progress.step < last;
    };
    return control;
  };
  const Model uncut = Fit(dataset, SmallStack(), failing(1000));
  for (const Index last : {4, 16, 33}) {
    FitControl control = failing(last);
    control.checkpoint = folder.Path("checkpoint");
    ASSERT_EQ(Fit(dataset, SmallStack(), control).summary().reason, StopReason::kInterrupted);
    ExpectSamePredictions(uncut, Resume(dataset, LoadCheckpoint(control.checkpoint)));
  }
}

// The first reports come from the fit of the neighbour GPs, before there is a network. Where the
// target's shape is a question, they have been fitted before.
TEST(ResumedEnsemble, StoppedAmongTheNeighboursItTrainsNothing) {
  const DatasetParts dataset = Wave(60);
  Recipe recipe = SmallStack();
  recipe.target_kind = TargetKind::kPlain;
  const TestFolder folder;
  FitControl control;
  control.checkpoint = folder.Path("checkpoint");
  control.callback = [](const Progress& progress) { return progress.step < 16; };
  Fit(dataset, recipe, control);
  const std::string before = TestFolder::Read(control.checkpoint);

  control.callback = [](const Progress&) { return false; };
  const Checkpoint checkpoint = LoadCheckpoint(control.checkpoint);
  const Model stopped = Resume(dataset, checkpoint, control);
  EXPECT_EQ(stopped.summary().reason, StopReason::kInterrupted);
  EXPECT_TRUE(ModelPredictor(stopped, 1).Predict(dataset.inputs).Mean().allFinite());
  EXPECT_TRUE(TestFolder::Read(control.checkpoint) == before);
  ExpectSamePredictions(Fit(dataset, recipe), Resume(dataset, checkpoint));

  FitControl without_checkpoint;
  without_checkpoint.callback = control.callback;
  const Model none = Fit(dataset, recipe, without_checkpoint);
  EXPECT_EQ(none.summary().reason, StopReason::kInterrupted);
  EXPECT_EQ(none.summary().steps, 0);
}

}  // namespace
}  // namespace fathom
