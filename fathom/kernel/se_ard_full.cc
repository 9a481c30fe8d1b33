#include "fathom/kernel/se_ard_full.h"

#include <algorithm>
#include <cmath>

#include "fathom/base/aligned.h"
#include "fathom/base/error.h"
#include "fathom/base/linalg.h"
#include "fathom/kernel/se_ard_loops.h"

namespace fathom::se_ard {

Bumps Bumps::ZeroLike() const {
  return {Vector::Zero(C.size()), Matrix::Zero(centres.rows(), centres.cols()),
          Vector::Zero(weights.size())};
}

BumpsSums::BumpsSums(Bumps* in)
    : C(in->C.data(), in->C.size()),
      centres(in->centres.data(), in->centres.rows(), in->centres.cols()),
      weights(in->weights.data(), in->weights.size()) {}

BumpsSums::BumpsSums(const Bumps& shape, double* memory)
    : C(memory, shape.C.size()),
      centres(C.data() + C.size(), shape.centres.rows(), shape.centres.cols()),
      weights(centres.data() + centres.size(), shape.weights.size()) {}

namespace {

// So many bumps at a time, for their exponentials and offsets to stay in the first cache.
constexpr Index kBlock = 128;

// One row's share of the work: U = chol(C + Sigma)^-1. With whitened offsets y_p = U (c_p - mu) the
// exponent is -1/2 |y_p|^2, sums over bumps are plain, and U enters once more at the end.
class Blur {
 public:
  Blur(const Bumps& bumps, const Input& x)
      : bumps_(bumps), mu_(x.mu), U_(x.Sigma), origin_(Vector::Zero(x.mu.size())) {
    FATHOM_CHECK(U_.rows() == bumps.C.size() && U_.cols() == bumps.C.size());
    FATHOM_CHECK(mu_.size() == bumps.C.size());
    U_.diagonal() += bumps.C;
    if (!CholeskyInPlace(&U_)) {
      throw NumericalError("the covariance of an input is not positive semidefinite");
    }
    log_scale_ = std::log((bumps.C.array().sqrt() / U_.diagonal().array()).prod());
    InvertLowerInPlace(&U_);
    y_.resize(static_cast<std::size_t>(mu_.size() * kBlock));
    e_.resize(static_cast<std::size_t>(kBlock));
  }

  const Matrix& U() const { return U_; }

  // Moves to the bumps [start, start + size()).
  void MoveTo(Index start) {
    size_ = std::min(kBlock, bumps_.weights.size() - start);
    auto y = Y();
    for (Index q = 0; q < mu_.size(); ++q) {
      y.row(q).setZero();
      for (Index r = 0; r <= q; ++r) {
        y.row(q).array() +=
            U_(q, r) * (bumps_.centres.row(r).segment(start, size_).array() - mu_[r]);
      }
    }
    GaussianRows(
        {1, mu_.size(), size_, &log_scale_, origin_.data(), nullptr, y_.data(), e_.data()});
  }
  Index size() const { return size_; }
  // Whitened offsets [D, size].
  Eigen::Map<Matrix, 0, Eigen::OuterStride<>> Y() {
    return {y_.data(), mu_.size(), size_, Eigen::OuterStride<>(PaddedSize(size_))};
  }
  // Expectations of the bumps [size].
  Eigen::Map<Vector> E() { return {e_.data(), size_}; }

