// Everything that decides how a table becomes a model, as data: architecture, starting point,
// inference, optimisation. The defaults are the recommended recipe.
#ifndef FATHOM_RECIPE_RECIPE_H_
#define FATHOM_RECIPE_RECIPE_H_

#include <cstdint>
#include <string>
#include <utility>

#include "fathom/base/enum_names.h"
#include "fathom/base/error.h"
#include "fathom/base/export.h"
#include "fathom/base/precision.h"
#include "fathom/data/column_warps.h"
#include "fathom/data/whiten.h"
#include "fathom/model/architecture.h"
#include "fathom/optimize/options.h"

namespace fathom FATHOM_PUBLIC {

// How the posterior is found.
enum class Inference {
  kAep,  // the tied factor's energy, maximised together with the hyperparameters
  kSep,  // stochastic EP: the tied factor by moment matching
  kEp,   // EP: a factor for each row, by moment matching
};
constexpr auto NamesOf(Inference) {
  return std::to_array<EnumName<Inference>>(
      {{Inference::kAep, "aep"}, {Inference::kSep, "sep"}, {Inference::kEp, "ep"}});
}

// Whether networks of several kinds are fitted and their predictions mixed; see ensemble.h.
enum class Stacking { kNever, kAuto, kAlways };
constexpr auto NamesOf(Stacking) {
  return std::to_array<EnumName<Stacking>>(
      {{Stacking::kAuto, "auto"}, {Stacking::kNever, "never"}, {Stacking::kAlways, "always"}});
}

// Whether neighbour GPs and a straight line join an ensemble; see ensemble.h.
enum class Local {
  kAuto,   // beside the networks
  kNever,  // networks alone, mixed as they are
  kOnly,   // without any network
};
constexpr auto NamesOf(Local) {
  return std::to_array<EnumName<Local>>(
      {{Local::kAuto, "auto"}, {Local::kNever, "never"}, {Local::kOnly, "only"}});
}

// Whether the prediction of a number takes the shape of the target; see ensemble/target_choice.h.
enum class TargetKind {
  kAuto,   // steps, frequent values and skewness are told apart where left-out rows gain by it
  kPlain,  // any number
};
constexpr auto NamesOf(TargetKind) {
  return std::to_array<EnumName<TargetKind>>(
      {{TargetKind::kAuto, "auto"}, {TargetKind::kPlain, "plain"}});
}

struct Recipe {
  // likelihood "auto": gaussian for numbers, probit for two classes, robust_max for more.
  Architecture architecture = {.likelihood = "auto"};
  InitializeOptions start;
  Whitening whitening = Whitening::kAuto;  // of the inputs
  Warping warping = Warping::kAuto;        // likewise
  Inference inference = Inference::kAep;
  double alpha = 0.7;  // power of EP: 1 is the paper, 0 the variational limit
  // With sampled hidden units or points: alpha acts inside each path, and the paths are mixed as
  // the likelihood itself (power 1). False: alpha outside too.
  bool mixture = true;
  // Standard deviation of the logarithm of a lengthscale; see lengthscale_prior.h. 0: no prior.
  double lengthscale_prior = 1;
  double noise_floor = 1e-6;  // least noise variance, of standardised targets
  // steps = 0: as many as DefaultSteps says for the table, times `effort`; with a time budget up to
  // four times as many, as far as it goes.
  MinimizeOptions optimizer = {.steps = 0, .learning_rate = 0.05, .warm_up = 50};
  double effort = 1;
  // Number of steps if the noise proves small half-way (train/training.cc), because more can then
  // be learnt. 0: four times what DefaultSteps says, or `steps` if those are given.
  Index low_noise_steps = 0;
  // Only for moments and AEP. Auto: an ensemble if the table has enough rows to judge the kinds.
  // The recipe of a single network says never.
  Stacking stack = Stacking::kAuto;
  Local local = Local::kAuto;
  TargetKind target_kind = TargetKind::kAuto;  // in ensembles
  Precision precision = Precision::kDouble;
  std::uint64_t seed = 1;  // of the start and of the batches
  int threads = 0;         // 0: all cores. The result does not depend on it
};

// 500 steps for tables of up to 500 rows, growing with the root of the rows to at most 5000: a
// larger table shows more structure worth learning, but each step then sees a smaller part of it.
Index DefaultSteps(Index rows);

inline constexpr Index kMostSteps = 1'000'000'000'000'000;

// Says that a field is out of its range, or does not go with another one.
class RecipeError : public Error {
 public:
  RecipeError(std::string field, std::string rule)
      : Error(field + " " + rule), field_(std::move(field)), rule_(std::move(rule)) {}
  const std::string& field() const { return field_; }  // "optimizer.learning_rate"
  const std::string& rule() const { return rule_; }    // "must be positive, not -1"

 private:
  std::string field_, rule_;
};

// Throws RecipeError for the first field that cannot be as it is, or Error for a kernel or a
// likelihood that is not known. The ranges of the fields stand in fields.cc.
void CheckRecipe(const Recipe& recipe);

// The same for what an ensemble asks of the recipe that it starts from. It adds networks of the
// other kinds itself.
void CheckEnsembleRecipe(const Recipe& recipe);

}  // namespace fathom

#endif  // FATHOM_RECIPE_RECIPE_H_
