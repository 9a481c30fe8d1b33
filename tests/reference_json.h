// What the checks of all kinds of reference files share: JSON to matrices, and the comparison rule.
#ifndef FATHOM_TESTS_REFERENCE_JSON_H_
#define FATHOM_TESTS_REFERENCE_JSON_H_

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "fathom/kernel/kernel.h"

namespace fathom {

using Json = nlohmann::json;

class NotSupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline Vector ToVector(const Json& json) {
  Vector v(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) v[i] = json[i].get<double>();
  return v;
}

inline Matrix ToMatrix(const Json& json) {
  if (json.empty()) return {};
  Matrix m(json.size(), json[0].size());
  for (std::size_t i = 0; i < json.size(); ++i) m.row(i) = ToVector(json[i]).transpose();
  return m;
}

// Collects what differs by more than tolerance * max(1, max|expected|), the rule of the files.
class Comparison {
 public:
  explicit Comparison(double tolerance) : tolerance_(tolerance) {}

  void Expect(const std::string& what, const Matrix& actual, const Matrix& expected) {
    if (actual.rows() != expected.rows() || actual.cols() != expected.cols()) {
      text_ << what << " has another shape; ";
      return;
    }
    if (expected.size() == 0) return;
    const double error = (actual - expected).cwiseAbs().maxCoeff();
    const double allowed = tolerance_ * std::max(1.0, expected.cwiseAbs().maxCoeff());
    if (!(error <= allowed))
      text_ << what << " differs by " << error << " (allowed " << allowed << "); ";
  }
  void Expect(const std::string& what, double actual, const Json& expected) {
    Expect(what, Matrix::Constant(1, 1, actual), Matrix::Constant(1, 1, expected.get<double>()));
  }

  std::string text() const { return text_.str(); }

 private:
  double tolerance_;
  std::ostringstream text_;
};

// A kernel of a file: its kind, and its parameters in the order of theta.
struct KernelParameters {
  std::shared_ptr<const Kernel> kernel;
  Vector theta;
};

// The numbers of a possibly nested list, row by row.
inline void Flatten(const Json& json, std::vector<double>* out) {
  if (!json.is_array()) {
    out->push_back(json.get<double>());
    return;
  }
  for (const Json& element : json) Flatten(element, out);
}

// One vector for all blocks of a kernel; `json` holds them by name, as it does for gradients.
inline Vector BlocksOf(const Kernel& kernel, Index input_dim, const Json& json) {
  std::vector<double> values;
  for (const Kernel::Block& block : kernel.Blocks(input_dim)) {
    const std::size_t before = values.size();
    Flatten(json.at(block.name), &values);
    if (static_cast<Index>(values.size() - before) != block.size)
      throw std::runtime_error("kernel parameter " + block.name + " has another size");
  }
  return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
}

inline KernelParameters KernelOf(const Json& json, Index input_dim) {
  auto type = json.at("type").get<std::string>();
  if (type == "spectral_mixture")
    type.append(":").append(std::to_string(json.at("weights").size()));
  KernelParameters out;
  out.kernel = MakeKernel(type);
  out.theta = BlocksOf(*out.kernel, input_dim, json);
  return out;
}

inline void CompareCovariances(const std::string& what, const std::vector<Matrix>& actual,
                               const Json& expected, Comparison* compare) {
  compare->Expect(what + " rows", static_cast<double>(actual.size()), expected.size());
  for (std::size_t n = 0; n < actual.size(); ++n)
    compare->Expect(what, actual[n], ToMatrix(expected[n]));
}

// The checks of the kinds.
void CheckPsi(const Json& test, Comparison* compare);
void CheckLayer(const Json& test, Comparison* compare);
void CheckEnergy(const Json& test, Comparison* compare);
void CheckVariational(const Json& test, Comparison* compare);
void CheckEpStep(const Json& test, Comparison* compare);
void CheckFitc(const Json& test, Comparison* compare);

}  // namespace fathom

#endif  // FATHOM_TESTS_REFERENCE_JSON_H_
