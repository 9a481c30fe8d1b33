// How alike the targets of two rows are at a scaled distance r.
#ifndef FATHOM_NEIGHBOUR_CORRELATION_H_
#define FATHOM_NEIGHBOUR_CORRELATION_H_

#include <array>

#include "fathom/base/enum_names.h"
#include "fathom/base/types.h"

namespace fathom {

// c(r), from rough to smooth.
enum class Correlation {
  kMatern12,  // exp(-r)
  kMatern32,  // (1 + sqrt(3) r) exp(-sqrt(3) r)
  kMatern52,  // (1 + sqrt(5) r + 5/3 r^2) exp(-sqrt(5) r)
  kSe,        // exp(-r^2 / 2)
};
constexpr auto NamesOf(Correlation) {
  return std::to_array<EnumName<Correlation>>({{Correlation::kMatern12, "matern12"},
                                               {Correlation::kMatern32, "matern32"},
                                               {Correlation::kMatern52, "matern52"},
                                               {Correlation::kSe, "se_ard"}});
}

// c of squared distances r2 = r^2, in their place.
void CorrelationsOf(Correlation correlation, Matrix* r2);

}  // namespace fathom

#endif  // FATHOM_NEIGHBOUR_CORRELATION_H_
