// Between a model and the named arrays and texts of its file.
#ifndef FATHOM_FITTED_MODEL_TENSORS_H_
#define FATHOM_FITTED_MODEL_TENSORS_H_

#include "fathom/fitted/model.h"
#include "fathom/io/safetensors.h"

namespace fathom {

// Arrays with this prefix are no part of the model; a checkpoint has them.
inline constexpr const char* kOptimizerPrefix = "optimizer.";

// Throws Error for a model that TakeModel would refuse.
SafeTensors ModelToTensors(const Model& model);

// Builds the model and removes its arrays from *content. Throws Error with the reason if anything
// is missing or does not fit.
Model TakeModel(SafeTensors* content);

// Removes the array of that name from *content; throws Error unless it is there in that shape.
std::vector<double> TakeArray(const std::string& name, const std::vector<Index>& shape,
                              SafeTensors* content);
Vector TakeVector(const std::string& name, Index size, SafeTensors* content);

Tensor ToTensor(const std::vector<Index>& shape, const double* data);
Tensor ToTensor(const Vector& vector);

// Throws Error if *content still has arrays.
void RequireNothingLeft(const SafeTensors& content);

}  // namespace fathom

#endif  // FATHOM_FITTED_MODEL_TENSORS_H_
