// What others have published, from the files of experiments/published, which the library holds.
#ifndef FATHOM_STUDY_PUBLISHED_H_
#define FATHOM_STUDY_PUBLISHED_H_

#include <string>
#include <string_view>
#include <vector>

#include "study/score_table.h"

namespace fathom {

std::vector<PublishedMethod> LoadPublished();

// A section for each method, with the keys
//   source    where it is printed
//   splits    "same" as ours, or "other"
//   error     "se" or "sd": what the errors are
//   study     optional: see PublishedMethod
//   datasets  a list
//   SCORE and SCORE_error, for any score: lists of as many numbers, nan where there is none
//   SCORE_unreachable  optional: datasets on which no honest test has come near that value
// Throws Error with the line.
std::vector<PublishedMethod> ParsePublished(const std::string& source, std::string_view text);

}  // namespace fathom

#endif  // FATHOM_STUDY_PUBLISHED_H_
