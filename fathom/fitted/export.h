// Models for programs that do not link with Fathom.
#ifndef FATHOM_FITTED_EXPORT_H_
#define FATHOM_FITTED_EXPORT_H_

#include <string>

#include "fathom/base/export.h"
#include "fathom/fitted/model.h"

namespace fathom FATHOM_PUBLIC {

// Everything that the model file holds as one JSON object: its description, and under "arrays"
// every array by its name as nested lists. Numbers read back as the same bits; those that JSON
// cannot write are strings ("NaN", "Infinity", "-Infinity").
std::string ExportJson(const Model& model);

// A C99 header that predicts means, standard deviations, quantiles and class probabilities as
// ModelPredictor does, of one network or of a calibrated ensemble, with nothing but libm: no memory
// is allocated, any number of threads may call it. `name` is the prefix of all its names, a C
// identifier. Throws Error for a name that is none, and with the reason for a model with a member,
// kernel or likelihood that it does not know, sampled paths or full covariances.
std::string ExportCHeader(const Model& model, const std::string& name);

// `text` with everything replaced that a C identifier may not hold; never empty.
std::string CIdentifier(const std::string& text);

}  // namespace fathom

#endif  // FATHOM_FITTED_EXPORT_H_
