// Model files of formats 1 to 4. There, a model was one network with companions: networks of the
// same table, each described as a model of its own.
#ifndef FATHOM_FITTED_OLD_FORMATS_H_
#define FATHOM_FITTED_OLD_FORMATS_H_

#include <nlohmann/json_fwd.hpp>

#include "fathom/fitted/model.h"
#include "fathom/io/safetensors.h"

namespace fathom {

// Removes the model's arrays from *content. Its members are the network and then its companions,
// each followed by its share under more noise, if it has one.
ModelParts TakeOldModel(const nlohmann::json& description, SafeTensors* content);

}  // namespace fathom

#endif  // FATHOM_FITTED_OLD_FORMATS_H_
