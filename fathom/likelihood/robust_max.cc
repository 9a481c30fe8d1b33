#include "fathom/likelihood/robust_max.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "fathom/base/quadrature.h"
#include "fathom/distribution/normal_panel.h"
#include "fathom/likelihood/labels.h"

namespace fathom {

namespace {

constexpr double kNormalReach = 8.3;  // Phi(-8.3) = 5e-17
constexpr double kLeastVarianceOfF = 1e-16;

// f_c = m_c + s_c z lies above f_j for Phi(shift + slope z) of the values of f_j.
struct Rival {
  Index j;
  double shift, slope, s;

  PanelValues Arguments(const PanelValues& z) const { return shift + slope * z; }
};

}  // namespace

double RobustMax::LargestProbability(Index c, Index outputs, const double* m, const double* v,
                                     double* d_m, double* d_v) {
  const double s_c = std::sqrt(std::max(v[c], kLeastVarianceOfF));
  const bool slopes = d_m != nullptr;
  std::vector<Rival> rivals;
  // A product of many factors is narrower than each.
  const double step = outputs > 4 ? 2 : 3;
  std::vector<Zone> zones{{-kNormalReach, kNormalReach, step}};
  double lo = -kNormalReach;
  for (Index j = 0; j < outputs; ++j) {
    if (slopes) d_m[j] = d_v[j] = 0;
    if (j == c) continue;
    const double s = std::sqrt(std::max(v[j], kLeastVarianceOfF));
    const Rival rival{j, (m[c] - m[j]) / s, s_c / s, s};
    const double centre = (m[j] - m[c]) / s_c;
    const double reach = kNormalReach / rival.slope;
    rivals.push_back(rival);
    zones.push_back({centre - reach, centre + reach, step / rival.slope});
    lo = std::max(lo, centre - reach);
  }
  double P = 0;
  double d_s_c = 0;
  std::vector<NormalPanel> normals;
  ForEachPanel(lo, kNormalReach, zones, [&](const PanelValues& z, const PanelValues& weights) {
    PanelValues product = weights * NormalPanel(z).density;
    normals.clear();
    for (const Rival& rival : rivals) product *= normals.emplace_back(rival.Arguments(z)).cdf;
    P += product.sum();
    if (!slopes) return;
    for (std::size_t k = 0; k < rivals.size(); ++k) {
      const Rival& rival = rivals[k];
      const PanelValues push = product * normals[k].slope / rival.s;
      d_m[rival.j] -= push.sum();
      d_v[rival.j] -= 0.5 * (push * rival.Arguments(z)).sum() / rival.s;
      d_s_c += (push * z).sum();
    }
  });
  if (slopes) {
    for (const Rival& rival : rivals) d_m[c] -= d_m[rival.j];
    d_v[c] = 0.5 * d_s_c / s_c;
  }
  return std::min(P, 1.0);
}

std::string RobustMax::TargetRule(Index outputs, double y) const { return LabelRule(outputs, y); }

double RobustMax::LogZ(const LogZRow& row, const LogZSlopes& slopes) const {
  const double alpha = row.alpha;
  const Index outputs = row.outputs;
  const double* const y = row.y;
  const double* const m = row.m;
  const double* const v = row.v;
  const double P = LargestProbability(static_cast<Index>(*y), outputs, m, v, slopes.m, slopes.v);
  const double log_hit = std::log1p(-kEpsilon);
  const double log_miss = std::log(kEpsilon / static_cast<double>(outputs - 1));
  double value = 0;
  double d_P = 0;
  if (alpha == 0) {
    value = P * log_hit + (1 - P) * log_miss;
    d_P = log_hit - log_miss;
  } else {
    // Z - 1, so that the logarithm keeps its digits for a small alpha.
    const double hit = std::expm1(alpha * log_hit);
    const double miss = std::expm1(alpha * log_miss);
    const double excess = P * hit + (1 - P) * miss;
    value = std::log1p(excess);
    d_P = (hit - miss) / (1 + excess);
  }
  for (Index j = 0; j < outputs; ++j) {
    slopes.m[j] *= d_P;
    slopes.v[j] *= d_P;
  }
  return value;
}

void RobustMax::Observe(const Vector& parameters, Moments* moments) const {
  moments->mean = ClassProbabilities(parameters, *moments);
  moments->var = moments->mean.array() * (1 - moments->mean.array());
}

Matrix RobustMax::ClassProbabilities(const Vector& /*parameters*/, const Moments& f) const {
  const Index K = f.cols();
  Matrix probability(f.rows(), K);
  for (Index n = 0; n < f.rows(); ++n) {
    for (Index c = 0; c < K; ++c) {
      const double P =
          LargestProbability(c, K, f.mean.row(n).data(), f.var.row(n).data(), nullptr, nullptr);
      probability(n, c) = (1 - kEpsilon) * P + kEpsilon / static_cast<double>(K - 1) * (1 - P);
    }
  }
  return probability;
}

}  // namespace fathom