 private:
  const Bumps& bumps_;
  const Vector mu_;
  Matrix U_;
  const Vector origin_;
  double log_scale_ = 0;  // of |C|^1/2 |C + Sigma|^-1/2
  Index size_ = 0;
  AlignedBuffer y_;
  AlignedBuffer e_;
};

}  // namespace

double ExpectedSum(const Bumps& bumps, const Input& x, Vector* slope) {
  Blur blur(bumps, x);
  double value = 0;
  Vector sum_ey = Vector::Zero(x.mu.size());
  for (Index start = 0; start < bumps.weights.size(); start += kBlock) {
    blur.MoveTo(start);
    const auto weights = bumps.weights.segment(start, blur.size());
    value += weights.dot(blur.E());
    if (slope != nullptr) sum_ey.noalias() += blur.Y() * weights.cwiseProduct(blur.E());
  }
  if (slope != nullptr) *slope = blur.U().transpose() * sum_ey;
  return value;
}

// Let e_p = weights_p E bump_p. Since d log e_p / d mu = U'y_p, the slope is sum_p e_p U'y_p, and
// with h = U dF/dslope:  dF/de_p = d_value + h'y_p.  Let t_p = e_p dF/de_p. Whitened gradients:
//   mu:         sum_p t_p y_p - e_p h
//   c_p:        e_p h - t_p y_p
//   C + Sigma:  1/2 sum_p [t_p (y_p y_p' - I) - e_p (h y_p' + y_p h')].
void ExpectedSumBackward(const Bumps& bumps, const Input& x, const SumGradient& d_sum,
                         BumpsSums d_bumps, InputGradient d_x) {
  Blur blur(bumps, x);
  const Matrix& U = blur.U();
  const Index D = x.mu.size();
  const Vector* const d_slope = d_sum.slope;
  double sum_t = 0;
  Vector pull_mu = Vector::Zero(D);
  Matrix pull_A = Matrix::Zero(D, D);
  Vector h;
  if (d_slope != nullptr) h = U * *d_slope;
  Vector t(kBlock);
  Matrix pull(D, kBlock);  // whitened -dF/dc_p
  for (Index start = 0; start < bumps.weights.size(); start += kBlock) {
    blur.MoveTo(start);
    const auto Y = blur.Y();
    auto e = blur.E();
    t.setConstant(blur.size(), d_sum.value);
    if (d_slope != nullptr) t += Y.transpose() * h;
    d_bumps.weights.segment(start, blur.size()) += t.cwiseProduct(e);
    e.array() *= bumps.weights.segment(start, blur.size()).array();
    t.array() *= e.array();
    sum_t += t.sum();
    pull.resize(D, blur.size());
    for (Index q = 0; q < D; ++q) {
      pull.row(q) = Y.row(q).cwiseProduct(t.transpose());
      for (Index r = 0; r <= q; ++r) pull_A(q, r) += pull.row(q).dot(Y.row(r));
    }
    if (d_slope != nullptr) {
      const Vector ey = Y * e;
      for (Index q = 0; q < D; ++q) {
        for (Index r = 0; r <= q; ++r) pull_A(q, r) -= h[q] * ey[r] + ey[q] * h[r];
      }
      pull.noalias() -= h * e.transpose();
    }
    pull_mu += pull.rowwise().sum();
    for (Index q = 0; q < D; ++q) {
      for (Index r = 0; r <= q; ++r) {
        d_bumps.centres.row(r).segment(start, blur.size()) -= U(q, r) * pull.row(q);
      }
    }
  }
  d_x.mu += U.transpose() * pull_mu;
  pull_A.diagonal().array() -= sum_t;
  MirrorLower(&pull_A);
  const Matrix left = Product(Transposed(U), {pull_A});
  const Matrix dA = 0.5 * Symmetrized(Product({left}, {U}));
  d_x.Sigma += dA;
  d_bumps.C.array() += dA.diagonal().array() + 0.5 * sum_t / bumps.C.array();  // and |C|^1/2
}

Bumps Psi1Bumps(const Points& points, const Vector& a) {
  FATHOM_CHECK(points.theta.size() == points.Z.cols() + 1 && a.size() == points.Z.rows());
  return {points.theta.tail(points.Z.cols()).array().square(), points.Z.transpose(),
          points.theta[0] * a};
}

void Psi1BumpsBackward(const Points& points, const Vector& a, const Bumps& d_bumps,
                       PointsGradient d_points, Vector* d_a) {
  const Index D = points.Z.cols();
  d_points.theta[0] += a.dot(d_bumps.weights);
  d_points.theta.tail(D).array() += 2 * points.theta.tail(D).array() * d_bumps.C.array();
  d_points.Z += d_bumps.centres.transpose();
  *d_a += points.theta[0] * d_bumps.weights;
}

namespace {

// What all pairs of two kernels share; names as at the head of the header.
struct Pairing {
  Pairing(const Points& first, const Points& second)
      : D(first.Z.cols()),
        height(first.theta[0] * second.theta[0]),
        inverse((first.theta.tail(D).array().square() + second.theta.tail(D).array().square())
                    .inverse()),
        r(second.theta.tail(D).array().square() * inverse) {}
  Index D;
  double height;           // variance1 variance2
  Eigen::ArrayXd inverse;  // [D]  1 / (l1^2 + l2^2)
  Eigen::ArrayXd r;        // [D]  the first point's share of the centre
};

// `same`: both sides are one function, so that pairs j <= i are enough: a bump stands for (i, j)
// and (j, i).
Index PairCount(Index rows, Index cols, bool same) {
  return same ? rows * (rows + 1) / 2 : rows * cols;
}

double PairWeight(const Matrix& W, Index i, Index j, bool same) {
  return same && i != j ? W(i, j) + W(j, i) : W(i, j);
}

Bumps PairBumps(const Points& first, const Points& second, const Matrix& W, bool same) {
  FATHOM_CHECK(first.Z.cols() == second.Z.cols());
  FATHOM_CHECK(first.theta.size() == first.Z.cols() + 1 &&
               second.theta.size() == first.theta.size());
  FATHOM_CHECK(W.rows() == first.Z.rows() && W.cols() == second.Z.rows());
  const Pairing pairing(first, second);
  const Index P = PairCount(W.rows(), W.cols(), same);
  Bumps bumps{pairing.r * first.theta.tail(pairing.D).array().square(), Matrix(pairing.D, P),
              Vector(P)};
  Eigen::ArrayXd difference(pairing.D);
  Index p = 0;
  for (Index i = 0; i < W.rows(); ++i) {
    for (Index j = 0; j < (same ? i + 1 : W.cols()); ++j, ++p) {
      difference = (first.Z.row(i) - second.Z.row(j)).transpose();
      bumps.centres.col(p) = second.Z.row(j).transpose() + (pairing.r * difference).matrix();
      bumps.weights[p] = PairWeight(W, i, j, same) * pairing.height *
                         std::exp(-0.5 * (difference.square() * pairing.inverse).sum());
    }
  }
  return bumps;
}

void PairBumpsBackward(const Points& first, const Points& second, const Bumps& bumps,
                       const Bumps& d_bumps, bool same, CrossPsi2Gradient gradient) {
  auto& [d_first, d_second, dW] = gradient;
  const Pairing pairing(first, second);
  const Index D = pairing.D;
  double sum_t = 0;  // t = dF / d log decay
  Eigen::ArrayXd d_inverse = Eigen::ArrayXd::Zero(D);
  Eigen::ArrayXd d_r = Eigen::ArrayXd::Zero(D);
  Eigen::ArrayXd difference(D);
  Eigen::ArrayXd d_centre(D);
  Eigen::ArrayXd pull(D);
  Index p = 0;
  for (Index i = 0; i < first.Z.rows(); ++i) {
    for (Index j = 0; j < (same ? i + 1 : second.Z.rows()); ++j, ++p) {
      difference = (first.Z.row(i) - second.Z.row(j)).transpose();
      d_centre = d_bumps.centres.col(p);
      // The weight may be zero, so the decay is not weight / W.
      const double d_weight = d_bumps.weights[p] * pairing.height *
                              std::exp(-0.5 * (difference.square() * pairing.inverse).sum());
      dW(i, j) += d_weight;
      if (same && i != j) dW(j, i) += d_weight;
      const double t = d_bumps.weights[p] * bumps.weights[p];
      sum_t += t;
      d_inverse -= 0.5 * t * difference.square();
      d_r += d_centre * difference;
      pull = pairing.r * d_centre - t * pairing.inverse * difference;
      d_first.Z.row(i) += pull.matrix().transpose();
      d_second.Z.row(j) += (d_centre - pull).matrix().transpose();
    }
  }
  d_first.theta[0] += sum_t / first.theta[0];
  d_second.theta[0] += sum_t / second.theta[0];
  // C = r l1^2 and r = l2^2 inverse, so
  //   dC = r^2 d(l1^2) + (1 - r)^2 d(l2^2),   dr = inverse ((1 - r) d(l2^2) - r d(l1^2)).
  const Eigen::ArrayXd q = 1 - pairing.r;
  const Eigen::ArrayXd both = -pairing.inverse.square() * d_inverse;
  const Eigen::ArrayXd turn = pairing.inverse * d_r;
  d_first.theta.tail(D).array() +=
      2 * first.theta.tail(D).array() *
      (pairing.r.square() * d_bumps.C.array() - pairing.r * turn + both);
  d_second.theta.tail(D).array() +=
      2 * second.theta.tail(D).array() * (q.square() * d_bumps.C.array() + q * turn + both);
}

}  // namespace

Bumps CrossPsi2Bumps(const Points& first, const Points& second, const Matrix& W) {
  return PairBumps(first, second, W, false);
}

void CrossPsi2BumpsBackward(const Points& first, const Points& second, const Bumps& bumps,
                            const Bumps& d_bumps, CrossPsi2Gradient gradient) {
  PairBumpsBackward(first, second, bumps, d_bumps, false, gradient);
}

Bumps Psi2Bumps(const Points& points, const Matrix& B) {
  return PairBumps(points, points, B, true);
}

void Psi2BumpsBackward(const Points& points, const Bumps& bumps, const Bumps& d_bumps,
                       PointsGradient d_points, Matrix* dB) {
  PairBumpsBackward(points, points, bumps, d_bumps, true, {d_points, d_points, *dB});
}

}  // namespace fathom::se_ard
