#include "fathom/ensemble/class_ensemble.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "fathom/base/random.h"
#include "fathom/fit/resume.h"
#include "fathom/fitted/calibration.h"
#include "fathom/fitted/relevance.h"
#include "tests/support/changed_model.h"
#include "tests/support/small_ensemble.h"
#include "tests/support/test_folder.h"

namespace fathom {
namespace {

// Two classes that a wave divides.
DatasetParts Waving() {
  DatasetParts classes = Wave(80);
  classes.targets = (classes.targets.array() > 0).cast<double>();
  classes.schema.classes = {"low", "high"};
  return classes;
}

// Two classes that a straight line divides.
DatasetParts TwoClasses(Index rows, Index columns) {
  RandomStream stream(12);
  std::vector<std::string> names;
  for (Index d = 0; d < columns; ++d) names.push_back("x" + std::to_string(d));
  DatasetParts line;
  line.schema = NumericSchema(names, {"y"});
  line.schema.classes = {"no", "yes"};
  const Matrix x = stream.NormalMatrix(rows, columns);
  line.inputs = Moments::Certain(x);
  line.targets.resize(rows, 1);
  for (Index n = 0; n < rows; ++n)
    line.targets(n, 0) = stream.Uniform() < 1 / (1 + std::exp(1 - 2 * x(n, 0))) ? 1 : 0;
  return line;
}

TEST(ClassEnsemble, IsAMixtureWithoutACalibration) {
  const DatasetParts classes = Waving();
  const Model mixture = Fit(classes, SmallStack());
  EXPECT_EQ(mixture.calibration(), nullptr);
  EXPECT_GE(CountKind(mixture, "deep_gp"), 5);
  EXPECT_THROW(Changed(mixture, [](ModelParts* parts) { parts->members[0].noise_scale = 25; }),
               Error);
  EXPECT_THROW(Changed(mixture,
                       [](ModelParts* parts) {
                         parts->calibration = std::make_shared<const Calibration>();
                       }),
               Error);
  EXPECT_THROW(Changed(mixture, [](ModelParts* parts) { parts->members[1].trend = {0}; }), Error);
  const Matrix p = ModelPredictor(mixture, 1).ClassProbabilities(classes.inputs);
  EXPECT_TRUE(p.rowwise().sum().isOnes(1e-12));
}

TEST(ClassEnsemble, IsUsableWhereverItIsInterrupted) {
  const DatasetParts classes = Waving();
  for (const Index last : {2, 8, 20}) {
    const TestFolder folder;
    FitControl control;
    control.checkpoint = folder.Path("checkpoint");
    control.callback = [last](const Progress& progress) { return progress.step < last; };
    const Model cut = Fit(classes, SmallStack(), control);
    EXPECT_EQ(cut.summary().reason, StopReason::kInterrupted);
    const Matrix p = ModelPredictor(cut, 1).ClassProbabilities(classes.inputs);
    EXPECT_TRUE(p.rowwise().sum().isOnes(1e-9));
    const Model whole = Resume(classes, LoadCheckpoint(control.checkpoint));
    EXPECT_EQ(ModelPredictor(whole, 1).ClassProbabilities(classes.inputs),
              ModelPredictor(Fit(classes, SmallStack()), 1).ClassProbabilities(classes.inputs));
  }
}

// Where the classes are divided by a straight line, logistic regression is among the members, and a
// saved model predicts the same.
TEST(ClassEnsemble, HasALine) {
  const DatasetParts line = TwoClasses(80, 4);
  Recipe recipe = SmallStack();
  recipe.stack = Stacking::kAuto;
  const Model model = Fit(line, recipe);
  EXPECT_EQ(CountKind(model, "logistic"), 1);
  const Matrix p = ModelPredictor(model, 1).ClassProbabilities(line.inputs);
  EXPECT_LT((p.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-9);
  const Model loaded = ModelFromBytes("model", ModelToBytes(model));
  EXPECT_EQ(ModelPredictor(loaded, 2).ClassProbabilities(line.inputs), p);
  EXPECT_EQ(FindRelevance(model).share(0, 0), 1);
  EXPECT_EQ(ModelPredictor(model, 1).Predict(line.inputs, {.latent = true}).Mean().cols(), 1);
}

// The line remains, and the summary tells. Beyond so many columns there is none, and the error says
// why there is no network.
TEST(ClassEnsemble, DoesWithoutNetworksThatCannotBeTrained) {
  FitControl control;
  control.callback = [](const Progress&) -> bool { throw NumericalError("no way on"); };
  Recipe recipe = SmallStack();
  recipe.stack = Stacking::kAuto;
  const Model model = Fit(TwoClasses(40, 3), recipe, control);
  EXPECT_EQ(CountKind(model, "logistic"), 1);
  EXPECT_EQ(model.members().size(), 1U);
  EXPECT_EQ(model.summary().message, "networks that failed were left out: no way on");
  try {
    Fit(TwoClasses(40, 501), recipe, control);
    ADD_FAILURE() << "no error was thrown";
  } catch (const NumericalError& error) {
    EXPECT_STREQ(error.what(), "no way on");
  }
}

// Where there is no line either, the network that was in training is what there is.
TEST(ClassEnsemble, IsTheFirstNetworkWhereItIsInterruptedInThat) {
  FitControl control;
  control.callback = [](const Progress& progress) { return progress.step < 2; };
  Recipe recipe = SmallStack();
  recipe.stack = Stacking::kAuto;
  const DatasetParts wide = TwoClasses(40, 501);
  const Model model = Fit(wide, recipe, control);
  EXPECT_EQ(model.summary().reason, StopReason::kInterrupted);
  EXPECT_EQ(model.members().size(), 1U);
  EXPECT_EQ(CountKind(model, "logistic"), 0);
  EXPECT_TRUE(ModelPredictor(model, 1).ClassProbabilities(wide.inputs).allFinite());
}

}  // namespace
}  // namespace fathom
