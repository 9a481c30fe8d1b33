#include "fathom/likelihood/softmax.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "fathom/base/quadrature.h"
#include "fathom/likelihood/labels.h"

namespace fathom {

namespace {

constexpr double kReachInStds = 7.8;  // standard deviations; beyond lie 6e-15
constexpr double kAbove = 4.0;        // exp(-e^4) = 2e-24
constexpr double kBelow = 34.0;       // exp(-34) = 2e-15
constexpr double kLatticeSd = 8.0;    // up to here a lattice of nodes serves all t

constexpr double kNegligible = 1e-60;

// E[y^k exp(a x - y)], k = 0..3, y = e^x, x + t ~ N(mean, s^2), for one output and many t.
class OutputMoments {
 public:
  OutputMoments(double a, double mean, double v)
      : a_(a), mean_(mean), s_(std::sqrt(std::max(v, 0.0))) {
    if (!(s_ <= kLatticeSd)) return;
    // The trapezoidal rule has an error of exp(-2 pi^2 s^2 / h^2) from the Gaussian and of
    // exp(-pi^2 / h) from exp(-e^x): below 1e-13 both.
    const double h = std::min(0.3, s_ / 1.25);
    const double count = s_ > 0 ? std::ceil(kReachInStds * s_ / h) : 0;
    offset_ = Eigen::ArrayXd::LinSpaced(static_cast<Index>(2 * count) + 1, -count * h, count * h);
    weight_ =
        s_ > 0 ? Eigen::ArrayXd((-0.5 * (offset_ / s_).square()).exp()) : Eigen::ArrayXd::Ones(1);
    weight_ /= weight_.sum();
    exp_offset_ = offset_.exp();
  }

  double mean() const { return mean_; }
  double s() const { return s_; }
  double a() const { return a_; }

  void At(double t, double* E) {
    if (!(s_ <= kLatticeSd)) {
      ByPanels(t, E);
      return;
    }
    const double x = mean_ - t;
    // exp(-y) is 0 for every purpose before the cuts, which keep subnormal numbers out: they cost a
    // factor 3.
    y_ = (exp_offset_ * std::exp(std::min(x, 100.0))).min(600.0);
    term_ = weight_ * (a_ * (offset_ + x) - y_).max(-600.0).exp();
    E[0] = term_.sum();
    for (int k = 1; k < 4; ++k) {
      term_ *= y_;
      E[k] = term_.sum();
    }
  }

 private:
  void ByPanels(double t, double* E) const {
    std::fill(E, E + 4, 0.0);
    // Below t the integrand falls with exp(a x).
    const double fall = a_ > 0 ? 40 / a_ : INFINITY;
    const double lo = std::max({mean_ - kReachInStds * s_, t - fall, t - 1e10});
    const double hi = std::min(mean_ + kReachInStds * s_, t + kAbove);
    const std::array<Zone, 3> zones{{{mean_ - kReachInStds * s_, mean_ + kReachInStds * s_, 3 * s_},
                                     {t - fall, t, 8 / std::max(a_, 1e-300)},
                                     {t - kBelow, t + kAbove, 2}}};
    ForEachNode(lo, hi, zones, [&](double f, double weight) {
      const double z = (f - mean_) / s_;
      const double y = std::exp(f - t);
      double term = weight * std::exp(a_ * (f - t) - y - 0.5 * z * z);
      for (int k = 0; k < 4; ++k, term *= y) E[k] += term / (s_ * std::sqrt(2 * std::numbers::pi));
    });
  }

  double a_, mean_, s_;
  Eigen::ArrayXd offset_, weight_, exp_offset_;  // of the lattice, places from the mean
  Eigen::ArrayXd y_, term_;                      // scratch
};

double LogSumExp(const std::vector<double>& f) {
  const double top = *std::max_element(f.begin(), f.end());
  double sum = 0;
  for (const double x : f) sum += std::exp(x - top);
  return top + std::log(sum);
}

// Mode of the log-concave sum_j -(f_j - m_j)^2 / 2 v_j + alpha (f_c - log S), by Newton's method.
// Near is enough: log Z is exact for any shift.
class Mode {
 public:
  Mode(double alpha, Index c, Index K, const double* m, const double* v)
      : alpha_(alpha), c_(c), K_(K), m_(m), v_(v), f_(m, m + K), p_(K) {
    double height = Height(f_);
    std::vector<double> step(K);
    std::vector<double> next(K);
    for (int i = 0; i < 60; ++i) {
      SetProbabilities();
      const double size = NewtonStep(&step);
      if (size < 1e-6) break;
      double next_height = height;
      double damping = 1;
      for (int halving = 0; halving < 40; ++halving, damping *= 0.5) {
        for (Index j = 0; j < K; ++j) next[j] = f_[j] + damping * step[j];
        next_height = Height(next);
        if (next_height > height) break;
      }
      if (!(next_height > height)) break;
      f_ = next;
      height = next_height;
    }
    SetProbabilities();
  }

