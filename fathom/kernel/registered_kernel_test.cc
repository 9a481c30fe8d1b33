// A kernel that is not part of Fathom: its values and slopes alone make it whole.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "fathom/base/error.h"
#include "fathom/kernel/kernel.h"
#include "fathom/kernel/quadrature_projection.h"
#include "tests/support/gradient.h"
#include "tests/support/random_model.h"

namespace fathom {
namespace {

// k(x, z) = variance / (1 + |x - z|^2 / 2).
class Cauchy : public Kernel {
 public:
  explicit Cauchy(std::string name = "cauchy") : name_(std::move(name)) {}
  std::string Name() const override { return name_; }
  std::vector<Block> Blocks(Index /*input_dim*/) const override { return {{"variance", 1}}; }
  Vector InitialParameters(Index /*input_dim*/, double /*lengthscale*/) const override {
    return Vector::Ones(1);
  }
  void Cross(const Vector& theta, const Rows& X, const Matrix& Z,
             Eigen::Ref<Matrix> K) const override {
    for (Index n = 0; n < X.rows(); ++n) {
      for (Index i = 0; i < Z.rows(); ++i)
        K(n, i) = theta[0] / (1 + 0.5 * (X.row(n) - Z.row(i)).squaredNorm());
    }
  }
  void CrossBackward(const Vector& theta, const Rows& X, const Matrix& Z, const Rows& K,
                     const Rows& dK, CrossGradient gradient) const override {
    for (Index n = 0; n < X.rows(); ++n) {
      for (Index i = 0; i < Z.rows(); ++i) {
        gradient.theta[0] += dK(n, i) * K(n, i) / theta[0];
        const Eigen::RowVectorXd pull =
            -dK(n, i) * K(n, i) * K(n, i) / theta[0] * (X.row(n) - Z.row(i));
        if (gradient.X != nullptr) gradient.X->row(n) += pull;
        gradient.Z.row(i) -= pull;
      }
    }
  }
  void Diagonal(const Vector& theta, const Rows& /*X*/, Eigen::Ref<Vector> k) const override {
    k.setConstant(theta[0]);
  }
  void DiagonalBackward(const Vector& /*theta*/, const Rows& /*X*/,
                        const Eigen::Ref<const Vector>& dk, Eigen::Ref<Vector> d_theta,
                        Eigen::Ref<Matrix>* /*dX*/) const override {
    d_theta[0] += dk.sum();
  }
  Vector SlopeVariance(const Vector& theta, Index input_dim) const override {
    return Vector::Constant(input_dim, theta[0]);
  }
  Index MostUncertainInputs() const override { return QuadratureProjection::kMostUncertainInputs; }
  std::unique_ptr<Projection> NewProjection() const override {
    return std::make_unique<QuadratureProjection>(*this);
  }

 private:
  std::string name_;
};

std::string ErrorOf(const std::string& name) {
  try {
    MakeKernel(name);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(RegisteredKernel, IsMadeByItsName) {
  RegisterKernel(std::make_shared<Cauchy>());
  EXPECT_EQ(MakeKernel("cauchy")->Name(), "cauchy");
  EXPECT_EQ(MakeKernel("cauchy+linear")->Name(), "cauchy+linear_ard");
  EXPECT_NE(ErrorOf("caushy").find("spectral_mixture:3), cauchy, and sums"), std::string::npos)
      << ErrorOf("caushy");
}

TEST(RegisteredKernel, NamesOfFathomAndSumsAreRefused) {
  for (const char* name : {"se_ard", "linear", "spectral_mixture:3", "a+b", ""})
    EXPECT_THROW(RegisterKernel(std::make_shared<Cauchy>(name)), Error) << name;
}

// Among the slopes are those with respect to variances of 0, which come by differences.
TEST(RegisteredKernel, HasTheMomentsAndGradientsOfAnyOther) {
  RandomStream stream(1);
  const Cauchy kernel;
  const Vector theta = Vector::Constant(1, 1.4);
  const Matrix Z = stream.NormalMatrix(4, 2);
  const Vector a = RandomVector(4, &stream);
  const Matrix S = 0.2 * RandomSymmetric(4, &stream);
  const Vector w;
  const auto projection = kernel.NewProjection();
  projection->Prepare({theta, Z, a, S, w}, {.uncertain = true});
  AlignedBuffer tape(static_cast<std::size_t>(projection->TapeSize(1)));
  const Matrix mean = stream.NormalMatrix(1, 2);
  const Matrix var = Matrix::Zero(1, 2);
  double m = 0;
  double v = 0;
  const auto value = [&](const Vector& at) {
    projection->Forward({Matrix(at.transpose()), var}, tape.data(), &m, &v);
    return 0.7 * m - 1.3 * v;
  };
  value(mean.row(0).transpose());
  AlignedBuffer sums(static_cast<std::size_t>(projection->SumsSize()), 0.0);
  Matrix d_mean_memory = Matrix::Zero(1, 2);
  Matrix d_var_memory = Matrix::Zero(1, 2);
  Eigen::Ref<Matrix> d_mean(d_mean_memory);
  Eigen::Ref<Matrix> d_var(d_var_memory);
  const double d_m = 0.7;
  const double d_v = -1.3;
  projection->Backward({mean, var}, tape.data(), {&d_m, &d_v}, sums.data(), {&d_mean, &d_var});
  ExpectGradientMatches(value, d_mean_memory.row(0).transpose(), mean.row(0).transpose(), 1e-8);
  const auto slope_of_m = [&](Index q) {
    return NumericalSlope(
        [&](const Vector& at) {
          value(at);
          return m;
        },
        mean.row(0).transpose(), q, 1e-3);
  };
  for (Index q = 0; q < 2; ++q) {
    const auto slope = [&](const Vector& at) { return NumericalSlope(value, at, q, 1e-3); };
    const double curvature = NumericalSlope(slope, mean.row(0).transpose(), q, 1e-3);
    const double expected = 0.5 * curvature + d_v * slope_of_m(q) * slope_of_m(q);
    EXPECT_NEAR(d_var_memory(0, q), expected, 1e-6);
  }
}

}  // namespace
}  // namespace fathom
