#include "fathom/fitted/predictor.h"

#include <cmath>
#include <set>
#include <utility>

#include "fathom/fitted/beyond.h"
#include "fathom/fitted/by_expert.h"
#include "fathom/fitted/calibration.h"
#include "fathom/fitted/expert.h"
#include "fathom/fitted/seen_rows.h"

namespace fathom {

namespace {

// The functions of the targets alone; those of their noise have no units.
void KeepTargets(Index targets, Prediction* f) {
  for (Moments& component : f->components) {
    component.mean.conservativeResize(Eigen::NoChange, targets);
    component.var.conservativeResize(Eigen::NoChange, targets);
  }
}

// What the member makes of its expert's prediction of y, which has the expert's own noise.
Prediction WithNoiseOf(const Member& member, Prediction y) {
  if (member.noise_scale == 1) return y;
  const Vector more = (member.noise_scale - 1) * member.expert->NoiseVariance();
  for (Moments& component : y.components) component.var.rowwise() += more.transpose();
  return y;
}

// Back to the units of the file.
Prediction Unscaled(const Member& member, bool latent, Prediction part) {
  if (!member.expert->likelihood().TakesScaledTargets()) return part;
  if (latent) KeepTargets(member.target_scaler.mean.size(), &part);
  return Unscale(member.target_scaler, std::move(part));
}

// Further columns that are known exactly.
Moments WithColumns(Moments x, const Matrix& columns) {
  const Index before = x.cols();
  x.mean.conservativeResize(Eigen::NoChange, before + columns.cols());
  x.var.conservativeResize(Eigen::NoChange, before + columns.cols());
  x.mean.rightCols(columns.cols()) = columns;
  x.var.rightCols(columns.cols()).setZero();
  return x;
}

// For the rows that were moved inside, the centre where they really are. The others keep their
// bits.
void MoveBeyond(const Calibration& calibration, const Moments& inputs, const Moments& inside,
                Moments* centre) {
  std::vector<Index> rows;
  for (Index n = 0; n < inputs.rows(); ++n) {
    bool moved = false;  // a missing cell stays where it is
    for (Index c = 0; c < inputs.cols() && !moved; ++c)
      moved = std::abs(inputs.mean(n, c) - inside.mean(n, c)) > 0;
    if (moved) rows.push_back(n);
  }
  if (rows.empty()) return;
  const auto scaled_rows = [&](const Moments& x) {
    return StandardizeInputs(calibration.input_scaler,
                             {x.mean(rows, Eigen::all), x.var(rows, Eigen::all)});
  };
  const Scaler& targets = calibration.target_scaler;
  const Vector unit = targets.scale.cwiseAbs2();
  Moments there(StandardizeTargets(targets, centre->mean(rows, Eigen::all)),
                centre->var(rows, Eigen::all) * unit.cwiseInverse().asDiagonal());
  GoBeyond(*calibration.beyond, scaled_rows(inputs), scaled_rows(inside), &there);
  centre->mean(rows, Eigen::all) =
      (there.mean * targets.scale.asDiagonal()).rowwise() + targets.mean.transpose();
  centre->var(rows, Eigen::all) = there.var * unit.asDiagonal();
}

// Adds components one by one and brings them together at the end.
class Mixture {
 public:
  void Add(Prediction part, double weight) {
    mixture_.observations.insert(mixture_.observations.end(), part.observations.begin(),
                                 part.observations.end());
    for (std::size_t s = 0; s < part.components.size(); ++s) {
      mixture_.components.push_back(std::move(part.components[s]));
      weights_.push_back(weight * part.weights[static_cast<Index>(s)]);
    }
  }

  Prediction Take() {
    mixture_.weights =
        Eigen::Map<const Vector>(weights_.data(), static_cast<Index>(weights_.size()));
    return std::move(mixture_);
  }

