#include "fathom/likelihood/likelihood.h"

#include <gtest/gtest.h>

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "fathom/base/error.h"
#include "fathom/distribution/prediction.h"
#include "tests/support/gradient.h"
#include "tests/support/quadrature.h"

namespace fathom {
namespace {

struct LikelihoodCase {
  std::string name;
  // Null where it has jumps that the oracle would miss: then the likelihood's own test has another.
  double (*log_density)(const Vector& parameters, const Vector& y, const Vector& f);
  Vector y, parameters;  // two outputs
};

double GaussianLogDensity(const Vector& parameters, const Vector& y, const Vector& f) {
  double sum = 0;
  for (Index d = 0; d < y.size(); ++d) sum += LogNormalPdf(y[d], f[d], parameters[d]);
  return sum;
}

double ProbitLogDensity(const Vector& /*parameters*/, const Vector& y, const Vector& f) {
  double sum = 0;
  for (Index d = 0; d < y.size(); ++d) sum += std::log(NormalCdf(y[d] * f[d]));
  return sum;
}

double SoftmaxLogDensity(const Vector& /*parameters*/, const Vector& y, const Vector& f) {
  return f[static_cast<Index>(y[0])] - std::log(f.array().exp().sum());
}

double PoissonLogDensity(const Vector& parameters, const Vector& y, const Vector& f) {
  double sum = 0;
  for (Index d = 0; d < y.size(); ++d) {
    const double rate = parameters[d] * std::exp(f[d]);
    sum += y[d] * std::log(rate) - rate - std::lgamma(y[d] + 1);
  }
  return sum;
}

double StudentTLogDensity(const Vector& parameters, const Vector& y, const Vector& f) {
  double sum = 0;
  for (Index d = 0; d < y.size(); ++d) {
    const double scale = std::sqrt(parameters[d]);
    const boost::math::students_t t(2 + parameters[2 + d]);
    sum += std::log(boost::math::pdf(t, (y[d] - f[d]) / scale) / scale);
  }
  return sum;
}

double HeteroscedasticLogDensity(const Vector& parameters, const Vector& y, const Vector& f) {
  return LogNormalPdf(y[0], f[0], parameters[0] * std::exp(f[1]));
}

// A new likelihood adds one line.
const std::vector<LikelihoodCase> kLikelihoods = {
    {"gaussian", GaussianLogDensity, Vector{{0.7, -1.1}}, Vector{{0.4, 0.9}}},
    {"student_t", StudentTLogDensity, Vector{{0.7, -1.1}}, Vector{{0.4, 0.9, 1.5, 6}}},
    {"heteroscedastic", HeteroscedasticLogDensity, Vector{{0.7}}, Vector{{1.5}}},
    {"poisson", PoissonLogDensity, Vector{{3.0, 0.0}}, Vector{{1.5, 0.7}}},
    {"probit", ProbitLogDensity, Vector{{1.0, -1.0}}, Vector()},
    {"softmax", SoftmaxLogDensity, Vector::Constant(1, 1), Vector()},
    {"robust_max", nullptr, Vector::Constant(1, 1), Vector()},
};

class EveryLikelihood : public testing::TestWithParam<LikelihoodCase> {
 protected:
  double LogZ(double alpha, const Vector& parameters, const Vector& m, const Vector& v,
              Vector* gradient = nullptr) const {
    Vector d_m(2);
    Vector d_v(2);
    Vector d_parameters = Vector::Zero(parameters.size());
    const double value =
        likelihood_->LogZ({parameters, alpha, 2, GetParam().y.data(), m.data(), v.data()},
                          {d_m.data(), d_v.data(), d_parameters.data()});
    if (gradient != nullptr) {
      gradient->resize(4 + parameters.size());
      *gradient << d_m, d_v, d_parameters;
    }
    return value;
  }

