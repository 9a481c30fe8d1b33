#include "bnn/options.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/io/json_value.h"
#include "fathom/recipe/recipe.h"

namespace fathom::bnn {

namespace {

using enum Baseline;

Range From(double low, double high = std::numeric_limits<double>::infinity()) {
  return {.low = low, .high = high};
}

template <NamedEnum Enum>
Choice OneOf(Enum* value) {
  return {.get = [value] { return NameOf(*value); },
          .set = [value](const std::string& name) { FromName(name, value); }};
}

// Throws RecipeError for a number that is out of its field's range.
struct CheckRange {
  const Field& field;

  void Check(double value) const {
    if (!field.range.Bounded() || field.range.Contains(value)) return;
    std::ostringstream rule;
    rule << "must be " << field.range.Describe() << ", not " << value;
    throw RecipeError(field.name, rule.str());
  }
  void operator()(int* value) const { Check(*value); }
  void operator()(Index* value) const { Check(static_cast<double>(*value)); }
  void operator()(double* value) const { Check(*value); }
  void operator()(std::vector<Index>* values) const {
    for (const Index value : *values) Check(static_cast<double>(value));
  }
  template <typename Other>
  void operator()(const Other& /*value*/) const {}
};

struct Write {
  nlohmann::json operator()(const Choice& choice) const { return choice.get(); }
  template <typename Value>
  nlohmann::json operator()(const Value* value) const {
    return ToJson(*value);
  }
};

struct Read {
  const nlohmann::json& json;
  const Field& field;

