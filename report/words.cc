#include "report/words.h"

#include <cmath>
#include <cstdio>

#include "fathom/base/option_text.h"
#include "fathom/base/text.h"
#include "report/figures.h"

namespace fathom::report {

namespace {

constexpr const char* kNoBetter = " On these rows the model is no better than that guess.";

struct Judgements {
  const char *as_promised, *too_few, *too_many;
};

// Compares a share with the probability that was promised, as far as so many rows can tell.
std::string Verdict(double found, double promised, Index rows, const Judgements& judgements) {
  const double gap = found - promised;
  if (std::abs(gap) <= ChanceAround(promised, rows))
    return std::string("Chance alone explains the difference: ") + judgements.as_promised + ".";
  return std::string("The difference is more than chance explains: ") +
         (gap < 0 ? judgements.too_few : judgements.too_many) +
         (std::abs(gap) <= 0.02 ? ", but not by much." : ".");
}

}  // namespace

std::string Percent(double share) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f %%", 100 * share);
  return text;
}

std::string Rows(Index rows) { return std::to_string(rows) + (rows == 1 ? " row" : " rows"); }

std::string ErrorSentence(const NumberFindings& findings) {
  double mean = 0, squares = 0;
  const auto count = static_cast<double>(findings.rows.size());
  for (const NumberRow& row : findings.rows) mean += row.target / count;
  for (const NumberRow& row : findings.rows)
    squares += (row.target - mean) * (row.target - mean) / count;
  const double guess = std::sqrt(squares);
  return "The root mean squared error is " + Short(findings.scores.rmse) +
         ". The mean of these targets, as a guess for every row, would have " + Short(guess) + "." +
         (findings.scores.rmse < guess ? "" : kNoBetter);
}

std::string ErrorSentence(const ClassFindings& findings, const Schema& schema) {
  const auto counts = findings.scores.confusion.rowwise().sum().eval();
  Index frequent = 0;
  const Index most = counts.maxCoeff(&frequent);
  const double guess = static_cast<double>(most) / static_cast<double>(findings.scores.rows);
  return "The predicted class is right in " + Percent(findings.scores.accuracy) +
         " of the rows. The most frequent class, " +
         Quoted(schema.classes[static_cast<std::size_t>(frequent)]) +
         ", as a guess for every row, would be right in " + Percent(guess) + "." +
         (findings.scores.accuracy > guess ? "" : kNoBetter);
}

std::string TrustSentence(const NumberFindings& findings) {
  const double found = findings.scores.coverage_95;
  return "The 95 % intervals hold " + Percent(found) + " of the targets of " +
         Rows(findings.scores.rows) + ". " +
         Verdict(found, 0.95, findings.scores.rows,
                 {.as_promised = "nothing here speaks against the error bars",
                  .too_few = "on these rows the error bars are too narrow",
                  .too_many = "on these rows the error bars are too wide"});
}

std::string TrustSentence(const ClassFindings& findings) {
  double promised = 0;
  for (const ClassRow& row : findings.rows) promised += row.of_predicted;
  promised /= static_cast<double>(findings.rows.size());
  const double found = findings.scores.accuracy;
  return "On average the predicted class has a probability of " + Percent(promised) +
         ", and it is right in " + Percent(found) + " of " + Rows(findings.scores.rows) + ". " +
         Verdict(found, promised, findings.scores.rows,
                 {.as_promised = "nothing here speaks against the probabilities",
                  .too_few = "on these rows the model is too sure of itself",
                  .too_many = "on these rows the model is too cautious"});
}

std::string OutsideSentence(const Findings& findings) {
  if (!findings.range_known)
    return "This model does not know the range of its training rows, because an older fathom has "
           "made it.";
  if (findings.outside == 0) return "No row lies beyond the training rows in any input.";
  return Rows(findings.outside) + " of " + std::to_string(findings.scored_rows) +
         (findings.outside == 1 ? " lies" : " lie") + " beyond the training rows in " +
         QuotedList(findings.outside_columns) +
         ". There the model rests on nothing but the shape that it assumes; the scores of these "
         "rows stand apart below.";
}

}  // namespace fathom::report
