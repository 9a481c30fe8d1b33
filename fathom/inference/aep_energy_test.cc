#include "fathom/inference/aep_energy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "fathom/base/error.h"
#include "fathom/distribution/prediction.h"
#include "fathom/inference/predict.h"
#include "tests/support/dense.h"
#include "tests/support/random_model.h"

namespace fathom {
namespace {

double FOf(const DeepGp& model, const LabelledRows& table, const AepOptions& options) {
  const ThreadPool pool(1);
  return AepEnergy(model, table.x, table.y, options, pool)
      .Energy(model, AllRows(table.x.rows()), nullptr)
      .F;
}

TEST(AepEnergy, EvaluateIsMinusEnergyPerRow) {
  RandomStream stream(2);
  const DeepGp model = RandomModel({.hidden = {2}}, &stream);
  const LabelledRows table = RandomRows(8, 2, 1, false, &stream);
  const ThreadPool pool(1);
  const AepEnergy energy(model, table.x, table.y, {.alpha = 0.5}, pool);
  double value = 0;
  std::string reason;
  ASSERT_TRUE(energy.Evaluate(Pack(model, energy.packing()), AllRows(8), &value, nullptr, &reason));
  EXPECT_NEAR(value, -FOf(model, table, {.alpha = 0.5}) / 8, 1e-12);
  const EnergyParts parts = energy.Energy(model, AllRows(8), nullptr);
  EXPECT_NEAR(parts.F, parts.factors + parts.sum_log_z / 0.5, 1e-12);
}

// With nothing learnt F is the log density of the targets under the prior.
TEST(AepEnergy, ZeroFactorIsThePrior) {
  RandomStream stream(3);
  for (const std::vector<Index>& hidden : {std::vector<Index>{}, {2}, {3, 2}}) {
    for (const bool sites : {false, true}) {
      DeepGp model = RandomModel({.hidden = hidden, .outputs = 2, .sites = sites}, &stream);
      for (GpLayer& layer : model.layers) {
        for (SparseGp& gp : layer.gps) {
          if (sites) {
            gp.posterior = Sites::Prior(4);
          } else {
            gp.posterior = Whitened::Prior(4);
          }
        }
      }
      const LabelledRows table = RandomRows(6, 2, 2, true, &stream);
      double expected = 0;
      for (Index n = 0; n < 6; ++n) {
        for (Index d = 0; d < 2; ++d) {
          expected +=
              LogNormalPdf(table.y(n, d), 0,
                           model.layers.back().gps[d].theta[0] + model.likelihood_parameters[d]);
        }
      }
      EXPECT_NEAR(FOf(model, table, {.alpha = 1}), expected, 1e-9);
    }
  }
}

// The factor of the only row is removed from its own cavity, which is then the prior.
TEST(AepEnergy, OneRowWithAlphaOneDoesNotSeeTheFactor) {
  RandomStream stream(4);
  for (const bool sites : {false, true}) {
    const DeepGp model = RandomModel({.sites = sites}, &stream);
    const LabelledRows table = RandomRows(1, 2, 1, false, &stream);
    const double expected = LogNormalPdf(
        table.y(0, 0), 0, model.layers[0].gps[0].theta[0] + model.likelihood_parameters[0]);
    EXPECT_NEAR(FOf(model, table, {.alpha = 1}), expected, 1e-9);
    const DeepGp deep = RandomModel({.hidden = {2}, .sites = sites}, &stream);
    const double deep_expected = LogNormalPdf(
        table.y(0, 0), 0, deep.layers[1].gps[0].theta[0] + deep.likelihood_parameters[0]);
    EXPECT_NEAR(FOf(deep, table, {.alpha = 1}), deep_expected, 1e-9);
  }
}

// One layer with Z = X and the exact posterior in it.
struct ExactGp {
  LabelledRows table;
  DeepGp model;
  Matrix K, K_noise_inverse;
  double noise = 0.3;

