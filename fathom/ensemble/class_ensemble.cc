#include "fathom/ensemble/class_ensemble.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "fathom/ensemble/shares.h"
#include "fathom/fitted/by_expert.h"
#include "fathom/fitted/logistic_expert.h"
#include "fathom/train/observations.h"

namespace fathom {

namespace {

// Logistic regression costs nothing beside networks, unless the table is large, and sees all
// rows.
std::unique_ptr<LogisticFit> FitLine(const ScaledTable& table, const Dataset& dataset) {
  constexpr Index kMostRows = 20000, kMostColumns = 500;
  if (table.rows() > kMostRows || table.x.cols() > kMostColumns) return nullptr;
  return std::make_unique<LogisticFit>(CrossFitLogistic(table.x, table.y.col(0),
                                                        std::ssize(dataset.schema().classes),
                                                        table.fold_of_row, table.weights));
}

Member AsMember(const LogisticFit& line, double weight, const ScaledTable& table,
                const Dataset& dataset, const Recipe& recipe) {
  TrainingSummary summary;
  summary.rows = table.rows();
  const std::string likelihood = ChooseLikelihood(recipe.architecture.likelihood, dataset);
  return {.expert = std::make_shared<LogisticExpert>(line.logistic, likelihood),
          .input_scaler = table.input_scaler,
          .target_scaler = table.target_scaler,
          .weight = weight,
          .recipe = recipe,
          .summary = summary};
}

}  // namespace

bool IsPromisingForClasses(const ScaledTable& table, const Recipe& recipe, const CrossFit& kind,
                           const std::vector<const CrossFit*>& complete) {
  constexpr double kTooFar = 0.1;  // nats per row
  // A kind without hidden layers costs next to nothing.
  if (kind.recipe().architecture.hidden.empty() || recipe.stack == Stacking::kAlways) return true;
  const std::vector<Index> rows = kind.RowsDone();
  if (rows.empty()) return true;
  const Vector counts =
      table.weights.size() > 0 ? Vector(table.weights(rows)) : Vector::Ones(std::ssize(rows));
  const auto mean_of = [&](const CrossFit& judged) {
    return judged.log_probability()(rows).dot(counts) / counts.sum();
  };
  const double own = mean_of(kind);
  return std::none_of(complete.begin(), complete.end(),
                      [&](const CrossFit* other) { return mean_of(*other) > own + kTooFar; });
}

std::vector<Member> MixtureOfClasses(const ScaledTable& table, const Dataset& dataset,
                                     const Recipe& recipe,
                                     const std::vector<const CrossFit*>& complete) {
  const std::unique_ptr<LogisticFit> line = FitLine(table, dataset);
  Matrix log_probability(table.rows(),
                         static_cast<Index>(complete.size()) + (line != nullptr ? 1 : 0));
  for (std::size_t k = 0; k < complete.size(); ++k)
    log_probability.col(static_cast<Index>(k)) = complete[k]->log_probability();
  if (line != nullptr) log_probability.rightCols(1) = line->log_probability;
  if (log_probability.cols() == 0) return {};
  const Vector shares = StackShares(log_probability, table.weights);
  constexpr double kLeastShare = 0.02;
  std::vector<Member> members;
  for (std::size_t k = 0; k < complete.size(); ++k) {
    const double share =
        shares[static_cast<Index>(k)] / static_cast<double>(complete[k]->networks().size());
    if (shares[static_cast<Index>(k)] < kLeastShare) continue;
    for (Member network : complete[k]->networks()) {
      network.weight = share;
      members.push_back(std::move(network));
    }
  }
  // The networks come first: one of them leads.
  if (line != nullptr && (members.empty() || shares[shares.size() - 1] >= kLeastShare))
    members.push_back(AsMember(*line, shares[shares.size() - 1], table, dataset, recipe));
  // The second time removes the rounding errors of the first.
  NormalizeWeights(&members);
  NormalizeWeights(&members);
  return members;
}

}  // namespace fathom