 private:
  Prediction mixture_;
  std::vector<double> weights_;
};

}  // namespace

ModelPredictor::ModelPredictor(Model model, int threads, Precision precision)
    : model_(std::move(model)), pool_(threads) {
  std::vector<std::size_t> group_of_member;
  for (const auto& members : ByExpert(model_.members())) {
    const Member& first = members.front();
    std::set<std::size_t> trend;
    for (const std::size_t member : first.trend) trend.insert(group_of_member[member]);
    for (const std::size_t before : trend) groups_[before].others_build_on_it = true;
    group_of_member.insert(group_of_member.end(), members.size(), groups_.size());
    groups_.push_back({members, first.expert->Prepare(pool_, precision),
                       std::vector<std::size_t>(trend.begin(), trend.end())});
  }
  const Calibration* calibration = model_.calibration();
  if (calibration != nullptr && calibration->local_noise != nullptr)
    local_noise_ = calibration->local_noise->Prepare(pool_, precision);
  if (calibration != nullptr && calibration->seen != nullptr)
    seen_ = std::make_unique<SeenRowsIndex>(*calibration->seen);
  if (calibration != nullptr && calibration->share != nullptr)
    share_ = std::make_unique<ModelPredictor>(*calibration->share, threads, precision);
}

ModelPredictor::~ModelPredictor() = default;

ModelPredictor::GroupRows ModelPredictor::RowsFor(std::size_t group, const Moments& inputs,
                                                  const std::vector<Moments>& before) const {
  const Group& own = groups_[group];
  const Member& first = own.members.front();
  GroupRows rows{StandardizeInputs(first.input_scaler, inputs), {}};
  if (own.trend.empty()) return rows;
  const Scaler& scaler = first.target_scaler;
  const auto count = static_cast<double>(own.trend.size());
  Matrix mean = Matrix::Zero(inputs.rows(), scaler.mean.size());
  Matrix sd = mean;
  // A cell that is not what it seems moves all of them together, so standard deviations add up.
  for (const std::size_t group_before : own.trend) {
    mean += before[group_before].mean;
    sd += before[group_before].var.cwiseSqrt();
  }
  const Vector unit = scaler.scale.cwiseAbs2().cwiseInverse();
  rows.trend = Moments(StandardizeTargets(scaler, mean / count),
                       (sd / count).cwiseAbs2() * unit.asDiagonal());
  rows.x = WithColumns(std::move(rows.x), rows.trend.mean);
  return rows;
}

Matrix ModelPredictor::CellVariance(std::size_t group, const Moments& inputs,
                                    const std::vector<Moments>& before) const {
  const Group& own = groups_[group];
  const Scaler& scaler = own.members.front().target_scaler;
  const Index targets = scaler.mean.size();
  // Where all is certain, so is what the groups before hand on.
  if ((inputs.var.array() == 0).all() && !inputs.mean.hasNaN())
    return Matrix::Zero(inputs.rows(), targets);
  const auto [x, trend] = RowsFor(group, inputs, before);
  Matrix var = trend.var.size() > 0 ? trend.var : Matrix(Matrix::Zero(x.rows(), targets));
  std::vector<Index> rows;
  for (Index n = 0; n < x.rows(); ++n) {
    if ((x.var.row(n).array() > 0).any()) rows.push_back(n);
  }
  if (!rows.empty()) {
    const Moments uncertain(x.mean(rows, Eigen::all), x.var(rows, Eigen::all));
    const PredictOptions latent{.latent = true};
    const Matrix all = own.expert->Predict(uncertain, latent).Variance().leftCols(targets);
    const Matrix rest =
        own.expert->Predict(Moments::Certain(uncertain.mean), latent).Variance().leftCols(targets);
    var(rows, Eigen::all) += (all - rest).cwiseMax(0);
  }
  return var * scaler.scale.cwiseAbs2().asDiagonal();
}

Moments ModelPredictor::ForOthers(std::size_t group, const Moments& inputs, const Prediction& own,
                                  const std::vector<Moments>& before) const {
  if (!groups_[group].others_build_on_it) return {};
  return {own.Mean(), CellVariance(group, inputs, before)};
}

Matrix ModelPredictor::VarianceFromCells(const Moments& inputs) const {
  const Index targets = groups_.front().members.front().target_scaler.mean.size();
  Matrix sum = Matrix::Zero(inputs.rows(), targets);
  std::vector<Moments> before(groups_.size());
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    sum += WeightOf(groups_[g].members) * CellVariance(g, inputs, before);
    before[g] = ForOthers(g, inputs, PredictGroup(g, inputs, {}, before), before);
  }
  return sum;
}

Prediction ModelPredictor::PredictGroup(std::size_t group, const Moments& inputs,
                                        const PredictOptions& options,
                                        const std::vector<Moments>& before) const {
  const Group& own = groups_[group];
  const Member& first = own.members.front();
  const auto [x, trend] = RowsFor(group, inputs, before);
  Prediction part = own.expert->Predict(x, options);
  if (trend.mean.size() > 0) {
    for (Moments& component : part.components) {
      component.mean += trend.mean;
      component.var += trend.var;
    }
  }
  if (options.latent)  // the members differ in their noise alone
    return Unscaled(first, true, std::move(part));
  Mixture mixture;
  const double sum = WeightOf(own.members);
  for (const Member& member : own.members) {
    const bool last = &member == &own.members.back();
    // NOLINTNEXTLINE(bugprone-use-after-move): nothing comes after the last
    Prediction noisy = WithNoiseOf(member, last ? std::move(part) : part);
    mixture.Add(Unscaled(member, false, std::move(noisy)), sum > 0 ? member.weight / sum : 1);
  }
  return mixture.Take();
}

