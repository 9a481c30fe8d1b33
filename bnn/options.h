// What a user may ask of a baseline, each field described once: the command line, studies, JSON and
// checks follow from the list.
#ifndef FATHOM_BNN_OPTIONS_H_
#define FATHOM_BNN_OPTIONS_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bnn/mlp.h"
#include "fathom/recipe/fields.h"

namespace fathom::bnn {

enum class Baseline { kViG, kVi, kPbp, kDropout, kSgld, kHmc };
constexpr auto NamesOf(Baseline) {
  return std::to_array<EnumName<Baseline>>({{Baseline::kViG, "vi-g"},
                                            {Baseline::kVi, "vi"},
                                            {Baseline::kPbp, "pbp"},
                                            {Baseline::kDropout, "dropout"},
                                            {Baseline::kSgld, "sgld"},
                                            {Baseline::kHmc, "hmc"}});
}

// How the gradient of 'vi' is estimated: by draws of pre-activations, or of weights.
enum class DrawsOf { kUnits, kWeights };
constexpr auto NamesOf(DrawsOf) {
  return std::to_array<EnumName<DrawsOf>>(
      {{DrawsOf::kUnits, "units"}, {DrawsOf::kWeights, "weights"}});
}

// 0 stands for what the method does by itself.
struct BaselineOptions {
  Baseline method = Baseline::kPbp;
  std::vector<Index> hidden = {50};
  Activation activation = Activation::kRelu;
  Index epochs = 0;
  Index steps = 0;
  Index burn_in = 0, draws = 0;
  Index chains = 4;
  DrawsOf draws_of = DrawsOf::kUnits;
  Index samples = 2;
  double kl_weight = 1;
  double prior_variance = 1;
  bool optimal_prior = false, gauss_newton = false;
  double noise_variance = 0;  // in the units of the file
  double rate = 0;
  bool plain = false;
  double step = 0, noise_step = 0;
  std::uint64_t seed = 1;
  int threads = 0;
};

struct BaselineField : Field {
  std::vector<Baseline> methods = {};  // that have it; empty: all

  bool Has(Baseline method) const;
};

// All fields of *options, which must outlive them, but the method.
std::vector<BaselineField> BaselineFields(BaselineOptions* options);

// Throws RecipeError for a field that is out of its range, or does not go with the method.
void CheckBaseline(const BaselineOptions& options);

// The method and its fields by their names. Threads change no result and are left out.
nlohmann::json BaselineToJson(const BaselineOptions& options);
// The reverse. Throws Error for a field that is missing, not known, or not what it must be.
BaselineOptions BaselineFromJson(const nlohmann::json& json);

}  // namespace fathom::bnn

#endif  // FATHOM_BNN_OPTIONS_H_
