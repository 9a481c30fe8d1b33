#include "fathom/recipe/recipe_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/recipe/json_value.h"

namespace fathom {

namespace {

using Json = nlohmann::json;

// The one list of fields, for both directions. The bindings name all members of each struct, so
// that a new member does not compile until it is listed here.
template <typename AnyRecipe, typename Visitor>
void VisitFields(AnyRecipe& recipe, const Visitor& visit) {
  auto& [architecture, start, whitening, inference, alpha, mixture, lengthscale_prior, noise_floor,
         optimizer, effort, low_noise_steps, stack, precision, seed, threads] = recipe;
  visit("whitening", whitening);
  visit("inference", inference);
  visit("alpha", alpha);
  visit("mixture", mixture);
  visit("lengthscale_prior", lengthscale_prior);
  visit("noise_floor", noise_floor);
  visit("effort", effort);
  visit("low_noise_steps", low_noise_steps);
  visit("stack", stack);
  visit("precision", precision);
  visit("seed", seed);
  visit("threads", threads);

  auto& [hidden, inducing, kernel, likelihood, linear_mean, skip_links, shared, full_covariance,
         site_form, propagation, paths] = architecture;
  visit("architecture.hidden", hidden);
  visit("architecture.inducing", inducing);
  visit("architecture.kernel", kernel);
  visit("architecture.likelihood", likelihood);
  visit("architecture.linear_mean", linear_mean);
  visit("architecture.skip_links", skip_links);
  visit("architecture.shared", shared);
  visit("architecture.full_covariance", full_covariance);
  visit("architecture.site_form", site_form);
  visit("architecture.propagation", propagation);
  visit("architecture.paths", paths);

  auto& [start_kind, lengthscale, upper_lengthscale, hidden_noise, output_noise,
         hidden_posterior_var, sample_rows, start_seed] = start;
  static_cast<void>(start_seed);
  visit("start.start", start_kind);
  visit("start.lengthscale", lengthscale);
  visit("start.upper_lengthscale", upper_lengthscale);
  visit("start.hidden_noise", hidden_noise);
  visit("start.output_noise", output_noise);
  visit("start.hidden_posterior_var", hidden_posterior_var);
  visit("start.sample_rows", sample_rows);

  auto& [steps, batch_size, learning_rate, warm_up, time_budget, patience, tolerance, cool_down,
         max_recoveries, optimizer_seed, adam] = optimizer;
  static_cast<void>(optimizer_seed);
  visit("optimizer.steps", steps);
  visit("optimizer.batch_size", batch_size);
  visit("optimizer.learning_rate", learning_rate);
  visit("optimizer.warm_up", warm_up);
  visit("optimizer.time_budget", time_budget);
  visit("optimizer.patience", patience);
  visit("optimizer.tolerance", tolerance);
  visit("optimizer.cool_down", cool_down);
  visit("optimizer.max_recoveries", max_recoveries);

  auto& [beta1, beta2, epsilon] = adam;
  visit("optimizer.adam.beta1", beta1);
  visit("optimizer.adam.beta2", beta2);
  visit("optimizer.adam.epsilon", epsilon);
}

Json::json_pointer Pointer(std::string name) {
  std::replace(name.begin(), name.end(), '.', '/');
  return Json::json_pointer("/" + name);
}

// The dotted name of some field in what is left; empty if nothing is.
std::string FirstField(const Json& json, const std::string& prefix) {
  if (!json.is_object()) return prefix;
  for (const auto& [key, value] : json.items()) {
    std::string name = prefix;
    if (!name.empty()) name += '.';
    name += key;
    std::string found = FirstField(value, name);
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace

Json RecipeToJson(const Recipe& recipe) {
  Json json = Json::object();
  VisitFields(recipe,
              [&](const char* name, const auto& value) { json[Pointer(name)] = ToJson(value); });
  return json;
}

void UpdateRecipe(const Json& json, Recipe* recipe) {
  if (!json.is_object()) ThrowError("the recipe must be an object of fields");
  Json rest = json;
  VisitFields(*recipe, [&](const std::string& name, auto& value) {
    const Json::json_pointer pointer = Pointer(name);
    if (!rest.contains(pointer)) return;
    FromJson(rest[pointer], "recipe field " + name, &value);
    rest[pointer.parent_pointer()].erase(pointer.back());
  });
  recipe->start.seed = recipe->seed;
  recipe->optimizer.seed = recipe->seed;
  const std::string unknown = FirstField(rest, "");
  if (!unknown.empty()) ThrowError("recipe field ", Quoted(unknown), " is not known");
}

}  // namespace fathom
