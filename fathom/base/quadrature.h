// One-dimensional quadrature: Gauss-Hermite for expectations under a Gaussian; and, for integrands
// whose features have places and widths known beforehand, Gauss-Legendre on panels no longer than
// the features need.
#ifndef FATHOM_BASE_QUADRATURE_H_
#define FATHOM_BASE_QUADRATURE_H_

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "fathom/base/types.h"

namespace fathom {

// sum_i weights_i f(nodes_i) is E[f(t)], t ~ N(0, 1), exactly for polynomials of degree 2n - 1.
struct HermiteRule {
  Vector nodes, weights;
};
HermiteRule MakeHermiteRule(Index n);

inline constexpr int kPanelNodes = 16;
using PanelValues = Eigen::Array<double, kPanelNodes, 1>;

// Nodes in (-1, 1) and weights of the Gauss-Legendre rule, exact for polynomials of degree 31.
struct PanelRule {
  PanelValues nodes, weights;
};
const PanelRule& GaussLegendre();

// Where panels must not be longer than `step`. A panel of three standard deviations integrates a
// Gaussian to rounding.
struct Zone {
  double begin, end, step;
};

// The end of the panel that begins at x: no longer than the step of any zone that it touches.
inline double PanelEnd(double x, double hi, std::span<const Zone> zones) {
  double end = hi;
  for (const Zone& zone : zones) {
    if (x < zone.end) end = std::min(end, std::max(zone.begin, x + zone.step));
  }
  // A step lost in rounding must not stop the march.
  return std::max(end, std::nextafter(x, std::numeric_limits<double>::infinity()));
}

// Calls visit(nodes, weights) for every panel of [lo, hi]; nothing if the interval is empty.
template <typename Visit>
void ForEachPanel(double lo, double hi, std::span<const Zone> zones, const Visit& visit) {
  const PanelRule& rule = GaussLegendre();
  PanelValues nodes, weights;
  for (double begin = lo; begin < hi;) {
    const double end = PanelEnd(begin, hi, zones);
    const double half = 0.5 * (end - begin);
    nodes = begin + half * (1 + rule.nodes);
    weights = half * rule.weights;
    visit(nodes, weights);
    begin = end;
  }
}

// The same, node by node: visit(x, weight).
template <typename Visit>
void ForEachNode(double lo, double hi, std::span<const Zone> zones, const Visit& visit) {
  ForEachPanel(lo, hi, zones, [&](const PanelValues& nodes, const PanelValues& weights) {
    for (int i = 0; i < kPanelNodes; ++i) visit(nodes[i], weights[i]);
  });
}

}  // namespace fathom

#endif  // FATHOM_BASE_QUADRATURE_H_
