// Every kernel that the tests run over, and latent functions under them.
#ifndef FATHOM_TESTS_SUPPORT_EVERY_KERNEL_H_
#define FATHOM_TESTS_SUPPORT_EVERY_KERNEL_H_

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "fathom/base/aligned.h"
#include "fathom/kernel/kernel.h"
#include "tests/support/random_model.h"

namespace fathom {

using RowVector = Eigen::RowVectorXd;

inline double SeArdValue(const Vector& theta, const RowVector& x, const RowVector& y) {
  const RowVector scaled = (x - y).cwiseQuotient(theta.tail(x.size()).transpose());
  return theta[0] * std::exp(-0.5 * scaled.squaredNorm());
}

inline double LinearArdValue(const Vector& theta, const RowVector& x, const RowVector& y) {
  return x.cwiseProduct(y).dot(theta.transpose());
}

inline double SpectralMixtureValue(const Vector& theta, const RowVector& x, const RowVector& y) {
  const double pi = std::acos(-1.0);
  const Index D = x.size();
  const Index Q = theta.size() / (1 + 2 * D);
  double sum = 0;
  for (Index q = 0; q < Q; ++q) {
    double product = theta[q];
    for (Index d = 0; d < D; ++d) {
      const double t = x[d] - y[d];
      product *= std::cos(2 * pi * theta[Q + q * D + d] * t) *
                 std::exp(-2 * pi * pi * theta[Q + Q * D + q * D + d] * t * t);
    }
    sum += product;
  }
  return sum;
}

inline double Matern32Value(const Vector& theta, const RowVector& x, const RowVector& y) {
  const double r = std::sqrt(3.0) * (x - y).cwiseQuotient(theta.tail(x.size()).transpose()).norm();
  return theta[0] * (1 + r) * std::exp(-r);
}

inline double Matern52Value(const Vector& theta, const RowVector& x, const RowVector& y) {
  const double r = std::sqrt(5.0) * (x - y).cwiseQuotient(theta.tail(x.size()).transpose()).norm();
  return theta[0] * (1 + r + r * r / 3) * std::exp(-r);
}

// The first with the linear kernel, whose variances come last.
template <auto first>
double PlusLinear(const Vector& theta, const RowVector& x, const RowVector& y) {
  return first(theta.head(theta.size() - x.size()), x, y) +
         LinearArdValue(theta.tail(x.size()), x, y);
}

struct KernelCase {
  std::string name;
  double (*value)(const Vector& theta, const RowVector& x, const RowVector& y);  // its definition
  bool decays = true;  // k(x, z) tends to 0 as x goes away from z
  // Error of the moments under uncertain inputs, for functions of order 1; 0: closed forms, exact.
  double quadrature_error = 0;

  bool closed() const { return quadrature_error == 0; }
};

// A new kernel adds one line.
inline const std::vector<KernelCase> kKernels = {
    {"se_ard", SeArdValue},
    {"linear_ard", LinearArdValue, false},
    {"se_ard+linear_ard", PlusLinear<SeArdValue>, false},
    {"matern32", Matern32Value, true, 3e-2},
    {"matern52", Matern52Value, true, 1e-2},
    {"matern52+linear_ard", PlusLinear<Matern52Value>, false, 1e-2},
    {"spectral_mixture", SpectralMixtureValue},
    {"spectral_mixture:1", SpectralMixtureValue},
    {"spectral_mixture:3", SpectralMixtureValue},
};

// A latent function whose values are of order 1.
struct Function {
  Vector theta;
  Matrix Z;
  Vector a;
  Matrix S;
  Vector w;

  LatentFunction View() const { return {theta, Z, a, S, w}; }
};

inline Function RandomFunction(const Kernel& kernel, Index M, Index D, bool linear,
                               RandomStream* stream) {
  Function f;
  f.theta = RandomPositive(kernel.NumParameters(D), 1.3, stream)
                .cwiseProduct(kernel.InitialParameters(D, 1));
  f.Z = 1.2 * stream->NormalMatrix(M, D);
  f.a = RandomVector(M, stream);
  f.S = 0.2 * RandomSymmetric(M, stream);
  if (linear) f.w = RandomVector(D, stream);
  return f;
}

struct Output {
  Vector m, v;
};

inline Output Project(const Kernel& kernel, const Function& f, const Moments& x,
                      bool uncertain = true) {
  const std::unique_ptr<Projection> projection = kernel.NewProjection();
  projection->Prepare(f.View(), {.uncertain = uncertain});
  AlignedBuffer tape(static_cast<std::size_t>(projection->TapeSize(x.rows())));
  Output out{Vector(x.rows()), Vector(x.rows())};
  projection->Forward({x.mean, x.var}, tape.data(), out.m.data(), out.v.data());
  return out;
}

// m and v of a certain row from the kernel's definition.
inline void PlainMoments(const KernelCase& kernel, const Function& f, const RowVector& x, double* m,
                         double* v) {
  Vector k(f.Z.rows());
  for (Index i = 0; i < k.size(); ++i) k[i] = kernel.value(f.theta, x, f.Z.row(i));
  *m = k.dot(f.a) + (f.w.size() > 0 ? x.dot(f.w.transpose()) : 0.0);
  *v = kernel.value(f.theta, x, x) - k.dot(f.S * k);
}

class EveryKernel : public testing::TestWithParam<KernelCase> {
 protected:
  std::shared_ptr<const Kernel> kernel_ = MakeKernel(GetParam().name);
};

}  // namespace fathom

#endif  // FATHOM_TESTS_SUPPORT_EVERY_KERNEL_H_
