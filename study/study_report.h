// All that is made of the results of studies: tables, figures and tests.
#ifndef FATHOM_STUDY_STUDY_REPORT_H_
#define FATHOM_STUDY_STUDY_REPORT_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "study/score_table.h"
#include "study/unit_record.h"

namespace fathom {

// The records of several folders together. Throws Error for a folder that has none, and for a unit
// that two folders have.
std::vector<UnitRecord> ReadAllResults(const std::vector<std::string>& folders);

struct StudyReport {
  struct File {
    std::string name, content;
  };

  std::string markdown;     // everything, for people
  std::vector<File> files;  // tables as CSV, figures as SVG, and the Markdown
  nlohmann::ordered_json
      json;  // scores, details and failures; docs/reference/json.md explains every field
};

// Methods that are also compared among themselves, such as all GPs.
struct MethodGroup {
  std::string name;
  std::vector<std::string> methods;
};

StudyReport MakeStudyReport(const std::vector<UnitRecord>& records,
                            const std::vector<PublishedMethod>& published,
                            const std::vector<MethodGroup>& groups = {});

}  // namespace fathom

#endif  // FATHOM_STUDY_STUDY_REPORT_H_
