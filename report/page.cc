#include "report/page.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fathom/base/option_text.h"
#include "fathom/base/text.h"
#include "fathom/evaluate/evaluation.h"
#include "fathom/fitted/expert.h"
#include "fathom/fitted/relevance.h"
#include "fathom/fitted/report.h"
#include "report/figures.h"
#include "report/html.h"
#include "report/words.h"

namespace fathom::report {

namespace {

constexpr std::size_t kDrawnRows = 300;
constexpr std::size_t kSurprises = 10;
constexpr std::size_t kShownInputs = 20;

constexpr const char* kStyle = R"(
body { font: 15px/1.45 system-ui, 'Helvetica Neue', Arial, sans-serif; color: #1c1c1c;
       background: #fff; max-width: 880px; margin: 2em auto; padding: 0 1.2em;
       overflow-wrap: anywhere; }
h1 { font-size: 1.7em; margin: 0 0 .6em; }
h2 { font-size: 1.3em; margin: 2em 0 .5em; padding-top: .5em; border-top: 2px solid #1c1c1c; }
h3 { font-size: 1em; margin: 1.4em 0 .3em; }
p { margin: .5em 0; max-width: 46em; }
p.trust { font-size: 1.07em; }
table { border-collapse: collapse; margin: .5em 0 1em; font-size: .93em; }
th, td { padding: .22em .9em .22em 0; text-align: left; vertical-align: top; font-weight: normal; }
thead th { font-weight: bold; border-bottom: 1px solid #1c1c1c; }
tbody tr + tr > * { border-top: 1px solid #e3e3e3; }
th.k { white-space: nowrap; }
th.r, td.r { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
div.figures { display: grid; gap: 0 1.6em;
              grid-template-columns: repeat(auto-fit, minmax(380px, 1fr)); }
figure { margin: 0 0 1em; break-inside: avoid; }
figure svg { display: block; max-width: 100%; height: auto; }
figcaption { font-size: .87em; color: #444; }
@media print {
  body { margin: 0; max-width: none; font-size: 10.5pt; }
  div.figures { grid-template-columns: 1fr 1fr; }
  tr, table { break-inside: avoid; }
  h2, h3, p.lead { break-after: avoid; }
}
)";

void AddHead(const PageOptions& options, const Model& model, const Findings& findings,
             HtmlWriter* page) {
  const std::string check = DescribeCheck(model);
  const Member& leader = model.leader();
  HtmlTable facts{.columns = "kl"};
  facts.rows = {{"model", options.model_file},
                {"table", options.table_file},
                {"rows", Rows(findings.table_rows) + ", " + std::to_string(findings.scored_rows) +
                             " with a known target"},
                {"predicted", QuotedList(model.schema().targets)},
                {"from", QuotedList(model.schema().FeatureNames())},
                {"kind", model.members().size() == 1
                             ? leader.expert->Describe()
                             : "a stack of " + std::to_string(model.members().size()) + " members"},
                {"trained", "on " + Rows(model.summary().rows)},
                {"checked", check.empty() ? "no check on left-out rows is recorded" : check}};
  page->Text("h1", "Can this model be trusted on new rows?");
  page->Add(facts);
  page->Text("p",
             "The model was asked for the rows of the table without being shown their targets. "
             "If it was trained on these rows, this page flatters it.");
}

// The scores in the words of 'fathom evaluate'; those of rows beyond the training beside them.
void AddScores(const Evaluation& scores, const std::optional<Evaluation>& outside,
               HtmlWriter* page) {
  HtmlTable table{.header = {"score", "all rows"}, .columns = outside ? "krrl" : "krl"};
  if (outside) table.header.emplace_back("outside");
  table.header.emplace_back("meaning");
  const auto add = [&](const char* key, const std::string& all, const std::string& beyond,
                       const char* meaning) {
    table.rows.push_back({key, all});
    if (outside) table.rows.back().push_back(beyond);
    table.rows.back().emplace_back(meaning);
  };
  const std::vector<NamedScore> all = NamedScores(scores);
  const std::vector<NamedScore> beyond = outside ? NamedScores(*outside) : all;
  for (std::size_t i = 0; i < all.size(); ++i)
    add(all[i].kind->key, Short(all[i].value), Short(beyond[i].value), all[i].kind->meaning);
  add("rows", std::to_string(ScoredRows(scores)),
      std::to_string(ScoredRows(outside.value_or(scores))), "rows with a target");
  page->Text("h3", "Scores");
  page->Add(table);
}

template <typename Own>
std::optional<Evaluation> OutsideOf(const Own& findings) {
  if (!findings.outside) return std::nullopt;
  return Evaluation(*findings.outside);
}

void AddDrawnRows(const NumberFindings& findings, HtmlWriter* page) {
  const std::vector<NumberRow> drawn = EvenlyByMean(findings.rows, kDrawnRows);
  const std::string truth = TruthFigure(findings.target, drawn);
  if (truth.empty()) return;
  const std::string which =
      drawn.size() < findings.rows.size()
          ? " " + std::to_string(drawn.size()) + " rows are drawn, chosen evenly by the prediction."
          : "";
  page->AddFigure(truth, "True and predicted",
                  "Of 100 bars, 95 should touch the dashed line." + which);
  page->AddFigure(ErrorFigure(findings.target, drawn), "Errors along the prediction",
                  "Points should scatter around the dashed line everywhere; a trend says that the "
                  "model errs in one direction there.");
}

void AddNumberFigures(const NumberFindings& findings, HtmlWriter* page) {
  page->Open("div", "figures");
  page->AddFigure(CoverageFigure(findings), "Promised and found coverage",
                  "An honest model stays within the band. Below it the error bars are too narrow, "
                  "above it too wide.");
  page->AddFigure(TenthsFigure(findings), "Where targets lie in what was predicted",
                  "An honest model is flat. A valley says that error bars are too narrow, a hill "
                  "that they are too wide, a slope that predictions are too low or too high.");
  AddDrawnRows(findings, page);
  page->Close();
}

void AddSurprises(const NumberFindings& findings, HtmlWriter* page) {
  HtmlTable table{.header = {"row", "target", "mean", "95 % from", "to", "log density"},
                  .columns = "rrrrrr"};
  for (const NumberRow& row : MostSurprising(findings.rows, kSurprises)) {
    table.rows.push_back({std::to_string(row.row), Short(row.target), Short(row.mean),
                          Short(row.low), Short(row.high), Short(row.log_density)});
  }
  page->Text("h3", "The most surprising rows");
  page->Text("p",
             "The model expected these targets least. Look here first for mistakes in the "
             "table, and for what the inputs do not tell. Rows are counted from 1, without "
             "the line of names.",
             "lead");
  page->Add(table);
}

void AddTarget(const NumberFindings& findings, HtmlWriter* page) {
  page->Text("h2", "Predictions of " + Quoted(findings.target));
  page->Text("p", TrustSentence(findings), "trust");
  page->Text("p", ErrorSentence(findings));
  AddNumberFigures(findings, page);
  AddScores(findings.scores, OutsideOf(findings), page);
  AddSurprises(findings, page);
}

void AddConfusion(const ClassFindings& findings, const std::vector<std::string>& classes,
                  HtmlWriter* page) {
  HtmlTable table{.header = {"true \\ predicted"},
                  .columns = "h" + std::string(classes.size(), 'r')};
  table.header.insert(table.header.end(), classes.begin(), classes.end());
  for (std::size_t c = 0; c < classes.size(); ++c) {
    table.rows.push_back({classes[c]});
    for (const Index count : findings.scores.confusion.row(static_cast<Index>(c)))
      table.rows.back().push_back(std::to_string(count));
  }
  page->Text("h3", "Rows by true and predicted class");
  page->Add(table);
}

void AddSurprises(const ClassFindings& findings, const std::vector<std::string>& classes,
                  HtmlWriter* page) {
  HtmlTable table{.header = {"row", "true class", "its probability", "predicted class",
                             "its probability", "log probability"},
                  .columns = "rlrlrr"};
  for (const ClassRow& row : MostSurprising(findings.rows, kSurprises)) {
    table.rows.push_back({std::to_string(row.row), classes[static_cast<std::size_t>(row.truth)],
                          Short(row.of_truth), classes[static_cast<std::size_t>(row.predicted)],
                          Short(row.of_predicted), Short(std::log(row.of_truth))});
  }
  page->Text("h3", "The most surprising rows");
  page->Text("p",
             "The model gave the true classes of these rows the least probability. Look here "
             "first for wrong labels. Rows are counted from 1, without the line of names.",
             "lead");
  page->Add(table);
}

void AddClasses(const ClassFindings& findings, const Schema& schema, HtmlWriter* page) {
  page->Text("h2", "Predictions of " + Quoted(findings.target));
  page->Text("p", TrustSentence(findings), "trust");
  page->Text("p", ErrorSentence(findings, schema));
  page->AddFigure(ReliabilityFigure(findings), "Promised and found",
                  "Rows in ten groups by the probability of their predicted class. An honest model "
                  "stays within the band; below it the model is too sure of itself.");
  AddScores(findings.scores, OutsideOf(findings), page);
  AddConfusion(findings, schema.classes, page);
  AddSurprises(findings, schema.classes, page);
}

void AddRelevance(const Model& model, HtmlWriter* page) {
  page->Text("h2", "Which inputs matter");
  if (!KnowsRelevance(model)) {
    page->Text("p", "A model of this kind does not tell.");
    return;
  }
  RelevanceTable relevance = DescribeRelevance(model);
  const std::size_t shown = std::min(kShownInputs, relevance.rows.size());
  page->Text("p",
             "The relevance of an input is how strongly the target depends on it, per standard "
             "deviation of the input and relative to the most relevant one. Its lengthscale is "
             "the distance, in the units of the file, over which the prediction changes.");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < shown; ++i) names.push_back(relevance.rows[i].front());
  page->AddFigure(RelevanceFigure(names, relevance.largest.head(static_cast<Index>(shown))),
                  "Relevance",
                  model.schema().targets.size() == 1 ? "The most relevant input is 1."
                                                     : "To the target that needs the input most.");
  HtmlTable table{.header = std::move(relevance.header), .rows = std::move(relevance.rows)};
  table.columns = "h" + std::string(table.header.size() - 1, 'r');
  const std::size_t more = table.rows.size() - shown;
  table.rows.resize(shown);
  page->Add(table);
  if (more > 0) page->Text("p", std::to_string(more) + " inputs of less relevance are left out.");
}

void AddNotes(const std::vector<Note>& notes, HtmlWriter* page) {
  if (notes.empty()) return;
  page->Text("h2", "Notes on the table");
  page->Open("ul");
  for (const Note& note : notes) page->Text("li", note.text);
  page->Close();
}

}  // namespace

std::string Page(const PageOptions& options, const Model& model, const Findings& findings) {
  HtmlWriter page("Report on " + options.model_file, kStyle);
  AddHead(options, model, findings, &page);
  page.Text("p", OutsideSentence(findings));
  if (findings.classes) AddClasses(*findings.classes, model.schema(), &page);
  for (const NumberFindings& own : findings.numbers) AddTarget(own, &page);
  if (findings.together) {
    page.Text("h2", "All targets together");
    page.Text("p", "mean_log_likelihood " + Short(findings.together->mean_log_likelihood) +
                       ": mean log density of all targets of a row; larger is better.");
  }
  AddRelevance(model, &page);
  AddNotes(options.notes, &page);
  return std::move(page).Finish();
}

}  // namespace fathom::report
