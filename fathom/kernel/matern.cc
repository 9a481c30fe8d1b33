#include "fathom/kernel/matern.h"

namespace fathom {

void Matern32::Profile(Array* r2) const {
  *r2 = (3 * *r2).sqrt();
  *r2 = (1 + *r2) * (-*r2).exp();
}

void Matern32::LogSlope(Array* r2) const { *r2 = -1.5 / (1 + (3 * *r2).sqrt()); }

void Matern32::Derivatives(Array* r2, Array* second) const {
  *r2 = (3 * *r2).sqrt();
  *second = (*r2 > 0).select(2.25 * (-*r2).exp() / *r2, 0.0);
  *r2 = -1.5 * (-*r2).exp();
}

void Matern52::Profile(Array* r2) const {
  *r2 = (5 * *r2).sqrt();
  *r2 = (1 + *r2 + r2->square() / 3) * (-*r2).exp();
}

void Matern52::LogSlope(Array* r2) const {
  *r2 = (5 * *r2).sqrt();
  *r2 = -5.0 / 6 * (1 + *r2) / (1 + *r2 + r2->square() / 3);
}

void Matern52::Derivatives(Array* r2, Array* second) const {
  *r2 = (5 * *r2).sqrt();
  *second = 25.0 / 12 * (-*r2).exp();
  *r2 = -5.0 / 6 * (1 + *r2) * (-*r2).exp();
}

}  // namespace fathom
