// The figures of a report, as SVG.
#ifndef FATHOM_REPORT_FIGURES_H_
#define FATHOM_REPORT_FIGURES_H_

#include <string>
#include <vector>

#include "report/findings.h"

namespace fathom::report {

// How far the share of `rows` independent rows may lie from the probability p, in 95 of 100 tables,
// by the normal approximation.
double ChanceAround(double p, Index rows);

// How many targets lie in the central interval of each level: on the diagonal, if they are honest.
std::string CoverageFigure(const NumberFindings& findings);
// How often the target lies in each tenth of its predicted distribution: flat, if they are honest.
std::string TenthsFigure(const NumberFindings& findings);
// True against predicted values with 95 % bars, and errors along the prediction, of `rows`; empty
// if no row can be drawn.
std::string TruthFigure(const std::string& target, const std::vector<NumberRow>& rows);
std::string ErrorFigure(const std::string& target, const std::vector<NumberRow>& rows);
// How often predicted classes are right, by their probability.
std::string ReliabilityFigure(const ClassFindings& findings);
// A bar for each input, the first on top.
std::string RelevanceFigure(const std::vector<std::string>& names, const Vector& relevance);

}  // namespace fathom::report

#endif  // FATHOM_REPORT_FIGURES_H_
