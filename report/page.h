// One page that says whether a model can be trusted on new rows, for people who do not write code.
#ifndef FATHOM_REPORT_PAGE_H_
#define FATHOM_REPORT_PAGE_H_

#include <string>
#include <vector>

#include "fathom/data/table.h"
#include "fathom/fitted/model.h"
#include "report/findings.h"

namespace fathom::report {

struct PageOptions {
  std::string model_file, table_file;
  std::vector<Note> notes = {};  // on the table
};

// HTML that needs no other file and no network. The same findings give the same bytes.
std::string Page(const PageOptions& options, const Model& model, const Findings& findings);

}  // namespace fathom::report

#endif  // FATHOM_REPORT_PAGE_H_
