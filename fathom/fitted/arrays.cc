#include "fathom/fitted/arrays.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/text.h"

namespace fathom {

void ArrayWriter::Write(const std::string& name, const std::vector<Index>& shape,
                        const double* data) const {
  const Index size = std::accumulate(shape.begin(), shape.end(), Index{1}, std::multiplies<>());
  content_->tensors[prefix_ + name] = {{shape.begin(), shape.end()}, {data, data + size}};
}

void ArrayWriter::Write(const std::string& name, const Vector& vector) const {
  Write(name, {vector.size()}, vector.data());
}

void ArrayWriter::Write(const std::string& name, const Matrix& matrix) const {
  Write(name, {matrix.rows(), matrix.cols()}, matrix.data());
}

std::vector<double> ArrayReader::Take(const std::string& name,
                                      const std::vector<Index>& shape) const {
  const auto found = content_->tensors.find(prefix_ + name);
  if (found == content_->tensors.end()) ThrowError("array ", Quoted(prefix_ + name), " is missing");
  const std::vector<std::uint64_t>& actual = found->second.shape;
  if (!std::equal(actual.begin(), actual.end(), shape.begin(), shape.end(),
                  [](std::uint64_t a, Index b) { return std::cmp_equal(a, b); })) {
    ThrowError("array ", Quoted(prefix_ + name),
               " has the wrong shape; the file is damaged, make it anew");
  }
  std::vector<double> values = std::move(found->second.values);
  content_->tensors.erase(found);
  return values;
}

Vector ArrayReader::TakeVector(const std::string& name, Index size) const {
  const std::vector<double> values = Take(name, {size});
  return Eigen::Map<const Vector>(values.data(), size);
}

Matrix ArrayReader::TakeMatrix(const std::string& name, Index rows, Index cols) const {
  const std::vector<double> values = Take(name, {rows, cols});
  return Eigen::Map<const Matrix>(values.data(), rows, cols);
}

void RequireNothingLeft(const SafeTensors& content) {
  if (content.tensors.empty()) return;
  ThrowError("array ", Quoted(content.tensors.begin()->first), " does not belong to the model");
}

}  // namespace fathom
