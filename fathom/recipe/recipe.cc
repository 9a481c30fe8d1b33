#include "fathom/recipe/recipe.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "fathom/base/text.h"
#include "fathom/kernel/full_layer.h"
#include "fathom/likelihood/likelihood.h"
#include "fathom/recipe/fields.h"

namespace fathom {

Index DefaultSteps(Index rows) {
  const double steps = 500 * std::sqrt(static_cast<double>(rows) / 500);
  return static_cast<Index>(std::clamp(steps, 500.0, 5000.0));
}

namespace {

// Throws RecipeError("<field> must be <requirement>, not <value>") unless `holds`.
template <typename Value>
void Demand(bool holds, const std::string& field, const std::string& requirement,
            const Value& value) {
  if (holds) return;
  std::ostringstream rule;
  rule << "must be " << requirement << ", not " << value;
  throw RecipeError(field, rule.str());
}

// Each field by itself.
struct InRange {
  const Field& field;

  template <typename Number>
  void Check(Number value) const {
    Demand(field.range.Contains(static_cast<double>(value)), field.name, field.range.Describe(),
           value);
  }
  template <typename Number>
  void operator()(const Number* value) const {
    Check(*value);
  }
  void operator()(const std::vector<Index>* list) const {
    for (const Index number : *list) Check(number);
  }
  // The kinds of kernels and likelihoods are looked up by their makers: a user may add some.
  void operator()(const std::string*) const {}
  void operator()(const bool*) const {}
  void operator()(const Choice&) const {}
};

void CheckArchitecture(const Architecture& architecture) {
  Demand(!architecture.inducing.empty(), "architecture.inducing", "a list of at least one number",
         "empty");
  // The default names two, of which a network without hidden layers takes the first.
  Demand(architecture.inducing.size() <= std::max<std::size_t>(2, architecture.hidden.size() + 1),
         "architecture.inducing", "at most one number per layer", architecture.inducing.size());
  const std::shared_ptr<const Kernel> kernel = MakeKernel(architecture.kernel);
  if (architecture.likelihood != "auto") MakeLikelihood(architecture.likelihood);
  Demand(!architecture.full_covariance || kernel->NewFullLayer() != nullptr, "architecture.kernel",
         "'se_ard', 'linear_ard' or their sum with full covariances", Quoted(architecture.kernel));
  const bool moments = architecture.propagation == Propagation::kMoments;
  for (const Index width : architecture.hidden) {
    if (!moments || width <= kernel->MostUncertainInputs()) continue;
    ThrowError("the kernel '", kernel->Name(), "' integrates by quadrature over at most ",
               kernel->MostUncertainInputs(), " hidden units, not ", width,
               "; use fewer units, the propagation 'samples', or another kernel");
  }
  Demand(!architecture.full_covariance || moments, "architecture.propagation",
         "'moments' with full covariances", Quoted(NameOf(architecture.propagation)));
}

// What goes with what.
void CheckTogether(const Recipe& recipe) {
  const Architecture& architecture = recipe.architecture;
  CheckArchitecture(architecture);
  const bool aep = recipe.inference == Inference::kAep;
  const std::string inference = Quoted(NameOf(recipe.inference));
  Demand(architecture.propagation == Propagation::kMoments || aep, "architecture.propagation",
         "'moments' with inference by EP or SEP", Quoted(NameOf(architecture.propagation)));
  Demand(!architecture.full_covariance || aep, "inference", "'aep' with full covariances",
         inference);
  Demand(!architecture.site_form || aep, "inference", "'aep' with the site form", inference);
  Demand(!architecture.site_form || recipe.start.start == Start::kPaper, "start.start",
         "'paper' with the site form", Quoted(NameOf(recipe.start.start)));
}

}  // namespace

void CheckRecipe(const Recipe& recipe) {
  Recipe copy = recipe;
  for (const Field& field : RecipeFields(&copy)) std::visit(InRange{field}, field.value);
  CheckTogether(recipe);
}

void CheckEnsembleRecipe(const Recipe& recipe) {
  const Architecture& architecture = recipe.architecture;
  Demand(architecture.propagation == Propagation::kMoments, "architecture.propagation",
         "'moments' for a stack, which has the others too",
         Quoted(NameOf(architecture.propagation)));
  Demand(recipe.inference == Inference::kAep, "inference", "'aep' for a stack",
         Quoted(NameOf(recipe.inference)));
  Demand(!architecture.full_covariance, "architecture.full_covariance", "false for a stack",
         "true");
}

}  // namespace fathom
