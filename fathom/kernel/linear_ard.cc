#include "fathom/kernel/linear_ard.h"

#include "fathom/base/aligned.h"
#include "fathom/base/error.h"
#include "fathom/base/linalg.h"
#include "fathom/kernel/linear_ard_full_layer.h"

namespace fathom {

namespace {

// Certain and uncertain rows take the same few products; nothing is kept on    [linear-ard-moments]
// the tape.
// The sums are G = sum_n d_v (mu mu' + diag(s)) [D, D] and sum_n dF/dc [D].
class LinearArdProjection : public Projection {
 public:
  void Prepare(const LatentFunction& function, const ProjectionOptions& /*options*/) override {
    D_ = function.Z.cols();
    moments_.Prepare(function, function.theta);
  }

  Index TapeSize(Index /*rows*/) const override { return kSimdPadding; }
  Index SumsSize() const override { return PaddedSize(D_ * D_ + D_); }

  void Forward(const Input& input, double* /*tape*/, double* m, double* v) const override {
    const auto& [mean, var] = input;
    const Vector& slope = moments_.slope();
    const Matrix& Q = moments_.Q();
    const Matrix XQ = TimesQ(mean);
    for (Index n = 0; n < mean.rows(); ++n) {
      m[n] = 0;
      v[n] = 0;
      for (Index q = 0; q < D_; ++q) {
        m[n] += slope[q] * mean(n, q);
        v[n] += XQ(n, q) * mean(n, q) + var(n, q) * (Q(q, q) + slope[q] * slope[q]);
      }
    }
  }

  void Backward(const Input& input, double* /*tape*/, const Slopes& d_out, double* sums,
                const InputSlopes& d_x) const override {
    const auto& [mean, var] = input;
    const auto& [d_m, d_v] = d_out;
    const Vector& slope = moments_.slope();
    const Matrix& Q = moments_.Q();
    const Matrix XQ = TimesQ(mean);
    double* const G = sums;
    double* const d_slope = sums + D_ * D_;
    for (Index n = 0; n < mean.rows(); ++n) {
      for (Index q = 0; q < D_; ++q) {
        for (Index p = 0; p < D_; ++p) G[q * D_ + p] += d_v[n] * mean(n, q) * mean(n, p);
        G[q * D_ + q] += d_v[n] * var(n, q);
        d_slope[q] += d_m[n] * mean(n, q) + 2 * d_v[n] * var(n, q) * slope[q];
        if (d_x.mean != nullptr) (*d_x.mean)(n, q) += d_m[n] * slope[q] + 2 * d_v[n] * XQ(n, q);
        if (d_x.var != nullptr) (*d_x.var)(n, q) += d_v[n] * (Q(q, q) + slope[q] * slope[q]);
      }
    }
  }

  void Finish(const double* sums, LatentFunctionGradient gradient) const override {
    moments_.Backward(Eigen::Map<const Vector>(sums + D_ * D_, D_),
                      Eigen::Map<const Matrix>(sums, D_, D_), nullptr, gradient.theta, &gradient);
  }

 private:
  // X Q, a row by itself: its bits do not depend on the rows beside it.
  Matrix TimesQ(const Rows& X) const {
    const Matrix& Q = moments_.Q();
    Matrix XQ(X.rows(), D_);
    for (Index n = 0; n < X.rows(); ++n) {
      for (Index q = 0; q < D_; ++q) XQ(n, q) = Q.row(q).dot(X.row(n));
    }
    return XQ;
  }

