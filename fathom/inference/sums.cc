#include "fathom/inference/sums.h"

#include "fathom/base/error.h"

namespace fathom {

void Sums::Add(const Sums& other) {
  FATHOM_CHECK(other.layout.size == layout.size);
  Eigen::Map<Vector>(values_.data(), layout.size) +=
      Eigen::Map<const Vector>(other.values_.data(), layout.size);
}

}  // namespace fathom
