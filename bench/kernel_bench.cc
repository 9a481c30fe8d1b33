// The two kinds of rows of the SE-ARD kernel: certain inputs (matrix products) and uncertain ones
// (psi1 and psi2).
#include <memory>
#include <string>

#include "bench/harness.h"
#include "bench/work.h"
#include "fathom/base/aligned.h"
#include "fathom/base/random.h"
#include "fathom/inference/log_z.h"
#include "fathom/kernel/se_ard.h"
#include "fathom/kernel/se_ard_loops.h"

namespace fathom::bench {

namespace {

// One latent function and a tile of rows; Run is forward and backward as a training step does it.
class Layer {
 public:
  // The first `uncertain` of D inputs have a variance.
  Layer(Index D, Index uncertain, Index M, Index rows, Precision precision)
      : projection_(SeArd().NewProjection()), is_hidden_(uncertain == D), x_(rows, D) {
    RandomStream stream(1);
    x_.mean = stream.NormalMatrix(rows, D);
    x_.var.leftCols(uncertain).setConstant(0.1);
    x_.var.rightCols(D - uncertain).setZero();
    const Vector theta = Vector::Constant(D + 1, 1.0);
    const Matrix Z = stream.NormalMatrix(M, D);
    const Vector a = stream.NormalMatrix(M, 1);
    const Matrix root = stream.NormalMatrix(M, M);
    const Matrix S = root * root.transpose() / static_cast<double>(M * M);
    projection_->Prepare({theta, Z, a, S, Vector()},
                         {.uncertain = uncertain > 0, .precision = precision});
    tape_.resize(static_cast<std::size_t>(projection_->TapeSize(rows)));
    sums_.resize(static_cast<std::size_t>(projection_->SumsSize()));
    m_.resize(rows);
    v_.resize(rows);
    d_x_.SetZero(rows, D);
  }

  void Run() {
    projection_->Forward({x_.mean, x_.var}, tape_.data(), m_.data(), v_.data());
    m_.setConstant(0.5);
    v_.setConstant(-0.25);
    Eigen::Ref<Matrix> d_mean(d_x_.mean);
    Eigen::Ref<Matrix> d_var(d_x_.var);
    projection_->Backward({x_.mean, x_.var}, tape_.data(), {m_.data(), v_.data()}, sums_.data(),
                          {is_hidden_ ? &d_mean : nullptr, is_hidden_ ? &d_var : nullptr});
  }

 private:
  std::unique_ptr<Projection> projection_;
  bool is_hidden_;  // the first layer has nothing below it
  Moments x_, d_x_;
  AlignedBuffer tape_, sums_;
  Vector m_, v_;
};

// Each row of a tile has all pairs of pseudo-points.
double PairsOfTile(Index M) {
  const Index pairs = M * (M + 1) / 2;
  return static_cast<double>(kTileRows * pairs);
}

Case Psi2Case(Index Q, Index M, Precision precision) {
  auto layer = std::make_shared<Layer>(Q, Q, M, kTileRows, precision);
  return {[layer] { layer->Run(); }, static_cast<double>(kTileRows) * UncertainRow(Q, M, true),
          PairsOfTile(M)};
}

Case MissingCellsCase(Index D, Index uncertain, Index M) {
  auto layer = std::make_shared<Layer>(D, uncertain, M, kTileRows, Precision::kDouble);
  return {[layer] { layer->Run(); },
          static_cast<double>(kTileRows) * FactoredRow(D, uncertain, M, true), PairsOfTile(M)};
}

Case FirstLayerCase(Index D, Index M) {
  auto layer = std::make_shared<Layer>(D, 0, M, kChunkRows, Precision::kDouble);
  return {[layer] { layer->Run(); }, static_cast<double>(kChunkRows) * CertainRow(D, M, true),
          static_cast<double>(kChunkRows)};
}

// The loops over pairs alone, without psi1 and what surrounds them.
template <typename T>
struct PairLoops {
  PairLoops(Index Q_in, Index M)
      : Q(Q_in),
        pairs((M * (M + 1) / 2 + se_ard::kPairPadding - 1) / se_ard::kPairPadding *
              se_ard::kPairPadding),
        features(kTileRows * (2 * Q + 1), static_cast<T>(-0.1)),
        weights(pairs, static_cast<T>(0.5)),
        midpoints(Q * pairs, static_cast<T>(0.3)),
        E(kTileRows * pairs),
        sums(kTileRows * (2 * Q + 1)),
        pair_sums((2 * Q + 1) * pairs) {}
  void Forward() {
    se_ard::PairForward(se_ard::PairTile<T>{kTileRows, Q, pairs, features.data(), weights.data(),
                                            midpoints.data(), E.data(), sums.data()});
  }
  void Backward() {
    se_ard::PairBackward(kTileRows, 2 * Q + 1, pairs, features.data(), E.data(), pair_sums.data());
  }
  Index Q, pairs;
  AlignedVector<T> features, weights, midpoints, E;
  AlignedBuffer sums, pair_sums;
};

template <typename T>
Case PairForwardCase(Index Q, Index M) {
  auto loops = std::make_shared<PairLoops<T>>(Q, M);
  const double count = PairsOfTile(M);
  return {[loops] { loops->Forward(); },
          {.exps = count, .flops = 2 * count * static_cast<double>(4 * Q + 2)},
          count};
}

template <typename T>
Case PairBackwardCase(Index Q, Index M) {
  auto loops = std::make_shared<PairLoops<T>>(Q, M);
  loops->Forward();
  const double count = PairsOfTile(M);
  return {
      [loops] { loops->Backward(); }, {.flops = 2 * count * static_cast<double>(2 * Q + 1)}, count};
}

}  // namespace

void RegisterKernelBenchmarks() {
  for (const Index Q : {1, 2, 3, 5}) {
    const std::string q = "_q" + std::to_string(Q);
    for (const Index M : {50, 100, 200}) {
      const std::string name = "psi2" + q + "_m" + std::to_string(M);
      Register(name + "_double", [=] { return Psi2Case(Q, M, Precision::kDouble); });
      Register(name + "_mixed", [=] { return Psi2Case(Q, M, Precision::kMixed); });
    }
    Register("pair_forward" + q + "_m100_double", [=] { return PairForwardCase<double>(Q, 100); });
    Register("pair_forward" + q + "_m100_mixed", [=] { return PairForwardCase<float>(Q, 100); });
    Register("pair_backward" + q + "_m100_double",
             [=] { return PairBackwardCase<double>(Q, 100); });
    Register("pair_backward" + q + "_m100_mixed", [=] { return PairBackwardCase<float>(Q, 100); });
  }
  for (const Index missing : {1, 4, 15}) {
    Register("missing_d30_of_" + std::to_string(missing) + "_m100",
             [=] { return MissingCellsCase(30, missing, 100); });
  }
  for (const Index D : {8, 90}) {
    for (const Index M : {50, 100, 200}) {
      Register("first_layer_d" + std::to_string(D) + "_m" + std::to_string(M),
               [=] { return FirstLayerCase(D, M); });
    }
  }
}

}  // namespace fathom::bench
