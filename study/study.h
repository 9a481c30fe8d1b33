// Studies: which methods run on which splits of which datasets, described by a file.
#ifndef FATHOM_STUDY_STUDY_H_
#define FATHOM_STUDY_STUDY_H_

#include <memory>
#include <string>
#include <vector>

#include "study/data_folder.h"
#include "study/methods.h"
#include "study/predictor.h"

namespace fathom {

// Several of a study may have one name, on datasets of their own: a method whose settings depend on
// the dataset.
struct StudyMethod {
  std::string name;
  std::shared_ptr<const Method> method = nullptr;
  std::vector<std::string> datasets = {};  // on which it runs
  std::vector<Index> splits = {};          // empty: all that a dataset has
};

struct Study {
  std::string name;
  std::vector<std::string> datasets;
  std::vector<StudyMethod> methods;
  DataFolderOptions data;
  double budget = 0;   // seconds of CPU for each unit; 0: no limit
  std::string source;  // where the data come from, for whoever has not got them
};

// `study` is the name of one of experiments/, or a file. Its methods are of the given kinds. Throws
// Error with file, line and cure.
Study LoadStudy(const std::string& study, const std::vector<MethodKind>& kinds);

// A dataset of the study from `folder`, which data that we make ourselves do not need. Throws
// Error, with the study's own hint where the data come from.
SplitData LoadStudyData(const Study& study, const std::string& folder, const std::string& dataset);

// "0-4,7" as {0, 1, 2, 3, 4, 7}. Throws Error, which begins with `name`.
std::vector<Index> ParseSplitNumbers(const std::string& name, const std::string& text);

// Leaves only the datasets, methods and splits that are named; an empty list leaves all. Throws
// Error for a name that the study has not.
void Narrow(const std::vector<std::string>& datasets, const std::vector<std::string>& methods,
            const std::vector<Index>& splits, Study* study);

}  // namespace fathom

#endif  // FATHOM_STUDY_STUDY_H_
