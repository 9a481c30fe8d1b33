#include "bnn/job.h"

#include <cmath>

#include "fathom/base/error.h"
#include "fathom/base/text.h"

namespace fathom::bnn {

namespace {

constexpr Index kMostUpdates = Index{1} << 52;  // all below are exact as doubles

}  // namespace

void StateWriter::operator()(const std::string& name, const double* value) const {
  state_[name] = Matrix::Constant(1, 1, *value);
}

void StateWriter::operator()(const std::string& name, const Index* value, Index /*most*/) const {
  state_[name] = Matrix::Constant(1, 1, static_cast<double>(*value));
}

void StateWriter::operator()(const std::string& name, const Vector* value) const {
  state_[name] = *value;
}

void StateWriter::operator()(const std::string& name, const AdamState* value) const {
  (*this)(name + ".first", &value->first);
  (*this)(name + ".second", &value->second);
  (*this)(name + ".updates", &value->updates, kMostUpdates);
}

void StateWriter::operator()(const std::string& name, const NoiseStream* value) const {
  state_[name] = Matrix::Constant(1, 1, static_cast<double>(value->place()));
}

void StateWriter::operator()(const std::string& name, const Matrix* value,
                             const Index* count) const {
  state_[name] = value->topRows(*count);
}

void StateWriter::operator()(const std::string& name, const Vector* value,
                             const Index* count) const {
  state_[name] = value->head(*count);
}

void StateWriter::operator()(const std::string& name, const Chain* value) const {
  (*this)(name + ".weights", &value->weights, &value->kept);
  (*this)(name + ".noise", &value->noise, &value->kept);
}

const Matrix& StateReader::Find(const std::string& name, Index most_rows, Index cols) const {
  const auto found = state_.find(name);
  if (found == state_.end()) ThrowError("its job ", Quoted(job_), " has no ", Quoted(name));
  const Matrix& array = found->second;
  if (array.rows() > most_rows || array.cols() != cols)
    ThrowError(Quoted(name), " of its job ", Quoted(job_), " has the wrong size");
  return array;
}

void StateReader::operator()(const std::string& name, double* value) const {
  Vector one(1);
  (*this)(name, &one);
  *value = one[0];
}

void StateReader::operator()(const std::string& name, Index* value, Index most) const {
  double number = 0;
  (*this)(name, &number);
  if (number != std::floor(number) || number < 0 || number > static_cast<double>(most))
    ThrowError(Quoted(name), " of its job ", Quoted(job_), " must be a whole number up to ", most,
               ", not ", number);
  *value = static_cast<Index>(number);
}

void StateReader::operator()(const std::string& name, Vector* value) const {
  Index count = 0;
  const Index size = value->size();
  (*this)(name, value, &count);
  if (count != size) ThrowError(Quoted(name), " of its job ", Quoted(job_), " is too short");
}

void StateReader::operator()(const std::string& name, AdamState* value) const {
  (*this)(name + ".first", &value->first);
  (*this)(name + ".second", &value->second);
  (*this)(name + ".updates", &value->updates, kMostUpdates);
}

void StateReader::operator()(const std::string& name, NoiseStream* value) const {
  Index place = 0;
  (*this)(name, &place, kMostUpdates);
  value->GoTo(static_cast<std::uint64_t>(place));
}

void StateReader::operator()(const std::string& name, Matrix* value, Index* count) const {
  const Matrix& array = Find(name, value->rows(), value->cols());
  value->topRows(array.rows()) = array;
  *count = array.rows();
}

void StateReader::operator()(const std::string& name, Vector* value, Index* count) const {
  const Matrix& array = Find(name, value->size(), 1);
  value->head(array.rows()) = array.col(0);
  *count = array.rows();
}

void StateReader::operator()(const std::string& name, Chain* value) const {
  (*this)(name + ".weights", &value->weights, &value->kept);
  const Index kept = value->kept;
  (*this)(name + ".noise", &value->noise, &value->kept);
  if (value->kept != kept)
    ThrowError("the draws of its job ", Quoted(job_), " have not one noise each");
}

}  // namespace fathom::bnn
