#include "bnn/mixture.h"

#include "fathom/base/error.h"

namespace fathom::bnn {

Prediction MixtureOfDraws(const Matrix& outputs, const Vector& noise_variances) {
  const Index draws = outputs.rows();
  FATHOM_CHECK(draws > 0 && noise_variances.size() == draws);
  Prediction mixture;
  mixture.weights = Vector::Constant(draws, 1 / static_cast<double>(draws));
  mixture.components.reserve(static_cast<std::size_t>(draws));
  for (Index s = 0; s < draws; ++s)
    mixture.components.emplace_back(
        Matrix(outputs.row(s).transpose()),
        Matrix(Matrix::Constant(outputs.cols(), 1, noise_variances[s])));
  return mixture;
}

}  // namespace fathom::bnn