  ExactGp(bool sites, RandomStream* stream) : table(RandomRows(7, 2, 1, false, stream)) {
    table.x.mean *= 2;
    model = RandomModel({.M = 7, .sites = sites}, stream);
    model.jitter = 0;
    model.likelihood_parameters[0] = noise;
    SparseGp& gp = model.layers[0].gps[0];
    gp.Z = table.x.mean;
    gp.theta = Vector{{1.4, 0.8, 1.1}};
    gp.kernel->Gram(gp.theta, gp.Z, &K);
    K_noise_inverse = Inverse(K + noise * Matrix::Identity(7, 7));
    const Vector y = table.y.col(0);
    if (sites) {
      gp.posterior = Sites{y / noise, Matrix::Identity(7, 7) / std::sqrt(noise)};
      return;
    }
    const Matrix L_inverse = Inverse(CholeskyFactor(K));
    const Matrix V = K - Times(K, K_noise_inverse, K);
    gp.posterior = Whitened{Apply(Times(L_inverse, K, K_noise_inverse), y),
                            CholeskyFactor(TimesTransposed(Times(L_inverse, V), L_inverse))};
  }

  double LogEvidence() const {
    const Vector y = table.y.col(0);
    return -0.5 * (y.dot(Apply(K_noise_inverse, y)) + 7 * std::log(2 * M_PI) +
                   LogDeterminantOf(K + noise * Matrix::Identity(7, 7)));
  }
};

TEST(AepEnergy, PseudoInputsAtTheRowsPredictAsTheExactGp) {
  RandomStream stream(5);
  for (const bool sites : {false, true}) {
    const ExactGp exact(sites, &stream);
    const ThreadPool pool(1);
    const NetworkPredictor predictor(exact.model, pool);
    const Matrix x = 1.5 * stream.NormalMatrix(10, 2);
    const Prediction prediction = predictor.Predict(Moments::Certain(x), {});
    const SparseGp& gp = exact.model.layers[0].gps[0];
    Matrix joint(17, 2);
    joint << gp.Z, x;
    Matrix K;
    gp.kernel->Gram(gp.theta, joint, &K);
    for (Index n = 0; n < 10; ++n) {
      const Vector k = K.row(7 + n).head(7);
      const Vector weights = exact.K_noise_inverse * k;
      EXPECT_NEAR(prediction.Mean()(n, 0), weights.dot(exact.table.y.col(0)), 1e-9);
      EXPECT_NEAR(prediction.Variance()(n, 0), gp.theta[0] - weights.dot(k) + exact.noise, 1e-9);
    }
  }
}

TEST(AepEnergy, PseudoInputsAtTheRowsGiveTheExactEvidenceInTheVariationalLimit) {
  RandomStream stream(6);
  for (const bool sites : {false, true}) {
    const ExactGp exact(sites, &stream);
    const double evidence = exact.LogEvidence();
    EXPECT_NEAR(FOf(exact.model, exact.table, {.alpha = 0}), evidence, 1e-8);
    // Any other posterior gives less: it is a bound.
    for (int i = 0; i < 5; ++i) {
      DeepGp other = exact.model;
      if (sites) {
        other.layers[0].gps[0].posterior = RandomSites(7, &stream);
      } else {
        other.layers[0].gps[0].posterior = RandomWhitened(7, &stream);
      }
      EXPECT_LT(FOf(other, exact.table, {.alpha = 0}), evidence);
    }
  }
}

TEST(AepEnergy, SmallAlphaTendsToTheVariationalLimit) {
  RandomStream stream(7);
  for (const bool sites : {false, true}) {
    const DeepGp model = RandomModel({.hidden = {2}, .sites = sites}, &stream);
    const LabelledRows table = RandomRows(9, 2, 1, true, &stream);
    const double limit = FOf(model, table, {.alpha = 0});
    const double first = FOf(model, table, {.alpha = 1e-2}) - limit;
    const double second = FOf(model, table, {.alpha = 1e-3}) - limit;
    EXPECT_NEAR(first / second, 10, 1);
    EXPECT_LT(std::abs(second), 0.01 * std::abs(limit));
  }
}

TEST(AepEnergy, RowOrderDoesNotMatter) {
  RandomStream stream(8);
  const DeepGp model = RandomModel({.hidden = {2}}, &stream);
  const LabelledRows table = RandomRows(150, 2, 1, true, &stream);
  const ThreadPool pool(1);
  const AepEnergy energy(model, table.x, table.y, {.alpha = 0.5}, pool);
  DeepGp gradient;
  DeepGp other;
  const double F = energy.Energy(model, AllRows(150), &gradient).F;
  EXPECT_NEAR(energy.Energy(model, stream.Permutation(150), &other).F, F, 1e-11 * std::abs(F));
  const Matrix& Z = gradient.layers[1].gps[0].Z;
  EXPECT_LT((other.layers[1].gps[0].Z - Z).cwiseAbs().maxCoeff(), 1e-10 * Z.cwiseAbs().maxCoeff());
}

TEST(AepEnergy, AnyNumberOfThreadsGivesTheSameBits) {
  RandomStream stream(9);
  for (const bool uncertain : {false, true}) {
    const DeepGp model = RandomModel({.hidden = {2, 2}, .M = 6}, &stream);
    const LabelledRows table = RandomRows(400, 2, 1, uncertain, &stream);
    std::vector<double> values;
    std::vector<Vector> gradients;
    for (const int threads : {1, 2, 3}) {
      const ThreadPool pool(threads);
      const AepEnergy energy(model, table.x, table.y, {.alpha = 0.5}, pool);
      for (int repeat = 0; repeat < 2; ++repeat) {  // the second time with used memory
        double value = 0;
        Vector gradient;
        std::string reason;
        ASSERT_TRUE(energy.Evaluate(Pack(model, {}), AllRows(400), &value, &gradient, &reason));
        values.push_back(value);
        gradients.push_back(gradient);
      }
    }
    for (std::size_t i = 1; i < values.size(); ++i) {
      EXPECT_EQ(values[i], values[0]);
      EXPECT_EQ(gradients[i], gradients[0]);
    }
  }
}

TEST(AepEnergy, BatchesOfAnEpochAverageToTheWhole) {
  RandomStream stream(10);
  const DeepGp model = RandomModel({.hidden = {2}}, &stream);
  const LabelledRows table = RandomRows(24, 2, 1, false, &stream);
  const ThreadPool pool(1);
  for (const double alpha : {0.0, 0.5, 1.0}) {
    const AepEnergy energy(model, table.x, table.y, {.alpha = alpha}, pool);
    const std::vector<Index> order = stream.Permutation(24);
    double sum = 0;
    Vector gradient_sum = Vector::Zero(energy.num_parameters());
    const Vector parameters = Pack(model, {});
    std::string reason;
    for (Index b = 0; b < 4; ++b) {
      double value = 0;
      Vector gradient;
      const std::span<const Index> batch(order.data() + 6 * b, 6);
      ASSERT_TRUE(energy.Evaluate(parameters, batch, &value, &gradient, &reason));
      sum += value;
      gradient_sum += gradient;
    }
    double whole = 0;
    Vector gradient;
    ASSERT_TRUE(energy.Evaluate(parameters, AllRows(24), &whole, &gradient, &reason));
    EXPECT_NEAR(sum / 4, whole, 1e-12);
    EXPECT_LT((gradient_sum / 4 - gradient).cwiseAbs().maxCoeff(), 1e-11);
  }
}

TEST(AepEnergy, BothFormsAgree) {
  RandomStream stream(11);
  DeepGp sites = RandomModel({.hidden = {2}, .outputs = 2, .sites = true}, &stream);
  for (GpLayer& layer : sites.layers) {
    for (SparseGp& gp : layer.gps) gp.theta.tail(gp.input_dim()) *= 0.5;  // well conditioned
  }
  sites.jitter = 0;
  DeepGp whitened = sites;
  for (GpLayer& layer : whitened.layers) {
    for (SparseGp& gp : layer.gps) {
      Matrix K;
      gp.kernel->Gram(gp.theta, gp.Z, &K);
      gp.posterior = ToWhitened(std::get<Sites>(gp.posterior), K, 0);
    }
  }
  const LabelledRows table = RandomRows(12, 2, 2, true, &stream);
  for (const double alpha : {0.0, 0.5, 1.0}) {
    const double F = FOf(sites, table, {.alpha = alpha});
    EXPECT_NEAR(FOf(whitened, table, {.alpha = alpha}), F, 1e-9 * std::abs(F));
  }
}

TEST(AepEnergy, FailureIsReportedNotThrown) {
  RandomStream stream(12);
  const DeepGp model = RandomModel({}, &stream);
  const LabelledRows table = RandomRows(4, 2, 1, false, &stream);
  const ThreadPool pool(1);
  const AepEnergy energy(model, table.x, table.y, {.alpha = 0.5}, pool);
  Vector parameters = Pack(model, {});
  double value = 0;
  Vector gradient;
  std::string reason;
  parameters[4] = std::nan("");
  EXPECT_FALSE(energy.Evaluate(parameters, AllRows(4), &value, &gradient, &reason));
  EXPECT_NE(reason, "");
  reason.clear();
  parameters = Pack(model, {});
  parameters.segment(3 + 8, 4).setConstant(1e300);  // the whitened mean: its square overflows
  EXPECT_FALSE(energy.Evaluate(parameters, AllRows(4), &value, &gradient, &reason));
  EXPECT_NE(reason, "");
  // And works again afterwards.
  EXPECT_TRUE(energy.Evaluate(Pack(model, {}), AllRows(4), &value, &gradient, &reason));
}

TEST(AepEnergy, NotANumberInTheTableIsNotHidden) {
  RandomStream stream(13);
  const DeepGp model = RandomModel({.hidden = {2}}, &stream);
  for (const int place : {0, 1, 2}) {
    LabelledRows table = RandomRows(4, 2, 1, place == 2, &stream);
    // A target that is not a number is missing; an infinite one is an error.
    const double bad = place == 1 ? std::numeric_limits<double>::infinity() : std::nan("");
    (place == 0 ? table.x.mean : place == 1 ? table.y : table.x.var)(0, 0) = bad;
    const ThreadPool pool(1);
    const AepEnergy energy(model, table.x, table.y, {.alpha = 0.5}, pool);
    double value = 0;
    std::string reason;
    EXPECT_FALSE(energy.Evaluate(Pack(model, {}), AllRows(4), &value, nullptr, &reason)) << place;
  }
}

TEST(AepEnergy, LargestJitterIsReported) {
  RandomStream stream(14);
  DeepGp model = RandomModel({}, &stream);
  const LabelledRows table = RandomRows(4, 2, 1, false, &stream);
  const ThreadPool pool(1);
  const AepEnergy energy(model, table.x, table.y, {.alpha = 0.5}, pool);
  EXPECT_EQ(energy.Energy(model, AllRows(4), nullptr).largest_jitter, kJitter);
  model.jitter = 0;
  model.layers[0].gps[0].Z.setZero();
  EXPECT_GT(energy.Energy(model, AllRows(4), nullptr).largest_jitter, 0);
}

TEST(AepEnergy, CoincidentPseudoInputsAndTinyNoise) {
  RandomStream stream(15);
  for (const bool sites : {false, true}) {
    DeepGp model = RandomModel({.hidden = {2}, .sites = sites}, &stream);
    for (GpLayer& layer : model.layers) {
      for (SparseGp& gp : layer.gps) gp.Z.row(2) = gp.Z.row(0);
      layer.noise_variance.setConstant(layer.noise_variance.size(), 1e-10);
    }
    model.likelihood_parameters[0] = 1e-6;
    const LabelledRows table = RandomRows(5, 2, 1, false, &stream);
    const ThreadPool pool(1);
    const AepEnergy energy(model, table.x, table.y, {.alpha = 0.5}, pool);
    double value = 0;
    Vector gradient;
    std::string reason;
    EXPECT_TRUE(energy.Evaluate(Pack(model, {}), AllRows(5), &value, &gradient, &reason)) << reason;
  }
}

TEST(AepEnergy, RefusesAnAlphaThatIsNoPower) {
  RandomStream stream(16);
  const DeepGp model = RandomModel({}, &stream);
  const LabelledRows table = RandomRows(4, 2, 1, false, &stream);
  const ThreadPool pool(1);
  for (const double alpha : {-0.5, 5.0, std::nan("")})
    EXPECT_THROW(AepEnergy(model, table.x, table.y, {.alpha = alpha}, pool), Error) << alpha;
}

}  // namespace
}  // namespace fathom