  std::shared_ptr<const Likelihood> likelihood_ = MakeLikelihood(GetParam().name);
  Vector m_{{0.2, -0.3}};
  Vector v_{{0.3, 0.5}};
};
INSTANTIATE_TEST_SUITE_P(Likelihoods, EveryLikelihood, testing::ValuesIn(kLikelihoods),
                         [](const auto& test) { return test.param.name; });

TEST_P(EveryLikelihood, HasItsNameAndItsParameters) {
  EXPECT_EQ(likelihood_->Name(), GetParam().name);
  EXPECT_EQ(likelihood_->NumParameters(2), GetParam().parameters.size());
  EXPECT_EQ(likelihood_->InitialParameters(2, 0.1).size(), likelihood_->NumParameters(2));
  EXPECT_TRUE((likelihood_->InitialParameters(2, 0.1).array() > 0).all());
  const auto names = static_cast<Index>(likelihood_->ParameterNames().size());
  EXPECT_EQ(names == 0 ? 0 : likelihood_->NumParameters(2) % names, 0);
  EXPECT_EQ(names == 0, likelihood_->NumParameters(2) == 0);
  EXPECT_EQ(likelihood_->NumTargets(2), GetParam().y.size());
  EXPECT_NO_THROW(likelihood_->CheckTargets(2, GetParam().y.transpose()));
}

TEST_P(EveryLikelihood, LogZAgainstQuadrature) {
  const GaussHermite rule(100);
  const LikelihoodCase& c = GetParam();
  if (c.log_density == nullptr) GTEST_SKIP() << "not smooth";
  for (const double alpha : {0.3, 0.5, 1.0}) {
    const double z = Expect(rule, m_, v_, [&](const Vector& f) {
      return std::exp(alpha * c.log_density(c.parameters, c.y, f));
    });
    EXPECT_NEAR(LogZ(alpha, c.parameters, m_, v_), std::log(z), 1e-10) << "alpha " << alpha;
  }
  const double expected_log =
      Expect(rule, m_, v_, [&](const Vector& f) { return c.log_density(c.parameters, c.y, f); });
  EXPECT_NEAR(LogZ(0, c.parameters, m_, v_), expected_log, 1e-10);
}

TEST_P(EveryLikelihood, GradientOfLogZ) {
  const LikelihoodCase& c = GetParam();
  Vector point(4 + c.parameters.size());
  point << m_, v_, c.parameters;
  for (const double alpha : {0.0, 0.3, 0.5, 1.0}) {
    SCOPED_TRACE(alpha);
    Vector gradient;
    LogZ(alpha, c.parameters, m_, v_, &gradient);
    const auto value = [&](const Vector& x) {
      return LogZ(alpha, x.tail(c.parameters.size()), x.head(2), x.segment(2, 2));
    };
    ExpectGradientMatches(value, gradient, point, 1e-8);
  }
}

TEST_P(EveryLikelihood, GradientFarFromTheTargetAndWide) {
  const LikelihoodCase& c = GetParam();
  for (const double m : {-6.0, 6.0}) {
    for (const double v : {0.5, 9.0}) {
      for (const double alpha : {0.0, 0.5, 1.0}) {
        SCOPED_TRACE(testing::Message() << m << " " << v << " " << alpha);
        Vector point(4 + c.parameters.size());
        point << m, -0.3 * m, v, 2 * v, c.parameters;
        Vector gradient;
        LogZ(alpha, c.parameters, point.head(2), point.segment(2, 2), &gradient);
        const auto value = [&](const Vector& x) {
          return LogZ(alpha, x.tail(c.parameters.size()), x.head(2), x.segment(2, 2));
        };
        ExpectGradientMatches(value, gradient, point, 1e-6);
      }
    }
  }
}

TEST_P(EveryLikelihood, NoVarianceIsThePlainLikelihood) {
  const LikelihoodCase& c = GetParam();
  if (c.log_density == nullptr) GTEST_SKIP() << "not smooth";
  const Vector zero = Vector::Zero(2);
  const double expected = c.log_density(c.parameters, c.y, m_);
  for (const double alpha : {0.0, 0.5, 1.0}) {
    const double power = alpha == 0 ? 1 : alpha;
    EXPECT_NEAR(LogZ(alpha, c.parameters, m_, zero), power * expected, 1e-10) << alpha;
    EXPECT_NEAR(LogZ(alpha, c.parameters, m_, Vector::Constant(2, 1e-9)), power * expected, 1e-7);
  }
}

TEST_P(EveryLikelihood, LimitOfSmallAlphaIsContinuous) {
  const Vector& parameters = GetParam().parameters;
  const double limit = LogZ(0, parameters, m_, v_);
  const auto excess = [&](double alpha) { return LogZ(alpha, parameters, m_, v_) / alpha - limit; };
  EXPECT_NE(excess(1e-2), 0);
  // The excess is of first order in alpha.
  EXPECT_NEAR(excess(1e-3) / excess(1e-4), 10, 0.1);
  EXPECT_LT(std::abs(excess(1e-4)), 1e-3);
  Vector at_zero;
  Vector near_zero;
  LogZ(0, parameters, m_, v_, &at_zero);
  LogZ(1e-6, parameters, m_, v_, &near_zero);
  EXPECT_LT((near_zero / 1e-6 - at_zero).cwiseAbs().maxCoeff(), 1e-4);
}

TEST_P(EveryLikelihood, SlopesOfParametersAddAndThoseOfMomentsReplace) {
  const LikelihoodCase& c = GetParam();
  Vector d_m = Vector::Constant(2, 7);
  Vector d_v = Vector::Constant(2, 7);
  Vector d_parameters = Vector::Constant(c.parameters.size(), 7);
  Vector gradient;
  LogZ(0.5, c.parameters, m_, v_, &gradient);
  likelihood_->LogZ({c.parameters, 0.5, 2, c.y.data(), m_.data(), v_.data()},
                    {d_m.data(), d_v.data(), d_parameters.data()});
  EXPECT_EQ(d_m, gradient.head(2));
  EXPECT_EQ(d_v, gradient.segment(2, 2));
  const Vector added = d_parameters - gradient.tail(c.parameters.size());
  EXPECT_TRUE(((added.array() - 7).abs() < 1e-12).all());
}

TEST_P(EveryLikelihood, NotANumberStaysVisible) {
  for (const double alpha : {0.0, 0.5, 1.0}) {
    EXPECT_TRUE(std::isnan(LogZ(alpha, GetParam().parameters, Vector{{0.2, NAN}}, v_))) << alpha;
    EXPECT_TRUE(std::isnan(LogZ(alpha, GetParam().parameters, m_, Vector{{0.3, NAN}}))) << alpha;
  }
}

TEST(GaussianLikelihood, ObserveAddsTheNoise) {
  Moments moments(Matrix::Constant(2, 2, 3), Matrix::Constant(2, 2, 1));
  MakeLikelihood("gaussian")->Observe(Vector{{0.25, 0.5}}, &moments);
  EXPECT_EQ(moments.mean, Matrix::Constant(2, 2, 3));
  EXPECT_EQ(moments.var, (Matrix(2, 2) << 1.25, 1.5, 1.25, 1.5).finished());
}

TEST(GaussianLikelihood, TinyNoiseStaysFinite) {
  const auto likelihood = MakeLikelihood("gaussian");
  const Vector noise = Vector::Constant(1, 1e-12);
  const double y = 1;
  const double m = 0.5;
  const double v = 0;
  for (const double alpha : {0.0, 0.5, 1.0}) {
    double d_m = 0;
    double d_v = 0;
    double d_noise = 0;
    EXPECT_TRUE(
        std::isfinite(likelihood->LogZ({noise, alpha, 1, &y, &m, &v}, {&d_m, &d_v, &d_noise})));
    EXPECT_GT(d_m, 0);
    EXPECT_GT(d_noise, 0) << "more noise explains a miss better";
  }
}

TEST(Likelihood, UnknownNameIsRefusedWithTheKnownOnes) {
  try {
    MakeLikelihood("normal");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("'normal'"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("gaussian"), std::string::npos);
  }
}

}  // namespace
}  // namespace fathom
