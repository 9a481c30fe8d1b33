// Moments of latent functions under every kernel; the suite is instantiated in kernel_test.cc.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/every_kernel.h"
#include "tests/support/gradient.h"
#include "tests/support/quadrature.h"

namespace fathom {
namespace {

// Differences take small steps, because a spectral mixture's variances are of order 1/40.
constexpr double kStep = 1e-4;

TEST_P(EveryKernel, ZeroVarianceIsThePlainKernel) {
  RandomStream stream(3);
  for (const bool linear : {false, true}) {
    for (const Index D : {1, 2, 5, 9}) {
      const Function f = RandomFunction(*kernel_, 6, D, linear, &stream);
      const Moments x = Moments::Certain(stream.NormalMatrix(7, D));
      for (const bool uncertain : {false, true}) {
        const Output out = Project(*kernel_, f, x, uncertain);
        for (Index n = 0; n < x.rows(); ++n) {
          double m = 0;
          double v = 0;
          PlainMoments(GetParam(), f, x.mean.row(n), &m, &v);
          EXPECT_NEAR(out.m[n], m, 1e-12);
          EXPECT_NEAR(out.v[n], v, 1e-12);
        }
      }
    }
  }
}

TEST_P(EveryKernel, SmallVarianceTendsToThePlainKernel) {
  RandomStream stream(4);
  const Function f = RandomFunction(*kernel_, 6, 3, true, &stream);
  Moments x = Moments::Certain(stream.NormalMatrix(5, 3));
  const Output certain = Project(*kernel_, f, x);
  x.var.setConstant(1e-13);
  const Output nearly = Project(*kernel_, f, x);
  EXPECT_LT((certain.m - nearly.m).cwiseAbs().maxCoeff(), 1e-11);
  EXPECT_LT((certain.v - nearly.v).cwiseAbs().maxCoeff(), 1e-11);
}

// The mean and the variance of f(x) by the laws of total expectation and variance, the linear mean
// and its cross term included.
void ExpectQuadrature(const KernelCase& kernel, const Function& f, const Moments& x, Index order,
                      double tolerance) {
  const GaussHermite rule(order);
  if (!kernel.closed()) tolerance = kernel.quadrature_error;
  const Output out = Project(*MakeKernel(kernel.name), f, x);
  for (Index n = 0; n < x.rows(); ++n) {
    const auto expect = [&](auto integrand) {
      return Expect(rule, x.mean.row(n).transpose(), x.var.row(n).transpose(),
                    [&](const Vector& at) {
                      double m = 0;
                      double v = 0;
                      PlainMoments(kernel, f, at.transpose(), &m, &v);
                      return integrand(m, v);
                    });
    };
    const double mean = expect([](double m, double) { return m; });
    const double var = expect([mean](double m, double v) { return v + (m - mean) * (m - mean); });
    EXPECT_NEAR(out.m[n], mean, tolerance) << "row " << n;
    EXPECT_NEAR(out.v[n], var, tolerance) << "row " << n;
  }
}

TEST_P(EveryKernel, UncertainInputsAgainstQuadratureInOneDimension) {
  RandomStream stream(5);
  for (const bool linear : {false, true}) {
    for (const Index M : {1, 2, 5}) {
      const Function f = RandomFunction(*kernel_, M, 1, linear, &stream);
      Moments x = Moments::Certain(stream.NormalMatrix(4, 1));
      x.var << 1e-3, 0.1, 0.5, 1.0;
      ExpectQuadrature(GetParam(), f, x, 120, 1e-9);
    }
  }
}

TEST_P(EveryKernel, UncertainInputsAgainstQuadratureInTwoDimensions) {
  RandomStream stream(6);
  for (const bool linear : {false, true}) {
    const Function f = RandomFunction(*kernel_, 4, 2, linear, &stream);
    Moments x = Moments::Certain(stream.NormalMatrix(3, 2));
    x.var << 0.2, 0.6, 0.0, 0.4, 0.7, 0.0;
    ExpectQuadrature(GetParam(), f, x, 60, 1e-8);
  }
}

// F = d_m'm + d_v'v and its gradient with respect to everything, as one vector: mean, var, theta,
// Z, a, S (lower triangle). The closed forms hold for variances slightly below 0, too, so that
// differences around 0 are possible; quadrature takes part only with the cells that have a
// variance.
class Whole {
 public:
  Whole(std::shared_ptr<const Kernel> kernel, Function f, Moments x, RandomStream* stream)
      : kernel_(std::move(kernel)),
        f_(std::move(f)),
        x_(std::move(x)),
        d_m_(RandomVector(x_.rows(), stream)),
        d_v_(RandomVector(x_.rows(), stream)) {}