  void operator()(const Choice& choice) const {
    choice.set(NameFromJson(json, field.name, field.choices));
  }
  template <typename Value>
  void operator()(Value* value) const {
    FromJson(json, field.name, value);
  }
};

constexpr double kMany = 1e9;

std::vector<BaselineField> NetworkFields(BaselineOptions* options) {
  return {
      {{.name = "hidden",
        .value = &options->hidden,
        .range = From(1, 100000),
        .option = "hidden",
        .placeholder = "N[,N]",
        .help = "Widths of the hidden layers, '50,50' for two of them"}},
      {{.name = "activation",
        .value = OneOf(&options->activation),
        .choices = AllNames<Activation>(),
        .option = "activation",
        .help = "What a hidden unit does with its input; pbp knows relu only"}},
  };
}

std::vector<BaselineField> LengthFields(BaselineOptions* options) {
  return {
      {{.name = "epochs",
        .value = &options->epochs,
        .range = From(0, kMany),
        .option = "epochs",
        .placeholder = "N",
        .help = "Passes over the rows; 0: 40 of pbp, 4000 of dropout (2000 from 20000 rows on)"},
       {kPbp, kDropout}},
      {{.name = "steps",
        .value = &options->steps,
        .range = From(0, kMany),
        .option = "steps",
        .placeholder = "N",
        .help = "Steps of the optimiser or of a chain; 0: 10000 of vi and vi-g (30000 with several "
                "hidden layers), 20000 of sgld"},
       {kVi, kViG, kSgld}},
      {{.name = "burn_in",
        .value = &options->burn_in,
        .range = From(0, kMany),
        .option = "burn-in",
        .placeholder = "N",
        .help = "Trajectories before the first draw is kept; 0: 500, or 200 above 5000 rows"},
       {kHmc}},
      {{.name = "draws",
        .value = &options->draws,
        .range = From(0, kMany),
        .option = "draws",
        .placeholder = "N",
        .help = "Draws that predict: of each chain (0: 1000 of hmc, 300 above 5000 rows; 400 of "
                "sgld), or in all (0: 200 of vi and vi-g, 2000 passes of dropout)"},
       {kVi, kViG, kDropout, kSgld, kHmc}},
      {{.name = "chains",
        .value = &options->chains,
        .range = From(1, 1000),
        .option = "chains",
        .placeholder = "N",
        .help = "Chains from different starts, which are pooled"},
       {kSgld, kHmc}},
  };
}

std::vector<BaselineField> VariationalFields(BaselineOptions* options) {
  return {
      {{.name = "draws_of",
        .value = OneOf(&options->draws_of),
        .choices = AllNames<DrawsOf>(),
        .option = "draws-of",
        .help = "What is drawn to estimate the gradient: the inputs of all units (the local "
                "reparameterisation) or the weights"},
       {kVi}},
      {{.name = "samples",
        .value = &options->samples,
        .range = From(1, 1000),
        .option = "samples",
        .placeholder = "N",
        .help = "Draws per row and step; one is enough for wide networks and large tables"},
       {kVi}},
      {{.name = "kl_weight",
        .value = &options->kl_weight,
        .range = From(0, 1e6),
        .option = "kl-weight",
        .placeholder = "W",
        .help = "Weight of the divergence from the prior in the bound; 1 is Bayes' rule"},
       {kVi, kViG}},
      {{.name = "prior_variance",
        .value = &options->prior_variance,
        .range = {.low = 0, .high = 1e6, .above_low = true},
        .option = "prior-variance",
        .placeholder = "V",
        .help = "Variance of all weights under the prior"},
       {kVi, kViG}},
      {{.name = "noise_variance",
        .value = &options->noise_variance,
        .range = From(0),
        .option = "noise-variance",
        .placeholder = "V",
        .help = "Variance of the noise, in the units of the file; 0: learnt"},
       {kVi, kViG}},
      {{.name = "optimal_prior",
        .value = &options->optimal_prior,
        .option = "optimal-prior",
        .help = "The prior follows the posterior, as Graves has it"},
       {kViG}},
      {{.name = "gauss_newton",
        .value = &options->gauss_newton,
        .option = "gauss-newton",
        .help = "Curvature from the slopes of the output instead of those of the loss"},
       {kViG}},
  };
}

std::vector<BaselineField> DropoutAndSgldFields(BaselineOptions* options) {
  return {
      {{.name = "rate",
        .value = &options->rate,
        .range = From(0, 0.9),
        .option = "rate",
        .placeholder = "P",
        .help = "Share of units that are dropped; 0: chosen on held-out rows"},
       {kDropout}},
      {{.name = "plain",
        .value = &options->plain,
        .option = "plain",
        .help = "Without a preconditioner; steps are then divided by the number of rows"},
       {kSgld}},
      {{.name = "step",
        .value = &options->step,
        .range = From(0, 10),
        .option = "step",
        .placeholder = "E",
        .help = "Size of a step, in units of the posterior's curvature; 0: chosen, with the prior, "
                "on held-out rows"},
       {kSgld}},
      {{.name = "noise_step",
        .value = &options->noise_step,
        .range = From(0, 10),
        .option = "noise-step",
        .placeholder = "E",
        .help = "The same for the noise; 0: as --step"},
       {kSgld}},
  };
}

std::vector<BaselineField> RunFields(BaselineOptions* options) {
  return {
      {{.name = "seed",
        .value = &options->seed,
        .option = "seed",
        .placeholder = "N",
        .help = "Seed of everything random"}},
      {{.name = "threads",
        .value = &options->threads,
        .range = From(0, 1024),
        .option = "threads",
        .placeholder = "N",
        .help = "Threads to use; 0 means all cores. The result does not depend on it"}},
  };
}

}  // namespace

bool BaselineField::Has(Baseline method) const {
  return methods.empty() || std::count(methods.begin(), methods.end(), method) > 0;
}

std::vector<BaselineField> BaselineFields(BaselineOptions* options) {
  std::vector<BaselineField> fields;
  for (const auto& part :
       {NetworkFields(options), LengthFields(options), VariationalFields(options),
        DropoutAndSgldFields(options), RunFields(options)})
    fields.insert(fields.end(), part.begin(), part.end());
  return fields;
}

void CheckBaseline(const BaselineOptions& options) {
  BaselineOptions copy = options;
  for (const BaselineField& field : BaselineFields(&copy))
    std::visit(CheckRange{field}, field.value);
  if (options.method == kPbp && options.activation != Activation::kRelu)
    throw RecipeError("activation", "must be 'relu' with pbp, whose moments are those of a ReLU");
  if (options.hidden.empty()) throw RecipeError("hidden", "must name at least one layer");
}

nlohmann::json BaselineToJson(const BaselineOptions& options) {
  BaselineOptions copy = options;
  nlohmann::json json = {{"method", NameOf(options.method)}};
  for (const BaselineField& field : BaselineFields(&copy)) {
    if (field.Has(options.method) && field.name != "threads")
      json[field.name] = std::visit(Write(), field.value);
  }
  return json;
}

BaselineOptions BaselineFromJson(const nlohmann::json& json) {
  BaselineOptions options;
  nlohmann::json left = json;
  const auto take = [&](const std::string& name) {
    if (!left.is_object() || !left.contains(name))
      ThrowError("the options of its method have no ", Quoted(name));
    nlohmann::json value = left[name];
    left.erase(name);
    return value;
  };
  FromJson(take("method"), "method", &options.method);
  for (const BaselineField& field : BaselineFields(&options)) {
    if (field.Has(options.method) && field.name != "threads")
      std::visit(Read{take(field.name), field}, field.value);
  }
  if (!left.empty())
    ThrowError(NameOf(options.method), " has no option ", Quoted(left.begin().key()));
  CheckBaseline(options);
  return options;
}

}  // namespace fathom::bnn