Moments ModelPredictor::CalibratedCentre(const Moments& inputs, const Moments& inside,
                                         const std::vector<Moments>& members,
                                         Matrix* common) const {
  const Calibration& calibration = *model_.calibration();
  std::vector<double> weights;
  for (const Group& group : groups_) {
    if (const double weight = WeightOf(group.members); weight > 0) weights.push_back(weight);
  }
  Moments centre = Centre(members, weights);
  if (local_noise_ != nullptr) {
    const Moments x = WithColumns(StandardizeInputs(calibration.input_scaler, inside),
                                  StandardizeTargets(calibration.target_scaler, centre.mean));
    const Matrix g = local_noise_->Predict(x, {}).Mean();
    // One by one: Eigen's exp of several numbers at once rounds in another way, and which numbers
    // these are depends on how many rows there are.
    const Matrix factor = g.unaryExpr([](double value) { return std::exp(2 * value); });
    centre.var.array() *= factor.array();
    if (common != nullptr) common->array() *= factor.array();
  }
  if (seen_ != nullptr) ReplaceSeen(inputs, &centre, common);
  if (calibration.beyond != nullptr) MoveBeyond(calibration, inputs, inside, &centre);
  return centre;
}

Prediction ModelPredictor::SpreadAndShaped(const Moments& inputs, const Moments& centre) const {
  const Calibration& calibration = *model_.calibration();
  const Vector shares = ValueShares(inputs, centre);
  return Shaped(calibration.shape, Spread(calibration, centre), shares);
}

Vector ModelPredictor::ValueShares(const Moments& inputs, const Moments& centre) const {
  const Calibration& calibration = *model_.calibration();
  const TargetShape& shape = calibration.shape;
  if (!shape.has_share()) return {};
  if (share_ != nullptr) return SharesOf(calibration.share_logit, share_->Predict(inputs).Mean());
  const Vector q = (centre.mean.array() - shape.least) / (shape.value - shape.least);
  return SharesOf(calibration.share_logit, q);
}

void ModelPredictor::ReplaceSeen(const Moments& inputs, Moments* centre, Matrix* common) const {
  const Calibration& calibration = *model_.calibration();
  const Moments x = StandardizeInputs(calibration.input_scaler, inputs);
  const Scaler& scaler = calibration.target_scaler;
  for (Index n = 0; n < x.rows(); ++n) {
    const Index row = seen_->Find(x, n);
    if (row < 0) continue;
    if (common != nullptr) common->row(n).setZero();
    for (Index t = 0; t < centre->cols(); ++t) {
      centre->mean(n, t) = scaler.mean[t] + scaler.scale[t] * calibration.seen->mean(row, t);
      centre->var(n, t) = scaler.scale[t] * scaler.scale[t] * calibration.seen->var(row, t);
    }
  }
}

Moments ModelPredictor::MovedInside(const Moments& inputs, bool latent) const {
  const Calibration* calibration = latent ? nullptr : model_.calibration();
  const bool moves = calibration != nullptr && calibration->beyond != nullptr;
  if (!moves) return inputs;
  return Clipped(Widened(model_.data().range, calibration->beyond->margin), inputs);
}

Prediction ModelPredictor::Predict(const Moments& inputs, const PredictOptions& options) const {
  const bool calibrated = !options.latent && model_.calibration() != nullptr;
  const Moments inside = MovedInside(inputs, options.latent);
  Mixture mixture;
  std::vector<Moments> told(groups_.size());
  std::vector<Moments> members;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const double weight = WeightOf(groups_[g].members);
    PredictOptions own = options;
    own.mean_alone = weight == 0;  // others build on it
    Prediction part = PredictGroup(g, inside, own, told);
    told[g] = ForOthers(g, inside, part, told);
    if (weight == 0) continue;
    if (calibrated) {
      members.push_back(part.MixtureMoments());
    } else {
      mixture.Add(std::move(part), weight);
    }
  }
  if (!calibrated) return mixture.Take();
  return SpreadAndShaped(inputs, CalibratedCentre(inputs, inside, members, nullptr));
}

Matrix ModelPredictor::ClassProbabilities(const Moments& inputs,
                                          const PredictOptions& options) const {
  Matrix mixture;
  for (const Group& group : groups_) {
    const Moments x = StandardizeInputs(group.members.front().input_scaler, inputs);
    const Matrix part = WeightOf(group.members) * group.expert->ClassProbabilities(x, options);
    mixture = mixture.size() == 0 ? part : Matrix(mixture + part);
  }
  return mixture;
}

}  // namespace fathom
