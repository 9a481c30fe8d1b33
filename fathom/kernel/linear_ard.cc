#include "fathom/kernel/linear_ard.h"

#include <utility>

#include "fathom/base/aligned.h"
#include "fathom/base/error.h"

namespace fathom {

namespace {

using MapVector = Eigen::Map<Vector>;
using MapMatrix = Eigen::Map<Matrix>;
using ConstMapVector = Eigen::Map<const Vector>;
using ConstMapMatrix = Eigen::Map<const Matrix>;

// Certain and uncertain rows take the same few products; nothing is kept on    [linear-ard-moments]
// the tape.
// The sums are G = sum_n d_v (mu mu' + diag(s)) [D, D] and sum_n dF/dc [D].
class LinearArdProjection : public Projection {
 public:
  void Prepare(const LatentFunction& function, const ProjectionOptions& /*options*/) override {
    FATHOM_CHECK(function.theta.size() == function.Z.cols());
    D_ = function.Z.cols();
    variances_ = function.theta;
    Z_ = function.Z;
    a_ = function.a;
    LinearMoments moments(function);
    slope_ = std::move(moments.slope);
    Q_ = std::move(moments.Q);
    A_ = std::move(moments.A);
    SA_ = std::move(moments.SA);
  }

  Index TapeSize(Index /*rows*/) const override { return kSimdPadding; }
  Index SumsSize() const override { return PaddedSize(D_ * D_ + D_); }

  void Forward(const Rows& mean, const Rows& var, double* /*tape*/, double* m,
               double* v) const override {
    Vector x(D_);
    for (Index n = 0; n < mean.rows(); ++n) {
      x = mean.row(n).transpose();
      m[n] = slope_.dot(x);
      v[n] = x.dot(Q_ * x);
      for (Index q = 0; q < D_; ++q) v[n] += var(n, q) * (Q_(q, q) + slope_[q] * slope_[q]);
    }
  }

  void Backward(const Rows& mean, const Rows& var, double* /*tape*/, const double* d_m,
                const double* d_v, double* sums, Eigen::Ref<Matrix>* d_mean,
                Eigen::Ref<Matrix>* d_var) const override {
    MapMatrix G(sums, D_, D_);
    MapVector d_slope(sums + D_ * D_, D_);
    Vector x(D_);
    Vector s(D_);
    for (Index n = 0; n < mean.rows(); ++n) {
      x = mean.row(n).transpose();
      s = var.row(n).transpose();
      G.noalias() += d_v[n] * x * x.transpose();
      G.diagonal() += d_v[n] * s;
      d_slope += d_m[n] * x + 2 * d_v[n] * s.cwiseProduct(slope_);
      if (d_mean != nullptr)
        d_mean->row(n) += (d_m[n] * slope_ + 2 * d_v[n] * (Q_ * x)).transpose();
      if (d_var != nullptr && (s.array() != 0).any()) {
        d_var->row(n) += d_v[n] * (Q_.diagonal() + slope_.cwiseAbs2()).transpose();
      }
    }
  }

  void Finish(const double* sums, LatentFunctionGradient gradient) const override {
    const ConstMapMatrix G(sums, D_, D_);
    const ConstMapVector d_slope(sums + D_ * D_, D_);
    gradient.S -= A_ * G * A_.transpose();
    gradient.a += A_ * d_slope;
    const Matrix d_A = a_ * d_slope.transpose() - 2 * SA_ * G;
    gradient.Z += d_A * variances_.asDiagonal();
    gradient.theta += G.diagonal() + Z_.cwiseProduct(d_A).colwise().sum().transpose();
  }

 private:
  Index D_ = 0;
  Vector variances_, a_;
  Vector slope_;  // c + w
  Matrix Z_;
  Matrix A_;   // Z V
  Matrix SA_;  // S Z V
  Matrix Q_;
};

}  // namespace

LinearMoments::LinearMoments(const LatentFunction& function)
    : A(function.Z * function.theta.asDiagonal()), SA(function.S * A) {
  Q = -(A.transpose() * SA);
  Q.diagonal() += function.theta;
  slope = A.transpose() * function.a;
  if (function.w.size() > 0) slope += function.w;
}

std::vector<Kernel::Block> LinearArd::Blocks(Index input_dim) const {
  return {{"variances", input_dim}};
}

Vector LinearArd::InitialParameters(Index input_dim, double lengthscale) const {
  return Vector::Constant(input_dim, 1 / (lengthscale * lengthscale));
}

void LinearArd::Gram(const Vector& theta, const Matrix& Z, Matrix* K,
                     AlignedBuffer* /*scratch*/) const {
  FATHOM_CHECK(theta.size() == Z.cols());
  // The product of a matrix with its own transpose is symmetric to the last bit.
  const Matrix scaled = Z * theta.cwiseSqrt().asDiagonal();
  K->noalias() = scaled * scaled.transpose();
}

void LinearArd::GramBackward(const Vector& theta, const Matrix& Z, const Matrix& /*K*/,
                             const Matrix& dK, Vector* d_theta, Matrix* dZ,
                             AlignedBuffer* /*scratch*/) const {
  const Matrix pull = dK * Z;
  *d_theta += Z.cwiseProduct(pull).colwise().sum().transpose();
  *dZ += 2 * pull * theta.asDiagonal();
}

Vector LinearArd::SlopeVariance(const Vector& theta, Index /*input_dim*/) const { return theta; }

std::unique_ptr<Projection> LinearArd::NewProjection() const {
  return std::make_unique<LinearArdProjection>();
}

}  // namespace fathom
