// What the checks of all kinds of reference files share: JSON to matrices, and the comparison rule.
#ifndef FATHOM_TESTS_REFERENCE_JSON_H_
#define FATHOM_TESTS_REFERENCE_JSON_H_

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
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

// Collects what differs by more than tolerance * max(1, max|expected|), the rule of the files. A
// case may hold only some of the numbers of its kind: those that are there are compared. A number
// that no check asked for is unknown, and a case without any number proves nothing: both differ.
class Comparison {
 public:
  explicit Comparison(double tolerance) : tolerance_(tolerance) {}

  void Expect(const std::string& what, const Matrix& actual, const Matrix& expected) {
    ++compared_;
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
  void Expect(const std::string& what, const Vector& actual, const Json& expected) {
    Expect(what, Matrix(actual), Matrix(ToVector(expected)));
  }
  void Expect(const std::string& what, const Matrix& actual, const Json& expected) {
    Expect(what, actual, ToMatrix(expected));
  }
  void Expect(const std::string& what, const std::vector<Matrix>& actual, const Json& expected) {
    Expect(what + " rows", static_cast<double>(actual.size()), expected.size());
    for (std::size_t n = 0; n < std::min(actual.size(), expected.size()); ++n)
      Expect(what, actual[n], expected[n]);
  }

  // What stands under that name, or null.
  const Json* Find(const Json& object, const std::string& key) {
    const auto found = object.find(key);
    if (found == object.end()) return nullptr;
    read_.insert(&*found);
    return &*found;
  }
  // Compares what stands under that name, if anything does; only then is actual() called.
  template <typename Actual>
  void ExpectAt(const Json& object, const std::string& key, const std::string& what,
                const Actual& actual) {
    if (const Json* expected = Find(object, key)) Expect(what, actual(), *expected);
  }

  // To be called at the end with the parts of a case that hold expected numbers.
  void ExpectAllRead(const Json& part, const std::string& name) {
    if (part.is_array()) {
      for (const Json& element : part) ExpectAllRead(element, name);
    } else if (part.is_object()) {
      const std::string start = name + ".";
      for (const auto& [key, value] : part.items()) {
        if (!read_.contains(&value)) text_ << "unknown key " << start << key << "; ";
        if (read_.contains(&value)) ExpectAllRead(value, start + key);
      }
    }
  }

  std::string text() const {
    return compared_ == 0 ? text_.str() + "the case holds nothing to compare" : text_.str();
  }

 private:
  double tolerance_;
  int compared_ = 0;
  std::set<const Json*> read_;
  std::ostringstream text_;
};

// A part of a case, or nothing where the case has no such part.
inline const Json& PartOf(const Json& test, const std::string& name) {
  static const Json nothing = Json::object();
  const auto found = test.find(name);
  return found == test.end() ? nothing : *found;
}

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

// The gradient with respect to theta, block by block, as far as `json` holds them by name.
inline void CompareBlocks(const std::string& what, const Kernel& kernel, Index input_dim,
                          const Vector& actual, const Json& json, Comparison* compare) {
  Index begin = 0;
  for (const Kernel::Block& block : kernel.Blocks(input_dim)) {
    if (const Json* found = compare->Find(json, block.name)) {
      std::vector<double> values;
      Flatten(*found, &values);
      compare->Expect(
          what + block.name, Matrix(actual.segment(begin, block.size)),
          Matrix(Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()))));
    }
    begin += block.size;
  }
}

// The checks of the kinds.
void CheckPsi(const Json& test, Comparison* compare);
void CheckLayer(const Json& test, Comparison* compare);
void CheckEnergy(const Json& test, Comparison* compare);
void CheckVariational(const Json& test, Comparison* compare);
void CheckEpStep(const Json& test, Comparison* compare);
void CheckFitc(const Json& test, Comparison* compare);
void CheckNeighbourGp(const Json& test, Comparison* compare);
// Those of the Bayesian neural networks.
namespace bnn {
void CheckPbpAdf(const Json& test, Comparison* compare);
void CheckPbpGamma(const Json& test, Comparison* compare);
void CheckPbpPrior(const Json& test, Comparison* compare);
void CheckPbpEpochs(const Json& test, Comparison* compare);
void CheckViWeight(const Json& test, Comparison* compare);
void CheckViLocal(const Json& test, Comparison* compare);
void CheckViKl(const Json& test, Comparison* compare);
void CheckViGraves(const Json& test, Comparison* compare);
void CheckSgldStep(const Json& test, Comparison* compare);
void CheckHmcPosterior(const Json& test, Comparison* compare);
void CheckHmcLeapfrog(const Json& test, Comparison* compare);
void CheckHmcGibbs(const Json& test, Comparison* compare);
void CheckDropout(const Json& test, Comparison* compare);
void CheckPredictive(const Json& test, Comparison* compare);
void CheckDiagnostics(const Json& test, Comparison* compare);
}  // namespace bnn

}  // namespace fathom

#endif  // FATHOM_TESTS_REFERENCE_JSON_H_
