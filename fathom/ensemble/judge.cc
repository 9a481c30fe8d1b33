#include "fathom/ensemble/judge.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/ensemble/shares.h"
#include "fathom/fitted/by_expert.h"
#include "fathom/fitted/deep_gp_expert.h"
#include "fathom/fitted/predictor.h"

namespace fathom {

namespace {

// Members of a smaller share are left out of the model: they would cost time at every prediction.
constexpr double kLeastShare = 0.01;

// A Gaussian gives a row that is 17 standard deviations off a log density of -145; one of five
// times the width with a share of a thousandth leaves it -15.
constexpr double kWideNoise = 25;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// What a network says about rows that it has not seen.
struct HeldOut {
  Vector log_density;  // [rows]
  Vector error;        // [rows times targets] of the mean; none for classes
};

HeldOut OnHeldOut(Member member, const Schema& schema, const Dataset& rows) {
  member.weight = 1;
  const Scaler target_scaler = member.target_scaler;
  const int threads = member.recipe.threads;
  ModelParts alone;
  alone.schema = schema;
  alone.members.push_back(std::move(member));
  const ModelPredictor predictor(Model(std::move(alone)), threads);
  HeldOut judged{Vector(rows.rows()), Vector()};
  if (!schema.classes.empty()) {
    const Matrix probability = predictor.ClassProbabilities(rows.inputs());
    for (Index n = 0; n < rows.rows(); ++n)
      judged.log_density[n] = std::log(probability(n, static_cast<Index>(rows.targets()(n, 0))));
    return judged;
  }
  const Prediction prediction = predictor.Predict(rows.inputs());
  for (Index n = 0; n < rows.rows(); ++n)
    judged.log_density[n] = prediction.LogDensity(n, rows.targets().row(n));
  // Scaled, so that several targets count alike; a row that counts c times has root c times the
  // error.
  Matrix error = StandardizeTargets(target_scaler, prediction.Mean()) -
                 StandardizeTargets(target_scaler, rows.targets());
  if (rows.weights().size() > 0) error = rows.weights().cwiseSqrt().asDiagonal() * error;
  judged.error = error.reshaped();
  return judged;
}

Vector SharesOf(const std::vector<HeldOut>& judged, const Vector& weights) {
  Matrix log_densities(judged[0].log_density.size(), static_cast<Index>(judged.size()));
  for (std::size_t k = 0; k < judged.size(); ++k)
    log_densities.col(static_cast<Index>(k)) = judged[k].log_density;
  return StackShares(log_densities, weights);
}

Matrix ErrorsOf(const std::vector<HeldOut>& judged) {
  Matrix errors(judged[0].error.size(), static_cast<Index>(judged.size()));
  for (std::size_t k = 0; k < judged.size(); ++k)
    errors.col(static_cast<Index>(k)) = judged[k].error;
  return errors;
}

// Whether the training of a candidate gave no network.
bool Failed(const std::vector<Member>& candidates, std::size_t candidate) {
  return candidate > 0 && candidates[candidate].summary.reason == StopReason::kNumericalFailure;
}

Member Widened(Member member) {
  member.noise_scale = kWideNoise;
  return member;
}

}  // namespace

Verdict Judge(const std::vector<Member>& candidates, const Schema& schema,
              const Dataset& held_out) {
  const std::size_t count = candidates.size();
  std::vector<HeldOut> judged;
  Vector plain = Vector::Zero(static_cast<Index>(count));  // 1 for moments, 0 for paths
  for (std::size_t k = 0; k < count; ++k) {
    judged.push_back(OnHeldOut(candidates[k], schema, held_out));
    if (Failed(candidates, k)) {
      judged[k].log_density.setConstant(-kInfinity);
    } else if (NetworkOf(candidates[k]).propagation == Propagation::kMoments) {
      plain[static_cast<Index>(k)] = 1;
    }
  }
  Verdict verdict;
  Index leader = 0;
  SharesOf(judged, held_out.weights()).cwiseProduct(plain).maxCoeff(&leader);
  verdict.leader = static_cast<std::size_t>(leader);
  const bool has_wide = candidates[0].expert->NoiseVariance().size() > 0;
  if (has_wide) {
    judged.push_back(OnHeldOut(Widened(candidates[verdict.leader]), schema, held_out));
    plain.conservativeResize(plain.size() + 1);
    plain[plain.size() - 1] = 1;
  }
  Vector shares = SharesOf(judged, held_out.weights());
  Vector reference = shares.cwiseProduct(plain);
  reference /= reference.sum();
  shares = KeepMean(shares, reference, ErrorsOf(judged));
  verdict.shares = shares.head(static_cast<Index>(count));
  verdict.wide_share = has_wide ? shares[shares.size() - 1] : 0;
  for (std::size_t k = 0; k < count; ++k) {
    const double wide_share = k == verdict.leader ? verdict.wide_share : 0;
    if (verdict.shares[static_cast<Index>(k)] + wide_share >= kLeastShare && !Failed(candidates, k))
      verdict.kept.push_back(k);
  }
  if (verdict.kept.empty()) verdict.kept = {verdict.leader};
  return verdict;
}

std::vector<Member> Assemble(const Verdict& verdict, const std::vector<Member>& latest) {
  const auto share = [&](std::size_t k) { return verdict.shares[static_cast<Index>(k)]; };
  std::vector<std::size_t> order = verdict.kept;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return share(a) > share(b); });
  std::vector<Member> members;
  for (const std::size_t k : order) {
    const auto add = [&](Member member, double weight) {
      if (weight == 0) return;
      member.weight = weight;
      members.push_back(std::move(member));
    };
    add(latest[k], share(k));
    if (k == verdict.leader) add(Widened(latest[k]), verdict.wide_share);
  }
  // The second time takes out what the first one rounds.
  NormalizeWeights(&members);
  NormalizeWeights(&members);
  return members;
}

}  // namespace fathom
