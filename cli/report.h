// What a user is told at the end of a training.
#ifndef FATHOM_CLI_REPORT_H_
#define FATHOM_CLI_REPORT_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "fathom/fitted/model.h"

namespace fathom::cli {

nlohmann::ordered_json JsonReport(const std::string& path, const Dataset& dataset,
                                  const Model& model);
std::string HumanReport(const std::string& path, const Dataset& dataset, const Model& model);

}  // namespace fathom::cli

#endif  // FATHOM_CLI_REPORT_H_
