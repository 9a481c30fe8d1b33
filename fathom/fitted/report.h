// What a user is told at the end of a training.
#ifndef FATHOM_FITTED_REPORT_H_
#define FATHOM_FITTED_REPORT_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "fathom/data/dataset.h"
#include "fathom/fitted/model.h"

namespace fathom {

// `dataset` is what the model was trained on, or null if nothing is known of it.
nlohmann::ordered_json JsonReport(const std::string& path, const Model& model,
                                  const Dataset* dataset);
std::string HumanReport(const std::string& path, const Model& model, const Dataset* dataset);

// A list of objects: "kind", "count", "text".
nlohmann::ordered_json NotesJson(const std::vector<Note>& notes);

}  // namespace fathom

#endif  // FATHOM_FITTED_REPORT_H_
