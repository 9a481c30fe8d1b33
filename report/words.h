// What the numbers of a report mean, in sentences.
#ifndef FATHOM_REPORT_WORDS_H_
#define FATHOM_REPORT_WORDS_H_

#include <string>

#include "fathom/data/schema.h"
#include "report/findings.h"

namespace fathom::report {

std::string Percent(double share);  // "94.2 %"
std::string Rows(Index rows);       // "1 row", "5 rows"

// How large the errors are, beside those of a guess that looks at no input.
std::string ErrorSentence(const NumberFindings& findings);
std::string ErrorSentence(const ClassFindings& findings, const Schema& schema);
// Whether what was promised was found: the coverage of the 95 % intervals, or how often predicted
// classes are right.
std::string TrustSentence(const NumberFindings& findings);
std::string TrustSentence(const ClassFindings& findings);
// How many rows lie beyond the training rows.
std::string OutsideSentence(const Findings& findings);

}  // namespace fathom::report

#endif  // FATHOM_REPORT_WORDS_H_