  double p(Index j) const { return p_[j]; }

 private:
  double Height(const std::vector<double>& f) const {
    double height = alpha_ * (f[c_] - LogSumExp(f));
    for (Index j = 0; j < K_; ++j) {
      if (v_[j] > 0) height -= 0.5 * (f[j] - m_[j]) * (f[j] - m_[j]) / v_[j];
    }
    return height;
  }
  void SetProbabilities() {
    const double log_sum = LogSumExp(f_);
    for (Index j = 0; j < K_; ++j) p_[j] = std::exp(f_[j] - log_sum);
  }
  // The Hessian is diagonal plus rank one: D^-1 - alpha p p'.
  double NewtonStep(std::vector<double>* step) const {
    double p_D_g = 0;
    double rest = 0;
    for (Index j = 0; j < K_; ++j) {
      const double damp = 1 + alpha_ * v_[j] * p_[j];
      (*step)[j] = (alpha_ * v_[j] * ((j == c_ ? 1 : 0) - p_[j]) - (f_[j] - m_[j])) / damp;
      p_D_g += p_[j] * (*step)[j];
      rest += p_[j] / damp;
    }
    double size = 0;
    for (Index j = 0; j < K_; ++j) {
      const double damp = 1 + alpha_ * v_[j] * p_[j];
      (*step)[j] += alpha_ * v_[j] * p_[j] / damp * p_D_g / rest;
      size = std::max(size, std::abs((*step)[j]));
    }
    return size;
  }

  double alpha_;
  Index c_, K_;
  const double* m_;
  const double* v_;
  std::vector<double> f_, p_;
};

// Panels over t: each factor changes around its mean and decays like exp(-t) above. What a Gaussian
// adds there is largest s^2 above the mean, or at its reach.
struct Range {
  double lo = -INFINITY, hi = -INFINITY;
  std::vector<Zone> zones;

