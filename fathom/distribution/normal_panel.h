// The standard normal at all nodes of a panel of quadrature at once, in vectors: likelihoods of
// classes ask for it a hundred times per row and step.
#ifndef FATHOM_DISTRIBUTION_NORMAL_PANEL_H_
#define FATHOM_DISTRIBUTION_NORMAL_PANEL_H_

#include "fathom/base/quadrature.h"

namespace fathom {

// phi(x), Phi(x) and phi(x) / Phi(x), to a relative accuracy of 3e-13. Below -37 the first two are
// those of -37: 1e-298 and less, but nothing that makes a computer slow.
struct NormalPanel {
  PanelValues density, cdf, slope;

  explicit NormalPanel(const PanelValues& x);
};

// What LogNormalCdf gives for one x, and as exactly.
struct LogNormalCdfPanel {
  PanelValues value, slope, curvature;

  explicit LogNormalCdfPanel(const PanelValues& x);
};

// exp(x), x <= 700.
PanelValues ExpPanel(const PanelValues& x);

}  // namespace fathom

#endif  // FATHOM_DISTRIBUTION_NORMAL_PANEL_H_
