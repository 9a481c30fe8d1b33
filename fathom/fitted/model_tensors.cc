#include "fathom/fitted/model_tensors.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/text.h"

namespace fathom {

std::vector<double> TakeArray(const std::string& name, const std::vector<Index>& shape,
                              SafeTensors* content) {
  const auto found = content->tensors.find(name);
  if (found == content->tensors.end()) ThrowError("array ", Quoted(name), " is missing");
  const std::vector<std::uint64_t>& actual = found->second.shape;
  if (!std::equal(actual.begin(), actual.end(), shape.begin(), shape.end(),
                  [](std::uint64_t a, Index b) { return std::cmp_equal(a, b); })) {
    ThrowError("array ", Quoted(name), " has the wrong shape; the file is damaged, make it anew");
  }
  std::vector<double> values = std::move(found->second.values);
  content->tensors.erase(found);
  return values;
}

Vector TakeVector(const std::string& name, Index size, SafeTensors* content) {
  const std::vector<double> values = TakeArray(name, {size}, content);
  return Eigen::Map<const Vector>(values.data(), size);
}

Tensor ToTensor(const std::vector<Index>& shape, const double* data) {
  const Index size = std::accumulate(shape.begin(), shape.end(), Index{1}, std::multiplies<>());
  return {{shape.begin(), shape.end()}, {data, data + size}};
}

Tensor ToTensor(const Vector& vector) { return ToTensor({vector.size()}, vector.data()); }

void RequireNothingLeft(const SafeTensors& content) {
  if (content.tensors.empty()) return;
  ThrowError("array ", Quoted(content.tensors.begin()->first), " does not belong to the model");
}

}  // namespace fathom
