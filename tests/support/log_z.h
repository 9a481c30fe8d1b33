// Calls a likelihood without parameters for one row.
#ifndef FATHOM_TESTS_SUPPORT_LOG_Z_H_
#define FATHOM_TESTS_SUPPORT_LOG_Z_H_

#include <cmath>

#include "fathom/likelihood/likelihood.h"

namespace fathom {

struct RowLogZ {
  double value = 0;
  Vector d_m, d_v;

  // y [targets], m and v [outputs].
  RowLogZ(const Likelihood& likelihood, double alpha, const Vector& y, const Vector& m,
          const Vector& v)
      : d_m(m.size()), d_v(m.size()) {
    value = likelihood.LogZ({Vector(), alpha, m.size(), y.data(), m.data(), v.data()},
                            {d_m.data(), d_v.data(), nullptr});
  }

  bool Finite() const { return std::isfinite(value) && d_m.allFinite() && d_v.allFinite(); }
};

}  // namespace fathom

#endif  // FATHOM_TESTS_SUPPORT_LOG_Z_H_
