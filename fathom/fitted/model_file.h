// Between a model and the arrays and metadata of its file.
#ifndef FATHOM_FITTED_MODEL_FILE_H_
#define FATHOM_FITTED_MODEL_FILE_H_

#include "fathom/fitted/model.h"
#include "fathom/io/safetensors.h"

namespace fathom {

// Arrays with this prefix are no part of the model; a checkpoint has them.
inline constexpr const char* kOptimizerPrefix = "optimizer.";

// The version of the file's format. Throws Error unless it is a model of a format that can be read.
int FormatOf(const SafeTensors& content);

SafeTensors ModelToTensors(const Model& model);

// Builds the model and removes its arrays from *content. Throws Error with the reason if anything
// is missing or does not fit.
Model TakeModel(SafeTensors* content);

}  // namespace fathom

#endif  // FATHOM_FITTED_MODEL_FILE_H_
