// Matern kernels, for functions that are less smooth than the squared exponential's. With the
// scaled distance r:
//   matern32:  variance (1 + sqrt(3) r) exp(-sqrt(3) r),              once differentiable;
//   matern52:  variance (1 + sqrt(5) r + 5/3 r^2) exp(-sqrt(5) r),   twice.
// They have no closed form under uncertain inputs.
#ifndef FATHOM_KERNEL_MATERN_H_
#define FATHOM_KERNEL_MATERN_H_

#include "fathom/kernel/stationary_ard.h"

namespace fathom {

class Matern32 : public StationaryArd {
 public:
  std::string Name() const override { return "matern32"; }

 protected:
  void Profile(Array* r2) const override;
  void LogSlope(Array* r2) const override;
  void Derivatives(Array* r2, Array* second) const override;
};

class Matern52 : public StationaryArd {
 public:
  std::string Name() const override { return "matern52"; }

 protected:
  void Profile(Array* r2) const override;
  void LogSlope(Array* r2) const override;
  void Derivatives(Array* r2, Array* second) const override;
};

}  // namespace fathom

#endif  // FATHOM_KERNEL_MATERN_H_