  Vector Point() {
    Vector point(Size());
    Index k = 0;
    Visit([&](double* value, double*) { point[k++] = *value; });
    return point;
  }

  double Value(const Vector& point) const {
    Whole moved = *this;
    Index k = 0;
    moved.Visit([&](double* value, double* twin) {
      *value = point[k++];
      if (twin != nullptr) *twin = *value;
    });
    const Output out = Project(*kernel_, moved.f_, moved.x_);
    return d_m_.dot(out.m) + d_v_.dot(out.v);
  }

  // That with respect to the variances of the inputs is 0 if it is not asked.
  Vector Gradient(bool of_variances = true) const {
    const std::unique_ptr<Projection> projection = kernel_->NewProjection();
    projection->Prepare(f_.View(), {.uncertain = true});
    AlignedBuffer tape(static_cast<std::size_t>(projection->TapeSize(x_.rows())));
    AlignedBuffer sums(static_cast<std::size_t>(projection->SumsSize()), 0.0);
    Vector m(x_.rows());
    Vector v(x_.rows());
    projection->Forward({x_.mean, x_.var}, tape.data(), m.data(), v.data());
    Whole slopes = *this;
    slopes.x_.SetZero(x_.rows(), x_.cols());
    slopes.f_.theta.setZero();
    slopes.f_.Z.setZero();
    slopes.f_.a.setZero();
    slopes.f_.S.setZero();
    Eigen::Ref<Matrix> d_mean(slopes.x_.mean);
    Eigen::Ref<Matrix> d_var(slopes.x_.var);
    projection->Backward({x_.mean, x_.var}, tape.data(), {d_m_.data(), d_v_.data()}, sums.data(),
                         {&d_mean, of_variances ? &d_var : nullptr});
    projection->Finish(sums.data(), {slopes.f_.theta, slopes.f_.Z, slopes.f_.a, slopes.f_.S});
    Vector gradient(slopes.Size());
    Index k = 0;
    slopes.Visit([&](double* slope, double* twin) {
      gradient[k++] = *slope + (twin != nullptr ? *twin : 0.0);
    });
    return gradient;
  }

  Index CountVariances() const { return std::ssize(uncertain_); }

 private:
  template <typename Do>
  void Visit(Do act) {
    for (Index i = 0; i < x_.mean.size(); ++i) act(x_.mean.data() + i, nullptr);
    for (const auto& [n, q] : uncertain_) act(&x_.var(n, q), nullptr);
    for (Index i = 0; i < f_.theta.size(); ++i) act(&f_.theta[i], nullptr);
    for (Index i = 0; i < f_.Z.size(); ++i) act(f_.Z.data() + i, nullptr);
    for (Index i = 0; i < f_.a.size(); ++i) act(&f_.a[i], nullptr);
    for (Index i = 0; i < f_.S.rows(); ++i) {
      for (Index j = 0; j <= i; ++j) act(&f_.S(i, j), i == j ? nullptr : &f_.S(j, i));
    }
  }

  Index Size() {
    Index size = 0;
    Visit([&](double*, double*) { ++size; });
    return size;
  }

  static std::vector<std::pair<Index, Index>> Uncertain(const Kernel& kernel, const Moments& x) {
    const bool closed = kernel.MostUncertainInputs() > 1000;
    std::vector<std::pair<Index, Index>> cells;
    for (Index n = 0; n < x.rows(); ++n) {
      for (Index q = 0; q < x.cols(); ++q) {
        if (x.var(n, q) > 0 || closed) cells.emplace_back(n, q);
      }
    }
    return cells;
  }

