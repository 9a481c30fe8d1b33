// The named arrays of a model file. Writers and readers of a part of the model see only the names
// behind that part's prefix.
#ifndef FATHOM_FITTED_ARRAYS_H_
#define FATHOM_FITTED_ARRAYS_H_

#include <string>
#include <vector>

#include "fathom/base/types.h"
#include "fathom/io/safetensors.h"

namespace fathom {

class ArrayWriter {
 public:
  // Keeps the pointer.
  explicit ArrayWriter(SafeTensors* content, std::string prefix = {})
      : content_(content), prefix_(std::move(prefix)) {}

  ArrayWriter Under(const std::string& prefix) const {
    return ArrayWriter(content_, prefix_ + prefix);
  }
  void Write(const std::string& name, const std::vector<Index>& shape, const double* data) const;
  void Write(const std::string& name, const Vector& vector) const;
  void Write(const std::string& name, const Matrix& matrix) const;

 private:
  SafeTensors* content_;
  std::string prefix_;
};

// Every array is taken out of the content, so that what is left at the end belongs to nothing.
class ArrayReader {
 public:
  // Keeps the pointer.
  explicit ArrayReader(SafeTensors* content, std::string prefix = {})
      : content_(content), prefix_(std::move(prefix)) {}

  ArrayReader Under(const std::string& prefix) const {
    return ArrayReader(content_, prefix_ + prefix);
  }
  // Throw Error unless the array is there in that shape. Nothing is allocated for one that is not.
  Vector TakeVector(const std::string& name, Index size) const;
  Matrix TakeMatrix(const std::string& name, Index rows, Index cols) const;

 private:
  std::vector<double> Take(const std::string& name, const std::vector<Index>& shape) const;

  SafeTensors* content_;
  std::string prefix_;
};

// Throws Error if the content still has arrays.
void RequireNothingLeft(const SafeTensors& content);

}  // namespace fathom

#endif  // FATHOM_FITTED_ARRAYS_H_