  Index D_ = 0;
  LinearMoments moments_;
};

}  // namespace

void LinearMoments::Prepare(const LatentFunction& function,
                            const Eigen::Ref<const Vector>& variances) {
  FATHOM_CHECK(variances.size() == function.Z.cols());
  variances_ = variances;
  Z_ = function.Z;
  a_ = function.a;
  S_ = function.S;
  A_ = Z_ * variances_.asDiagonal();
  SA_ = Product({S_}, {A_});
  Q_ = -Product(Transposed(A_), {SA_});
  Q_.diagonal() += variances_;
  slope_ = A_.transpose() * a_;
  if (function.w.size() > 0) slope_ += function.w;
}

void LinearMoments::Backward(const Vector& d_slope, const Matrix& dQ, const Matrix* dSA,
                             Eigen::Ref<Vector> d_variances,
                             LatentFunctionGradient* gradient) const {
  const Factor A_transposed = Transposed(A_);
  const Matrix G = Symmetrized(dQ);
  Matrix dA = a_ * d_slope.transpose() - 2 * Product({SA_}, {G});
  gradient->S -= Product({Product({A_}, {G})}, A_transposed);
  if (dSA != nullptr) {
    gradient->S += Symmetrized(Product({*dSA}, A_transposed));
    dA += Product({S_}, {*dSA});
  }
  gradient->a += A_ * d_slope;
  gradient->Z += dA * variances_.asDiagonal();
  d_variances += G.diagonal() + Z_.cwiseProduct(dA).colwise().sum().transpose();
}

std::vector<Kernel::Block> LinearArd::Blocks(Index input_dim) const {
  return {{"variances", input_dim}};
}

Vector LinearArd::InitialParameters(Index input_dim, double lengthscale) const {
  return Vector::Constant(input_dim, 1 / (lengthscale * lengthscale));
}

void LinearArd::Cross(const Vector& theta, const Rows& X, const Matrix& Z,
                      Eigen::Ref<Matrix> K) const {
  FATHOM_CHECK(theta.size() == Z.cols());
  // Lazy, that is, entry by entry: a row's bits do not depend on the rows beside it.
  const Vector root = theta.cwiseSqrt();
  K.noalias() = (X * root.asDiagonal()).lazyProduct((Z * root.asDiagonal()).transpose());
}

void LinearArd::CrossBackward(const Vector& theta, const Rows& X, const Matrix& Z,
                              const Rows& /*K*/, const Rows& dK, CrossGradient gradient) const {
  Matrix pull(X.rows(), Z.cols());
  SetProduct(dK, Z, pull);
  gradient.theta += X.cwiseProduct(pull).colwise().sum().transpose();
  if (gradient.X != nullptr) *gradient.X += pull * theta.asDiagonal();
  Matrix push(Z.rows(), Z.cols());
  SetTransposedTimes(dK, X, push);
  gradient.Z += push * theta.asDiagonal();
}

void LinearArd::CrossAlong(const Vector& theta, const Rows& X, const Matrix& Z, Index input,
                           Along* out) const {
  out->first = (theta[input] * Z.col(input)).transpose().replicate(X.rows(), 1);
  out->second.setZero(X.rows(), Z.rows());
  out->diagonal_second.setConstant(X.rows(), 2 * theta[input]);
}

void LinearArd::Diagonal(const Vector& theta, const Rows& X, Eigen::Ref<Vector> k) const {
  k = X.cwiseAbs2().lazyProduct(theta);
}

void LinearArd::DiagonalBackward(const Vector& theta, const Rows& X,
                                 const Eigen::Ref<const Vector>& dk, Eigen::Ref<Vector> d_theta,
                                 Eigen::Ref<Matrix>* dX) const {
  d_theta += X.cwiseAbs2().transpose() * dk;
  if (dX != nullptr) *dX += 2 * dk.asDiagonal() * X * theta.asDiagonal();
}

Vector LinearArd::SlopeVariance(const Vector& theta, Index /*input_dim*/) const { return theta; }

std::unique_ptr<Projection> LinearArd::NewProjection() const {
  return std::make_unique<LinearArdProjection>();
}

std::unique_ptr<FullLayer> LinearArd::NewFullLayer() const {
  return std::make_unique<LinearArdFullLayer>();
}

}  // namespace fathom
