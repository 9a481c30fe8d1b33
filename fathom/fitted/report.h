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

// "on 400 rows left out in turn: the 95 % interval covers 96.0 %, ..."; empty where no row was.
std::string DescribeCheck(const Model& model);

// Which inputs matter, as cells: the most relevant first. Throws Error unless KnowsRelevance.
struct RelevanceTable {
  std::vector<std::string> header;             // "input", "lengthscale", "relevance"
  std::vector<std::vector<std::string>> rows;  // [inputs]
  Vector largest;  // [inputs]: relevance to the target that needs it most
};
RelevanceTable DescribeRelevance(const Model& model);

// A list of objects: "kind", "count", "text".
nlohmann::ordered_json NotesJson(const std::vector<Note>& notes);

}  // namespace fathom

#endif  // FATHOM_FITTED_REPORT_H_
