#include "fathom/likelihood/tilted.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>

#include "fathom/distribution/prediction.h"
#include "fathom/likelihood/likelihood.h"

namespace fathom {
namespace {

// log of the integral of exp(exponent) over [lo, hi], by the trapezoidal rule on many points.
double DenseLogIntegral(double lo, double hi, const std::function<double(double)>& exponent) {
  constexpr Index kPoints = 100000;
  const Eigen::ArrayXd exponents = Eigen::ArrayXd::LinSpaced(kPoints, lo, hi).unaryExpr(exponent);
  const double top = exponents.maxCoeff();
  return top + std::log((exponents - top).exp().sum() * (hi - lo) / (kPoints - 1));
}

double LogZ(const std::string& name, const Vector& parameters, double alpha, double y,
            const Vector& m, const Vector& v) {
  Vector d_m(m.size());
  Vector d_v(m.size());
  Vector d_parameters = Vector::Zero(parameters.size());
  return MakeLikelihood(name)->LogZ({parameters, alpha, m.size(), &y, m.data(), v.data()},
                                    {d_m.data(), d_v.data(), d_parameters.data()});
}

void ExpectSame(double value, double expected) {
  EXPECT_NEAR(value, expected, 2e-11 * std::max(1.0, std::abs(expected)));
}

TEST(Tilted, PoissonOfAllSizes) {
  for (const double y : {0.0, 3.0, 2e4}) {
    for (const double m : {-3.0, 2.0, 10.0}) {
      for (const double v : {1e-4, 0.3, 5.0, 400.0}) {
        for (const double alpha : {0.2, 1.0}) {
          SCOPED_TRACE(testing::Message() << y << " " << m << " " << v << " " << alpha);
          const auto exponent = [&](double f) {
            return LogNormalPdf(f, m, v) + alpha * (y * f - std::exp(f) - std::lgamma(y + 1));
          };
          const double sd = std::sqrt(v);
          const double lo = std::min(m, std::log(y + 0.1)) - 12 * sd;
          const double hi = std::max(m, std::log(y + 1)) + 12 * sd;
          ExpectSame(LogZ("poisson", Vector{{1.0}}, alpha, y, Vector{{m}}, Vector{{v}}),
                     DenseLogIntegral(lo, hi, exponent));
        }
      }
    }
  }
}

TEST(Tilted, StudentTWithTwoModes) {
  for (const double s2 : {1e-4, 1.0, 50.0}) {
    for (const double nu : {2.1, 6.0, 200.0}) {
      for (const double y : {0.0, 7.0, -40.0}) {
        for (const double alpha : {0.2, 1.0}) {
          SCOPED_TRACE(testing::Message() << s2 << " " << nu << " " << y << " " << alpha);
          const double constant = std::lgamma(0.5 * nu + 0.5) - std::lgamma(0.5 * nu) -
                                  0.5 * std::log(std::numbers::pi * nu * s2);
          const auto exponent = [&](double f) {
            return LogNormalPdf(f, 0.2, 2) +
                   alpha * (constant - 0.5 * (nu + 1) * std::log1p((y - f) * (y - f) / (nu * s2)));
          };
          ExpectSame(
              LogZ("student_t", Vector{{s2, nu - 2}}, alpha, y, Vector{{0.2}}, Vector{{2.0}}),
              DenseLogIntegral(std::min(-20.0, y - 5), std::max(20.0, y + 5), exponent));
        }
      }
    }
  }
}

TEST(Tilted, HeteroscedasticOfAllResiduals) {
  for (const double y : {0.0, 1.0, 300.0}) {
    for (const double v : {0.0, 0.5, 100.0}) {
      for (const double v_g : {1e-4, 0.5, 50.0}) {
        for (const double alpha : {0.2, 1.0}) {
          SCOPED_TRACE(testing::Message() << y << " " << v << " " << v_g << " " << alpha);
          const auto exponent = [&](double g) {
            const double noise = 0.3 * std::exp(g);
            return LogNormalPdf(g, -0.4, v_g) + LogNormalPdf(y, 0.1, v + noise / alpha) +
                   0.5 * (1 - alpha) * std::log(2 * std::numbers::pi * noise) -
                   0.5 * std::log(alpha);
          };
          const double sd = std::sqrt(v_g);
          const double lo = -0.4 - 0.5 * v_g - 12 * sd;
          const double hi = std::max(-0.4, std::log(2 * (y * y + v) + 1)) + 12 * sd;
          ExpectSame(LogZ("heteroscedastic", Vector{{0.3}}, alpha, y, Vector{{0.1, -0.4}},
                          Vector{{v, v_g}}),
                     DenseLogIntegral(lo, hi, exponent));
        }
      }
    }
  }
}

}  // namespace
}  // namespace fathom