  void Add(double mean, double s) {
    const double begin = mean - kReachInStds * s - kAbove;
    const double far = s < kReachInStds ? 0.5 * s * s : kReachInStds * (s - 0.5 * kReachInStds);
    const double end = mean + kReachInStds * s + kAbove;
    lo = std::max(lo, begin);
    hi = std::max(hi, mean + far + kBelow);
    zones.push_back({begin, end, 2 * std::sqrt(1 + s * s)});
    zones.push_back({end, end + kBelow, std::max(6.0, 2 * s)});
  }
};

// E[log p] = m_c - E[log S], with `origin` taken from all m.
double ExpectedLog(Index c, Index K, const double* m, const double* v, double* d_m, double* d_v) {
  const double origin = *std::max_element(m, m + K);
  std::vector<OutputMoments> outputs;
  Range range;
  for (Index j = 0; j < K; ++j) {
    outputs.emplace_back(0, m[j] - origin, v[j]);
    range.Add(outputs.back().mean(), outputs.back().s());
    d_m[j] = j == c ? 1 : 0;
    d_v[j] = 0;
  }
  // Below the range the product is 0, but not always exp(-exp(-t)); above, both are 1.
  const double lo = std::min(range.lo, -kAbove);
  range.Add(0, 0);
  std::vector<double> E(4 * K);
  double log_s = origin;
  ForEachNode(lo, range.hi, range.zones, [&](double t, double weight) {
    double product = 1;
    for (Index j = 0; j < K; ++j) {
      outputs[j].At(t, &E[4 * j]);
      product *= E[4 * j];
    }
    log_s += weight * (std::exp(-std::exp(-t)) - product);
    if (product < kNegligible) return;
    for (Index j = 0; j < K; ++j) {
      const double share = weight * product / E[4 * j];
      d_m[j] -= share * E[4 * j + 1];
      d_v[j] -= 0.5 * share * (E[4 * j + 1] - E[4 * j + 2]);
    }
  });
  return m[c] - log_s;
}

// The integral over the place t of a product over the outputs. Adds its first and second slopes in
// the shifted means to *first and *second [outputs].
double IntegrateProduct(std::vector<OutputMoments> moments, const Range& range, double* first,
                        double* second) {
  const auto K = static_cast<Index>(moments.size());
  double integral = 0;
  std::vector<double> E(4 * K);
  ForEachNode(range.lo, range.hi, range.zones, [&](double t, double weight) {
    double product = weight;
    for (Index j = 0; j < K; ++j) {
      moments[j].At(t, &E[4 * j]);
      product *= E[4 * j];
      if (product < kNegligible) return;
    }
    double ratios = 0;
    for (Index j = 0; j < K; ++j) ratios += E[4 * j + 1] / E[4 * j];
    integral += product * ratios;
    for (Index j = 0; j < K; ++j) {
      const double* e = &E[4 * j];
      const double a = moments[j].a();
      const double b = 1 + a;
      const double others = ratios - e[1] / e[0];
      const double share = product / e[0];
      first[j] += share * ((a * e[0] - e[1]) * others + b * e[1] - e[2]);
      second[j] += share * ((a * a * e[0] - (2 * a + 1) * e[1] + e[2]) * others + b * b * e[1] -
                            (2 * b + 1) * e[2] + e[3]);
    }
  });
  return integral;
}

}  // namespace

std::string Softmax::TargetRule(Index outputs, double y) const { return LabelRule(outputs, y); }

double Softmax::LogZ(const LogZRow& row, const LogZSlopes& slopes) const {
  const double alpha = row.alpha;
  const double* const m = row.m;
  const double* const v = row.v;
  const Index K = row.outputs;
  const auto c = static_cast<Index>(*row.y);
  std::fill(slopes.m, slopes.m + K, NAN);
  std::fill(slopes.v, slopes.v + K, NAN);
  for (Index j = 0; j < K; ++j) {
    if (std::isnan(m[j] + v[j])) return NAN;  // lest it vanish in an empty range
  }
  if (alpha == 0) return ExpectedLog(c, K, m, v, slopes.m, slopes.v);

  const Mode mode(alpha, c, K, m, v);
  std::vector<double> beta(K);
  std::vector<double> shifted(K);
  for (Index j = 0; j < K; ++j) {
    beta[j] = alpha * ((j == c ? 1 : 0) - mode.p(j));
    shifted[j] = m[j] + beta[j] * v[j];
  }
  // Places count from here; sum_j beta_j = 0, so that the exponent may as well.
  const double origin = LogSumExp(shifted);
  std::vector<OutputMoments> moments;
  Range range;
  double exponent = -std::lgamma(1 + alpha);
  for (Index j = 0; j < K; ++j) {
    moments.emplace_back(alpha * mode.p(j), shifted[j] - origin, v[j]);
    range.Add(moments[j].mean(), moments[j].s());
    exponent += beta[j] * (m[j] - origin) + 0.5 * beta[j] * beta[j] * v[j];
    slopes.m[j] = slopes.v[j] = 0;
  }

  const double integral = IntegrateProduct(std::move(moments), range, slopes.m, slopes.v);
  for (Index j = 0; j < K; ++j) {
    const double first = slopes.m[j] / integral;
    const double second = slopes.v[j] / integral;
    slopes.m[j] = beta[j] + first;
    slopes.v[j] = 0.5 * beta[j] * beta[j] + beta[j] * first + 0.5 * second;
  }
  return exponent + std::log(integral);
}

void Softmax::Observe(const Vector& parameters, Moments* moments) const {
  moments->mean = ClassProbabilities(parameters, *moments);
  moments->var = moments->mean.array() * (1 - moments->mean.array());
}

Matrix Softmax::ClassProbabilities(const Vector& parameters, const Moments& f) const {
  const Index K = f.cols();
  Matrix probability(f.rows(), K);
  Vector d_m(K);
  Vector d_v(K);
  for (Index n = 0; n < f.rows(); ++n) {
    for (Index c = 0; c < K; ++c) {
      const auto label = static_cast<double>(c);
      probability(n, c) =
          std::exp(LogZ({parameters, 1, K, &label, f.mean.row(n).data(), f.var.row(n).data()},
                        {d_m.data(), d_v.data(), nullptr}));
    }
  }
  return probability;
}

}  // namespace fathom
