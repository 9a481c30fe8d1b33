#include "bnn/mlp.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fathom/base/error.h"
#include "tests/support/gradient.h"

namespace fathom::bnn {
namespace {

struct Network {
  MlpShape shape;
  Vector w;
  Matrix X;
};

Network RandomNetwork(const std::vector<Index>& hidden, Activation activation, Index rows) {
  RandomStream stream(7);
  const MlpShape shape(3, hidden, activation);
  const Vector w = DrawWeights(Vector::Constant(shape.num_weights(), 0.5), &stream);
  return {shape, w, stream.NormalMatrix(rows, 3)};
}

// The network row by row and unit by unit.
double Output(const Network& network, const Vector& w, const Vector& x) {
  std::vector<double> h(x.begin(), x.end());
  for (Index l = 0; l < network.shape.num_layers(); ++l) {
    const auto W = network.shape.Layer(w, l);
    std::vector<double> a;
    for (Index j = 0; j < W.rows(); ++j) {
      a.push_back(W(j, W.cols() - 1));
      for (std::size_t i = 0; i < h.size(); ++i) a.back() += W(j, i) * h[i];
      if (l + 1 < network.shape.num_layers())
        a.back() = network.shape.activation() == Activation::kTanh ? std::tanh(a.back())
                                                                   : std::max(a.back(), 0.0);
    }
    h = a;
  }
  return h[0];
}

class MlpOf : public testing::TestWithParam<std::tuple<std::vector<Index>, Activation>> {
 protected:
  Network Make(Index rows) const {
    return RandomNetwork(std::get<0>(GetParam()), std::get<1>(GetParam()), rows);
  }
};

INSTANTIATE_TEST_SUITE_P(
    Shapes, MlpOf,
    testing::Combine(testing::Values(std::vector<Index>{}, std::vector<Index>{1},
                                     std::vector<Index>{5}, std::vector<Index>{4, 2, 3}),
                     testing::Values(Activation::kRelu, Activation::kTanh)));

TEST_P(MlpOf, OutputsAreThoseOfPlainLoops) {
  const Network network = Make(5);
  const Vector f = MlpOutputs({network.shape, network.w}, network.X);
  for (Index n = 0; n < 5; ++n)
    EXPECT_NEAR(f[n], Output(network, network.w, network.X.row(n)), 1e-13);
}

TEST_P(MlpOf, GradientMatchesDifferences) {
  const Network network = Make(4);
  const Vector d_f = (Vector(4) << 1.0, -0.5, 2.0, 0.3).finished();
  MlpTape tape;
  MlpForward({network.shape, network.w}, network.X, &tape);
  Vector gradient = Vector::Zero(network.w.size());
  MlpBackward({network.shape, network.w}, d_f, &tape, &gradient);
  ExpectGradientMatches(
      [&](const Vector& w) {
        return d_f.dot(MlpOutputs({network.shape, w}, network.X));
      },
      gradient, network.w, 1e-8, nullptr, 1e-5);
}

TEST_P(MlpOf, SquaredSumsAreThoseOfSingleRows) {
  const Network network = Make(6);
  const Vector d_f = Vector::LinSpaced(6, -1, 2);
  MlpTape tape;
  MlpForward({network.shape, network.w}, network.X, &tape);
  Vector gradient = Vector::Zero(network.w.size());
  Vector squares = gradient;
  MlpBackwardSquared({network.shape, network.w}, d_f, &tape, &gradient, &squares);
  Vector sum = Vector::Zero(network.w.size());
  Vector expected = sum;
  for (Index n = 0; n < 6; ++n) {
    Vector of_row = Vector::Zero(network.w.size());
    MlpForward({network.shape, network.w}, network.X.middleRows(n, 1), &tape);
    MlpBackward({network.shape, network.w}, d_f.segment(n, 1), &tape, &of_row);
    sum += of_row;
    expected += of_row.cwiseAbs2();
  }
  EXPECT_LT((gradient - sum).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((squares - expected).cwiseAbs().maxCoeff(), 1e-11);
}

TEST_P(MlpOf, GradientWithFactorsMatchesDifferences) {
  const Network network = Make(4);
  RandomStream stream(3);
  InputFactors factors;
  for (Index l = 0; l < network.shape.num_layers(); ++l) {
    factors.emplace_back(4, network.shape.fan_in(l));
    for (double& factor : factors.back().reshaped()) factor = stream.Uniform() < 0.4 ? 0 : 1.25;
  }
  MlpTape tape;
  const auto sum = [&](const Vector& w) {
    MlpForward({network.shape, w}, network.X, &tape, &factors);
    return tape.f.sum();
  };
  sum(network.w);
  Vector gradient = Vector::Zero(network.w.size());
  MlpBackward({network.shape, network.w}, Vector::Ones(4), &tape, &gradient, &factors);
  ExpectGradientMatches(sum, gradient, network.w, 1e-8, nullptr, 1e-5);
}

TEST(Mlp, BitsOfARowDoNotDependOnTheRowsBesideIt) {
  const Network network = RandomNetwork({50, 50}, Activation::kRelu, 150);
  const Vector all = MlpOutputs({network.shape, network.w}, network.X);
  for (const Index chunk : {1, 7, 64, 149}) {
    for (Index first = 0; first < 150; first += chunk) {
      const Index rows = std::min<Index>(chunk, 150 - first);
      const Vector part = MlpOutputs({network.shape, network.w}, network.X.middleRows(first, rows));
      EXPECT_EQ(part, all.segment(first, rows)) << "chunks of " << chunk << ", row " << first;
    }
  }
}

TEST(Mlp, GroupsAreWeightsAndBiasesOfEachLayer) {
  const MlpShape shape(2, {3}, Activation::kRelu);
  const Vector groups = (Vector(4) << 1, 2, 3, 4).finished();
  const Vector spread = shape.SpreadGroups(groups);
  EXPECT_EQ(spread.size(), 3 * 3 + 4);
  EXPECT_EQ(spread[2], 2);   // the bias of the first unit
  EXPECT_EQ(spread[9], 3);   // the first weight of the output
  EXPECT_EQ(spread[12], 4);  // its bias
  EXPECT_EQ(shape.GroupSizes(), (Vector(4) << 6, 3, 3, 1).finished());
  EXPECT_EQ(shape.SumGroups(spread), groups.cwiseProduct(shape.GroupSizes()));
}

TEST(Mlp, ReluHasSlopeZeroAtZero) {
  const MlpShape shape(1, {1}, Activation::kRelu);
  const Vector w = (Vector(4) << 1, 0, 1, 0).finished();
  MlpTape tape;
  MlpForward({shape, w}, Matrix::Zero(1, 1), &tape);
  Vector gradient = Vector::Zero(4);
  MlpBackward({shape, w}, Vector::Ones(1), &tape, &gradient);
  EXPECT_EQ(gradient, (Vector(4) << 0, 0, 0, 1).finished());
}

TEST(Mlp, EmptyLayersAreRefused) {
  EXPECT_THROW(MlpShape(0, {3}, Activation::kRelu), Error);
  EXPECT_THROW(MlpShape(2, {3, 0}, Activation::kRelu), Error);
}

}  // namespace
}  // namespace fathom::bnn