  std::shared_ptr<const Kernel> kernel_;
  Function f_;
  Moments x_;
  Vector d_m_, d_v_;
  std::vector<std::pair<Index, Index>> uncertain_ = Uncertain(*kernel_, x_);
};

TEST_P(EveryKernel, GradientOfTheMoments) {
  RandomStream stream(7);
  for (const bool linear : {false, true}) {
    for (const Index D : {1, 2, 3, 8}) {
      if (D > kernel_->MostUncertainInputs()) continue;
      for (const Index M : {1, 5}) {
        SCOPED_TRACE("D " + std::to_string(D) + ", M " + std::to_string(M) +
                     (linear ? ", linear mean" : ""));
        Moments x = Moments::Certain(stream.NormalMatrix(5, D));
        for (Index n = 0; n < 3; ++n) x.var(n, n % D) = 0.3 + 0.2 * static_cast<double>(n);
        x.var.row(4).setConstant(0.4);
        Whole whole(kernel_, RandomFunction(*kernel_, M, D, linear, &stream), x, &stream);
        const Vector point = whole.Point();
        ExpectGradientMatches([&](const Vector& at) { return whole.Value(at); }, whole.Gradient(),
                              point, 2e-8, nullptr, kStep);
      }
    }
  }
}

// Certain cells of uncertain rows have a shorter way if nobody asks for their slopes.
TEST_P(EveryKernel, GradientWithoutThatOfTheVariances) {
  RandomStream stream(14);
  for (const Index D : {3, 8}) {
    if (D > kernel_->MostUncertainInputs()) continue;
    Moments x = Moments::Certain(stream.NormalMatrix(4, D));
    x.var(0, 1) = 0.3;
    x.var.row(2).setConstant(0.4);
    const Whole whole(kernel_, RandomFunction(*kernel_, 5, D, true, &stream), x, &stream);
    const Vector all = whole.Gradient(), asked = whole.Gradient(false);
    const Index means = x.mean.size(), others = all.size() - means - whole.CountVariances();
    EXPECT_LT((all - asked).head(means).norm(), 1e-11 * all.norm());
    EXPECT_LT((all - asked).tail(others).norm(), 1e-11 * all.norm());
    EXPECT_EQ(asked.segment(means, whole.CountVariances()).norm(), 0);
  }
}

TEST_P(EveryKernel, GradientOfCertainRowsAlone) {
  RandomStream stream(8);
  for (const bool linear : {false, true}) {
    const Moments x = Moments::Certain(stream.NormalMatrix(6, 2));
    Whole whole(kernel_, RandomFunction(*kernel_, 9, 2, linear, &stream), x, &stream);
    const Vector point = whole.Point();
    ExpectGradientMatches([&](const Vector& at) { return whole.Value(at); }, whole.Gradient(),
                          point, 2e-8, nullptr, kStep);
  }
}

// By the definition: half the second derivative of the moments at a certain input.
TEST_P(EveryKernel, GradientWithRespectToVariancesOfZero) {
  RandomStream stream(13);
  for (const bool linear : {false, true}) {
    for (const Index D : {1, 3, 5}) {
      const Function f = RandomFunction(*kernel_, 4, D, linear, &stream);
      const Moments x = Moments::Certain(stream.NormalMatrix(1, D));
      const double d_m = 0.7;
      const double d_v = -1.3;
      for (const bool uncertain : {false, true}) {
        const std::unique_ptr<Projection> projection = kernel_->NewProjection();
        projection->Prepare(f.View(), {.uncertain = uncertain});
        AlignedBuffer tape(static_cast<std::size_t>(projection->TapeSize(1)));
        AlignedBuffer sums(static_cast<std::size_t>(projection->SumsSize()), 0.0);
        double m = 0;
        double v = 0;
        projection->Forward({x.mean, x.var}, tape.data(), &m, &v);
        Matrix d_var_memory = Matrix::Zero(1, D);
        Eigen::Ref<Matrix> d_var(d_var_memory);
        projection->Backward({x.mean, x.var}, tape.data(), {&d_m, &d_v}, sums.data(),
                             {.var = &d_var});
        for (Index q = 0; q < D; ++q) {
          const double h = 2e-3;
          const auto moments = [&](double step) {
            RowVector at = x.mean.row(0);
            at[q] += step;
            Vector both(2);
            PlainMoments(GetParam(), f, at, &both[0], &both[1]);
            return both;
          };
          const Vector slope =
              (8 * (moments(h) - moments(-h)) - moments(2 * h) + moments(-2 * h)) / (12 * h);
          const Vector curvature = (16 * (moments(h) + moments(-h)) - moments(2 * h) -
                                    moments(-2 * h) - 30 * moments(0)) /
                                   (12 * h * h);
          const double expected =
              0.5 * (d_m * curvature[0] + d_v * curvature[1]) + d_v * slope[0] * slope[0];
          EXPECT_NEAR(d_var_memory(0, q), expected, 1e-7 * std::max(1.0, std::abs(expected)));
        }
      }
    }
  }
}

TEST_P(EveryKernel, GradientWithCoincidentPseudoInputs) {
  RandomStream stream(9);
  Function f = RandomFunction(*kernel_, 4, 2, true, &stream);
  f.Z.row(2) = f.Z.row(0);
  f.Z.row(3) = f.Z.row(0);
  Moments x = Moments::Certain(stream.NormalMatrix(3, 2));
  x.var.row(1).setConstant(0.5);
  x.mean.row(2) = f.Z.row(0);
  Whole whole(kernel_, f, x, &stream);
  ExpectGradientMatches([&](const Vector& at) { return whole.Value(at); }, whole.Gradient(),
                        whole.Point(), 2e-8, nullptr, kStep);
}

TEST_P(EveryKernel, ARowDoesNotDependOnTheRowsBesideIt) {
  RandomStream stream(10);
  for (const bool linear : {false, true}) {
    for (const Index D : {1, 3, 7}) {
      const Function f = RandomFunction(*kernel_, 11, D, linear, &stream);
      Moments x = Moments::Certain(stream.NormalMatrix(9, D));
      AddInputVariance(&stream, &x);
      const Output together = Project(*kernel_, f, x);
      for (Index begin = 0; begin < x.rows(); ++begin) {
        for (Index count = 1; begin + count <= x.rows(); ++count) {
          const Moments part(x.mean.middleRows(begin, count), x.var.middleRows(begin, count));
          const Output apart = Project(*kernel_, f, part);
          EXPECT_EQ(apart.m, together.m.segment(begin, count));
          EXPECT_EQ(apart.v, together.v.segment(begin, count));
        }
      }
    }
  }
}

TEST_P(EveryKernel, SumsOfTilesAddUp) {
  RandomStream stream(11);
  const Function f = RandomFunction(*kernel_, 5, 2, true, &stream);
  Moments x = Moments::Certain(stream.NormalMatrix(6, 2));
  AddInputVariance(&stream, &x);
  const Vector d_m = RandomVector(6, &stream);
  const Vector d_v = RandomVector(6, &stream);
  const std::unique_ptr<Projection> projection = kernel_->NewProjection();
  projection->Prepare(f.View(), {.uncertain = true});
  const auto run = [&](Index begin, Index count, AlignedBuffer* sums) {
    AlignedBuffer tape(static_cast<std::size_t>(projection->TapeSize(count)));
    Vector m(count);
    Vector v(count);
    const Matrix mean = x.mean.middleRows(begin, count);
    const Matrix var = x.var.middleRows(begin, count);
    projection->Forward({mean, var}, tape.data(), m.data(), v.data());
    projection->Backward({mean, var}, tape.data(), {d_m.data() + begin, d_v.data() + begin},
                         sums->data(), {});
  };
  const auto finish = [&](const AlignedBuffer& sums) {
    Vector theta = Vector::Zero(f.theta.size());
    Matrix Z = Matrix::Zero(5, 2);
    Vector a = Vector::Zero(5);
    Matrix S = Matrix::Zero(5, 5);
    projection->Finish(sums.data(), {theta, Z, a, S});
    Vector all(theta.size() + Z.size() + a.size() + S.size());
    all << theta, Eigen::Map<Vector>(Z.data(), 10), a, Eigen::Map<Vector>(S.data(), 25);
    return all;
  };
  AlignedBuffer whole(static_cast<std::size_t>(projection->SumsSize()), 0.0);
  AlignedBuffer parts = whole;
  run(0, 6, &whole);
  run(0, 1, &parts);
  run(1, 3, &parts);
  run(4, 2, &parts);
  EXPECT_LT((finish(whole) - finish(parts)).cwiseAbs().maxCoeff(), 1e-12);
}

TEST_P(EveryKernel, FarAwayRowsSeeThePrior) {
  if (!GetParam().decays) GTEST_SKIP() << "not a kernel that forgets";
  RandomStream stream(12);
  const Function f = RandomFunction(*kernel_, 5, 2, false, &stream);
  Moments x = Moments::Certain(Matrix::Constant(4, 2, 1e4));
  x.mean.row(1).setConstant(-1e150);
  x.var.row(2).setConstant(0.5);
  x.mean.row(3).setConstant(1e8);
  x.var.row(3).setConstant(2);
  const Output out = Project(*kernel_, f, x);
  for (Index n = 0; n < 4; ++n) {
    EXPECT_NEAR(out.m[n], 0, 1e-200) << n;
    EXPECT_NEAR(out.v[n], GetParam().value(f.theta, x.mean.row(n), x.mean.row(n)), 1e-14) << n;
  }
}

TEST_P(EveryKernel, TinyAndHugeLengthscalesStayFinite) {
  RandomStream stream(13);
  for (const double scale : {1e-6, 1e6}) {
    Function f = RandomFunction(*kernel_, 5, 2, true, &stream);
    f.theta.tail(f.theta.size() - 1) *= scale;
    Moments x = Moments::Certain(stream.NormalMatrix(4, 2));
    AddInputVariance(&stream, &x);
    x.mean.row(3) = f.Z.row(2);
    Whole whole(kernel_, f, x, &stream);
    EXPECT_TRUE(std::isfinite(whole.Value(whole.Point()))) << scale;
    EXPECT_TRUE(whole.Gradient().allFinite()) << scale;
  }
}

TEST_P(EveryKernel, ANumberThatIsNotOneIsNotHidden) {
  RandomStream stream(14);
  const Function f = RandomFunction(*kernel_, 5, 2, false, &stream);
  Moments x = Moments::Certain(stream.NormalMatrix(3, 2));
  x.mean(1, 0) = std::nan("");
  const Output out = Project(*kernel_, f, x);
  EXPECT_TRUE(std::isnan(out.m[1]));
  EXPECT_TRUE(std::isfinite(out.m[0]) && std::isfinite(out.m[2]));
}

RC_GTEST_PROP(KernelProperty, VarianceIsNotNegativeForAPosterior, (std::uint64_t seed)) {
  // S = K^-1 - K^-1 V K^-1 of a true posterior: v must not fall below zero but for rounding.
  RandomStream stream(seed % 100000);
  const std::shared_ptr<const Kernel> kernel = MakeKernel(kKernels[seed % kKernels.size()].name);
  Function f = RandomFunction(*kernel, 4, 2, false, &stream);
  Matrix K;
  kernel->Gram(f.theta, f.Z, &K);
  const Sites sites{f.a, RandomLower(4, 1, &stream)};
  const Conditioned posterior = Condition(sites, K, 1);
  f.a = posterior.a;
  f.S = posterior.S;
  Moments x = Moments::Certain(2 * stream.NormalMatrix(6, 2));
  AddInputVariance(&stream, &x);
  const Output out = Project(*kernel, f, x);
  RC_ASSERT(out.v.minCoeff() > -1e-12 * (1 + f.a.squaredNorm()));
}

}  // namespace
}  // namespace fathom
