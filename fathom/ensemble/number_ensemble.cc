#include "fathom/ensemble/number_ensemble.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/ensemble/blend.h"
#include "fathom/ensemble/calibrate.h"
#include "fathom/ensemble/edges.h"
#include "fathom/fitted/linear_expert.h"

namespace fathom {

namespace {

// Members of a smaller weight would cost time at every prediction and change little.
constexpr double kLeastWeight = 0.02;

// What may have a weight of its own: how it predicts rows that it has not seen, and, for a
// neighbour GP, how it does without a fold.
struct Candidate {
  const Moments* left_out;
  const NeighbourCandidate* neighbours;  // or null
};

// [N, targets]: factors by which errors are scaled down if they are large because cells are not
// known. Such errors would hide what the other rows tell. 1 where all cells are certain.
Matrix Certainty(const ScaledTable& table, const Ridge& line) {
  const Matrix by_cells = table.x.var * line.weights.cwiseAbs2();
  Matrix certainty(table.rows(), table.targets());
  for (Index t = 0; t < table.targets(); ++t) {
    const double noise = line.noise[t];
    certainty.col(t) = (noise / (noise + by_cells.col(t).array())).sqrt();
  }
  return certainty;
}

// [N * targets, candidates]: how far off they are at rows that they have not seen, one target below
// the other; 0 where the target is missing, which says nothing about any candidate.
Matrix ErrorsOf(const ScaledTable& table, const std::vector<Candidate>& candidates,
                const RidgeFit* line) {
  const Index N = table.rows();
  const Index T = table.targets();
  Matrix errors(N * T, static_cast<Index>(candidates.size()));
  for (std::size_t k = 0; k < candidates.size(); ++k) {
    for (Index t = 0; t < T; ++t) {
      errors.col(static_cast<Index>(k)).segment(t * N, N) =
          table.y.col(t) - candidates[k].left_out->mean.col(t);
    }
  }
  if (line != nullptr && !table.AllCertain()) {
    const Matrix certainty = Certainty(table, line->ridge);
    for (Index t = 0; t < T; ++t)
      errors.middleRows(t * N, N).array().colwise() *= certainty.col(t).array();
  }
  for (Index cell = 0; cell < errors.rows(); ++cell) {
    if (errors.row(cell).hasNaN()) errors.row(cell).setZero();
  }
  return errors;
}

// How much each of these errors counts; empty if all count the same.
Vector CountsOf(const ScaledTable& table) {
  return table.weights.size() > 0 ? table.weights.replicate(table.targets(), 1) : Vector();
}

// Whether a single row is one of many. If so, a fold can tell what a network is worth, and
// neighbours may learn what networks or trees leave over. What predicts a neighbour without itself
// has seen the row in question, and in small tables one row bends a network: the neighbour's
// residual then tells what it must not know. On 150 rows of a straight line with noise 1, left-out
// rows then had an RMSE of 0.78 and new ones 1.13.
bool HasManyRows(const ScaledTable& table) {
  constexpr Index kLeastRows = 500;
  return table.rows() >= kLeastRows;
}

// The others must clearly beat the first candidate, unless there is no straight line (`line` is
// null).
Vector WeightsOf(const ScaledTable& table, const std::vector<Candidate>& candidates,
                 const RidgeFit* line) {
  const Matrix errors = ErrorsOf(table, candidates, line);
  const Vector counts = CountsOf(table);
  Vector weights = BlendWeights(errors, counts);
  // Members that lower the squared error by less than this are not worth their time.
  constexpr double kWorthIt = 0.002;
  if (HasManyRows(table)) weights = PruneBlend(errors, weights, kWorthIt, counts);
  if (line != nullptr) weights = DoubtBlend(errors, weights, table.targets(), counts);
  weights = (weights.array() < kLeastWeight).select(0, weights);
  return weights / weights.sum();
}

LeftOut Together(const std::vector<Candidate>& candidates, const Vector& weights) {
  std::vector<Candidate> used;
  std::vector<double> shares;
  for (std::size_t k = 0; k < candidates.size(); ++k) {
    if (weights[static_cast<Index>(k)] == 0) continue;
    used.push_back(candidates[k]);
    shares.push_back(weights[static_cast<Index>(k)]);
  }
  std::vector<Moments> moments;
  for (const Candidate& candidate : used) moments.push_back(*candidate.left_out);
  return {.centre = Centre(moments, shares), .without_fold = [used, shares](std::int32_t fold) {
            std::vector<Moments> without;
            for (const Candidate& candidate : used) {
              without.push_back(candidate.neighbours != nullptr
                                    ? candidate.neighbours->LeftOutWithFold(fold)
                                    : *candidate.left_out);
            }
            return Centre(without, shares);
          }};
}

}  // namespace

NumberEnsemble::NumberEnsemble(const ScaledTable& table, const Recipe& recipe,
                               const ThreadPool& pool, Callback callback,
                               const std::vector<NeighbourGp>& on_line)
    : table_(table), recipe_(recipe), pool_(pool), callback_(std::move(callback)) {
  if (recipe.local == Local::kNever) return;
  line_ = std::make_unique<RidgeFit>(FitRidge(table.x, table.y, table.weights, table.copies));
  // In very small tables a row bends the line of all rows, and the neighbours would hear of that.
  // In larger ones what is learnt from one line is better (docs/measurements/decisions.md).
  constexpr Index kFewRows = 150;
  std::vector<Matrix> without;
  if (table.rows() < kFewRows) {
    for (Index t = 0; t < table.targets(); ++t)
      without.push_back(MeansWithoutEach(*line_, table.x, table.y, t));
  }
  on_line_ = FitNeighbours(
      {PredictRidge(line_->ridge, table.x).mean, table.x.var * line_->ridge.weights.cwiseAbs2()},
      on_line, std::move(without));
}

std::vector<NeighbourGp> NumberEnsemble::OnLine() const {
  return on_line_ != nullptr ? on_line_->gps() : std::vector<NeighbourGp>();
}

std::unique_ptr<NeighbourCandidate> NumberEnsemble::FitNeighbours(
    const Moments& trend, const std::vector<NeighbourGp>& known,
    std::vector<Matrix> trend_without) const {
  NeighbourCandidate::Options options{.known = known,
                                      .trend_without = std::move(trend_without),
                                      .seed = recipe_.seed,
                                      .callback = callback_};
  // What is rough above a straight line is rough above a network.
  for (const NeighbourGp& gp : OnLine()) options.correlations.push_back(gp.correlation);
  try {
    return std::make_unique<NeighbourCandidate>(table_, trend, options, pool_);
  } catch (const NumericalError&) {
    return nullptr;  // the others are as good as before
  }
}

double NumberEnsemble::SquaredError() const {
  const auto error_of = [&](const Moments& left_out) {
    const Vector errors = ErrorsOf(table_, {{&left_out, nullptr}}, nullptr);
    return SumOfSquares(errors, CountsOf(table_));
  };
  double least = std::numeric_limits<double>::infinity();
  if (line_ != nullptr) least = error_of(line_->left_out);
  if (on_line_ != nullptr) least = std::min(least, error_of(on_line_->left_out()));
  return least;
}

void NumberEnsemble::FitTrees() {
  if (trees_ != nullptr || recipe_.local != Local::kAuto || !TreeCandidate::CanLearn(table_))
    return;
  // The mean of several is a little better, for as many times the time.
  const Index bags = recipe_.stack == Stacking::kAlways ? 4 : 1;
  trees_ = std::make_unique<TreeCandidate>(
      table_, TreeCandidate::Options{.bags = bags, .seed = recipe_.seed}, pool_);
}

std::unique_ptr<NeighbourCandidate> NumberEnsemble::FitResiduals(const Moments& trend) const {
  return line_ != nullptr && HasManyRows(table_) ? FitNeighbours(trend) : nullptr;
}

bool NumberEnsemble::IsPromising(const CrossFit& kind) {
  // A kind without hidden layers costs next to nothing.
  const bool cheap = kind.recipe().architecture.hidden.empty();
  if (on_line_ == nullptr || kind.networks().empty() || cheap) return true;
  // Where a fold tells little and time does not matter, all kinds are trained to the end.
  if (recipe_.stack == Stacking::kAlways && !HasManyRows(table_)) return true;
  const std::vector<Index> rows = kind.RowsDone();
  const ScaledTable judges = RowsOf(table_, rows);
  const Vector counts = CountsOf(judges);
  const auto errors_of = [&](const Moments& left_out) {
    const Moments part = left_out.Rows(rows);
    return Vector(ErrorsOf(judges, {{&part, nullptr}}, line_.get()));
  };
  const Vector own = errors_of(kind.left_out());
  const Vector neighbours = errors_of(on_line_->left_out());
  constexpr double kTooFar = 1.4;  // times the error of neighbours
  if (!(SumOfSquares(own, counts) <= kTooFar * kTooFar * SumOfSquares(neighbours, counts)))
    return false;
  if (kind.networks().size() > 1 || !HasManyRows(table_)) return true;
  // The first network tells whether the kind adds anything to what needs no network.
  constexpr double kLeastGain = 0.005;
  FitTrees();
  Matrix others(own.size(), trees_ != nullptr ? 3 : 2);
  others.col(0) = errors_of(line_->left_out);
  others.col(1) = neighbours;
  if (trees_ != nullptr) others.col(2) = errors_of(trees_->left_out());
  return BlendGain(others * BlendWeights(others, counts), own, counts) >= kLeastGain;
}

void NumberEnsemble::Finish(const std::vector<const CrossFit*>& kinds) {
  std::vector<Candidate> candidates;
  if (line_ != nullptr) candidates.push_back({&line_->left_out, nullptr});
  if (on_line_ != nullptr) candidates.push_back({&on_line_->left_out(), on_line_.get()});
  for (const CrossFit* kind : kinds) {
    candidates.push_back({&kind->left_out(), nullptr});
    on_kinds_.push_back(FitResiduals({kind->left_out().mean, kind->cell_variance()}));
    if (on_kinds_.back() != nullptr)
      candidates.push_back({&on_kinds_.back()->left_out(), on_kinds_.back().get()});
  }
  FitTrees();
  if (trees_ != nullptr) {
    candidates.push_back({&trees_->left_out(), nullptr});
    // Trees do not know how uncertain cells make them, and neighbours on them would have to.
    if (table_.AllCertain()) {
      on_trees_ =
          FitResiduals({trees_->left_out().mean, Matrix::Zero(table_.rows(), table_.targets())});
    }
    if (on_trees_ != nullptr) candidates.push_back({&on_trees_->left_out(), on_trees_.get()});
  }
  if (candidates.empty()) throw NumericalError("no member of the ensemble could be trained");
  const Vector weights = WeightsOf(table_, candidates, line_.get());
  const LeftOut left_out = Together(candidates, weights);
  blend_ = left_out.centre;
  Calibration calibration = Calibrate(table_, left_out, recipe_.seed, pool_, &centre_);
  if (on_line_ != nullptr) {
    calibration.beyond = FitBeyond(table_, on_line_->gps(), pool_);
    calibration.input_scaler = table_.input_scaler;
    calibration.target_scaler = table_.target_scaler;
  }
  calibration_ = std::make_shared<const Calibration>(std::move(calibration));
  Assemble(kinds, weights);
}

void NumberEnsemble::AddSpecialists(const CrossFit& specialists) {
  const std::vector<Index> rows = specialists.RowsDone();
  const ScaledTable judges = RowsOf(table_, rows);
  const Moments others = blend_.Rows(rows);
  const Moments own = specialists.left_out().Rows(rows);
  const Vector weights = WeightsOf(judges, {{&others, nullptr}, {&own, nullptr}}, line_.get());
  if (weights[1] == 0) return;
  // The others are many, and would cost more time at every prediction than the specialists.
  constexpr double kWorthIt = 0.1;
  const double rest = weights[0] < kWorthIt ? 0 : weights[0];
  Moments spread = Centre({others, own}, {rest, 1 - rest});
  spread.var.array() *= centre_.Rows(rows).var.array() / others.var.array();  // exp(2 g)
  Calibration calibration = *calibration_;
  Recalibrate(judges, spread, &calibration);
  calibration_ = std::make_shared<const Calibration>(std::move(calibration));
  for (Member& member : members_) member.weight *= rest;
  if (rest == 0) members_.clear();
  for (const Member& network : specialists.networks()) {
    members_.push_back(network);
    members_.back().weight = (1 - rest) / static_cast<double>(specialists.networks().size());
  }
}

// Follows the order of the candidates in Finish.
void NumberEnsemble::Assemble(const std::vector<const CrossFit*>& kinds, const Vector& weights) {
  Index next = 0;
  const auto take = [&] { return weights[next++]; };
  TrainingSummary summary;
  summary.rows = table_.rows();
  const auto add = [&](std::shared_ptr<const Expert> expert, double weight,
                       std::vector<std::size_t> trend) {
    members_.push_back({.expert = std::move(expert),
                        .input_scaler = table_.input_scaler,
                        .target_scaler = table_.target_scaler,
                        .weight = weight,
                        .recipe = recipe_,
                        .summary = summary,
                        .trend = std::move(trend)});
  };
  const double line = line_ != nullptr ? take() : 0;
  const double on_line = on_line_ != nullptr ? take() : 0;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const double own = take();
    const double above = on_kinds_[k] != nullptr ? take() : 0;
    if (own + above == 0) continue;
    constexpr double kMost = 0.5;
    if (!kinds[k]->recipe().architecture.hidden.empty() && own + above > kMost) carrier_ = kinds[k];
    std::vector<std::size_t> trend;
    for (Member network : kinds[k]->networks()) {
      network.weight = own / static_cast<double>(kinds[k]->networks().size());
      trend.push_back(members_.size());
      members_.push_back(std::move(network));
    }
    if (above > 0) add(on_kinds_[k]->MakeExpert(), above, trend);
  }
  const double trees = trees_ != nullptr ? take() : 0;
  const double on_trees = on_trees_ != nullptr ? take() : 0;
  if (trees + on_trees > 0) add(trees_->MakeExpert(), trees, {});
  if (on_trees > 0) add(on_trees_->MakeExpert(), on_trees, {members_.size() - 1});
  if (line + on_line > 0) {
    add(std::make_shared<LinearExpert>(line_->ridge), line, {});
    if (on_line > 0) add(on_line_->MakeExpert(), on_line, {members_.size() - 1});
  }
}

}  // namespace fathom
