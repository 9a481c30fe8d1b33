#include "fathom/recipe/fields.h"

#include <initializer_list>
#include <limits>

#include "fathom/base/enum_names.h"
#include "fathom/kernel/kernel.h"
#include "fathom/likelihood/likelihood.h"

namespace fathom {

namespace {

Range From(double low, double high = std::numeric_limits<double>::infinity()) {
  return {.low = low, .high = high};
}

Range Above(double low, double high = std::numeric_limits<double>::infinity()) {
  return {.low = low, .high = high, .above_low = true};
}

template <NamedEnum Enum>
Choice OneOf(Enum* value) {
  return {.get = [value] { return NameOf(*value); },
          .set = [value](const std::string& name) { FromName(name, value); }};
}

std::vector<std::string> LikelihoodChoices() {
  std::vector<std::string> names = LikelihoodNames();
  names.insert(names.begin(), "auto");
  return names;
}

std::vector<Field> Joined(std::initializer_list<std::vector<Field>> groups) {
  std::vector<Field> fields;
  for (const std::vector<Field>& group : groups)
    fields.insert(fields.end(), group.begin(), group.end());
  return fields;
}

// The bindings in the functions below name all members of a struct: a new one does not compile
// until it is named there, and then it belongs into a list.

std::vector<Field> SizeFields(std::vector<Index>* hidden, std::vector<Index>* inducing,
                              std::string* kernel, std::string* likelihood) {
  return {
      {.name = "architecture.hidden",
       .value = hidden,
       .range = From(1, 1000),
       .option = "hidden",
       .placeholder = "N[,N]",
       .help = "Widths of the hidden layers, '2,2' for two of them"},
      {.name = "architecture.inducing",
       .value = inducing,
       .range = From(1, 10000),
       .option = "inducing",
       .placeholder = "M[,M]",
       .help = "Pseudo-points per function; a list gives one number per layer"},
      {.name = "architecture.kernel",
       .value = kernel,
       .choices = {"se_ard", "linear_ard", "matern32", "matern52", "spectral_mixture"},
       .option = "kernel",
       .placeholder = "KIND",
       .help = "se_ard, linear_ard, matern32, matern52, spectral_mixture or, with three "
               "components, spectral_mixture:3; or a sum, as se_ard+linear_ard"},
      {.name = "architecture.likelihood",
       .value = likelihood,
       .choices = LikelihoodChoices(),
       .option = "likelihood",
       .placeholder = "KIND",
       .help = "gaussian, student_t or heteroscedastic for numbers; poisson for counts; probit, "
               "softmax or robust_max for classes; auto: by the target"},
  };
}

std::vector<Field> PropagationFields(Propagation* propagation, Index* paths,
                                     bool* full_covariance) {
  return {
      {.name = "architecture.propagation",
       .value = OneOf(propagation),
       .choices = AllNames<Propagation>(),
       .option = "propagation",
       .help = "What passes between layers: a Gaussian, sampled paths, or paths through learnt "
               "points; the last two give mixtures as predictions"},
      {.name = "architecture.paths",
       .value = paths,
       .range = From(1, 10000),
       .option = "paths",
       .placeholder = "S",
       .help = "Paths per row with the propagation samples or points"},
      {.name = "architecture.full_covariance",
       .value = full_covariance,
       .choices = {"diag", "full"},
       .option = "covariance",
       .help = "Whether the hidden units of a row are propagated as independent or as one joint "
               "Gaussian"},
  };
}

std::vector<Field> LayerFields(bool* linear_mean, bool* skip_links, bool* shared, bool* site_form) {
  return {
      {.name = "architecture.linear_mean",
       .value = linear_mean,
       .option = "linear-mean",
       .help = "Hidden layers start from a linear function of their inputs"},
      {.name = "architecture.skip_links",
       .value = skip_links,
       .option = "skip-links",
       .help = "Upper layers see the inputs too"},
      {.name = "architecture.shared",
       .value = shared,
       .option = "shared",
       .help = "The functions of a layer share kernel and pseudo-inputs"},
      {.name = "architecture.site_form",
       .value = site_form,
       .choices = {"whitened", "sites"},
       .option = "form",
       .help = "How the posterior is written while it is optimised"},
  };
}

std::vector<Field> NetworkFields(Architecture* architecture) {
  auto& [hidden, inducing, kernel, likelihood, linear_mean, skip_links, shared, full_covariance,
         site_form, propagation, paths] = *architecture;
  return Joined({SizeFields(&hidden, &inducing, &kernel, &likelihood),
                 PropagationFields(&propagation, &paths, &full_covariance),
                 LayerFields(&linear_mean, &skip_links, &shared, &site_form)});
}

std::vector<Field> StepFields(Index* steps, double* time_budget, Index* batch_size,
                              double* learning_rate) {
  return {
      {.name = "optimizer.steps",
       .value = steps,
       .range = From(0, static_cast<double>(kMostSteps)),
       .option = "steps",
       .placeholder = "N",
       .help = "Most steps of the optimiser; 0: by the size of the table, and four times as many "
               "where the noise proves small, or with a time budget"},
      {.name = "optimizer.time_budget",
       .value = time_budget,
       .range = From(0),
       .unit = "s",
       .option = "time-budget",
       .placeholder = "TIME",
       .help = "Make the best of this time"},
      {.name = "optimizer.batch_size",
       .value = batch_size,
       .range = From(1),
       .option = "batch",
       .placeholder = "ROWS",
       .help = "Rows per step"},
      {.name = "optimizer.learning_rate",
       .value = learning_rate,
       .range = Above(0, 10),
       .option = "learning-rate",
       .placeholder = "R",
       .help = "Step size of Adam, at its largest"},
  };
}

std::vector<Field> ScheduleFields(Index* warm_up, bool* decay, Index* patience, double* tolerance,
                                  Index* cool_down, int* max_recoveries) {
  return {
      {.name = "optimizer.warm_up",
       .value = warm_up,
       .range = From(0),
       .option = "warm-up",
       .placeholder = "N",
       .help = "Steps in which the learning rate grows to it"},
      {.name = "optimizer.decay",
       .value = decay,
       .option = "decay",
       .help = "After that the learning rate falls to zero, as half a cosine"},
      {.name = "optimizer.patience",
       .value = patience,
       .range = From(0),
       .option = "patience",
       .placeholder = "N",
       .help = "End when the energy has not improved for so many steps; 0: never"},
      {.name = "optimizer.tolerance",
       .value = tolerance,
       .help = "An improvement of the energy counts from here on"},
      {.name = "optimizer.cool_down",
       .value = cool_down,
       .range = From(0),
       .help = "Steps in which the learning rate falls to zero at the end of the patience"},
      {.name = "optimizer.max_recoveries",
       .value = max_recoveries,
       .help = "Training fails after it had to go back and take smaller steps so many times"},
  };
}

std::vector<Field> AdamFields(AdamOptions* adam) {
  auto& [beta1, beta2, epsilon] = *adam;
  return {
      {.name = "optimizer.adam.beta1",
       .value = &beta1,
       .help = "Decay of Adam's mean of the gradient"},
      {.name = "optimizer.adam.beta2",
       .value = &beta2,
       .help = "Decay of Adam's mean of the squared gradient"},
      {.name = "optimizer.adam.epsilon",
       .value = &epsilon,
       .help = "Keeps Adam from dividing by zero"},
  };
}

std::vector<Field> OptimizerFields(MinimizeOptions* optimizer) {
  auto& [steps, batch_size, learning_rate, warm_up, decay, time_budget, patience, tolerance,
         cool_down, max_recoveries, adam] = *optimizer;
  return Joined(
      {StepFields(&steps, &time_budget, &batch_size, &learning_rate),
       ScheduleFields(&warm_up, &decay, &patience, &tolerance, &cool_down, &max_recoveries),
       AdamFields(&adam)});
}

std::vector<Field> StartFields(InitializeOptions* options) {
  auto& [start, lengthscale, upper_lengthscale, hidden_noise, output_noise, hidden_posterior_var,
         sample_rows] = *options;
  return {
      {.name = "start.start",
       .value = OneOf(&start),
       .choices = AllNames<Start>(),
       .option = "start",
       .help = "Starting point of the training"},
      {.name = "start.lengthscale",
       .value = &lengthscale,
       .range = Above(0),
       .help = "Lengthscales of the first layer, times the root of the number of inputs"},
      {.name = "start.upper_lengthscale",
       .value = &upper_lengthscale,
       .range = Above(0),
       .help = "Lengthscales of the layers above, times the root of the number of inputs"},
      {.name = "start.hidden_noise",
       .value = &hidden_noise,
       .range = Above(0),
       .help = "Noise variance of the hidden units"},
      {.name = "start.output_noise",
       .value = &output_noise,
       .range = Above(0),
       .help = "Noise variance of the targets, which are scaled to variance 1"},
      {.name = "start.hidden_posterior_var",
       .value = &hidden_posterior_var,
       .range = Above(0),
       .help = "Variance of the whitened posterior of the hidden layers"},
      {.name = "start.sample_rows",
       .value = &sample_rows,
       .range = From(1),
       .help = "Rows from which the starting point is found"},
  };
}

std::vector<Field> EnsembleFields(Stacking* stack, Local* local, TargetKind* target_kind) {
  return {
      {.name = "stack",
       .value = OneOf(stack),
       .choices = AllNames<Stacking>(),
       .option = "stack",
       .help = "Whether an ensemble is fitted: networks of several kinds, each to four fifths of "
               "the rows in turn, weighted and calibrated by the rows that they have not seen; "
               "always: larger networks, trained longer"},
      {.name = "local",
       .value = OneOf(local),
       .choices = AllNames<Local>(),
       .option = "local",
       .help = "Whether an ensemble has neighbour GPs, which predict a row from its nearest rows "
               "and what the networks leave over; only: no networks"},
      {.name = "target_kind",
       .value = OneOf(target_kind),
       .choices = AllNames<TargetKind>(),
       .option = "target-kind",
       .help = "Whether an ensemble predicts counts, two values, frequent values, positive and "
               "bounded numbers as such where left-out rows gain by it; plain: as any number"},
  };
}

std::vector<Field> InferenceFields(Inference* inference, double* alpha, bool* mixture) {
  return {
      {.name = "inference",
       .value = OneOf(inference),
       .choices = AllNames<Inference>(),
       .option = "inference",
       .help = "How the posterior is found: aep maximises the tied factor's energy; sep and ep "
               "match moments, ep with a factor for each row"},
      {.name = "alpha",
       .value = alpha,
       .range = From(0, 1),
       .option = "alpha",
       .placeholder = "A",
       .help = "Power of EP: 1 is EP, 0 the variational limit"},
      {.name = "mixture",
       .value = mixture,
       .option = "mixture",
       .help =
           "Paths are mixed with power 1, and alpha acts inside each; without it, alpha in both "
           "places"},
  };
}

std::vector<Field> TrainingFields(double* effort, Index* low_noise_steps, double* lengthscale_prior,
                                  double* noise_floor) {
  return {
      {.name = "effort",
       .value = effort,
       .range = Above(0, 1000),
       .option = "effort",
       .placeholder = "F",
       .help = "Multiplies the number of steps that the size of the table calls for"},
      {.name = "low_noise_steps",
       .value = low_noise_steps,
       .range = From(0, static_cast<double>(kMostSteps)),
       .help = "Steps where the noise proves small; 0: four times what the size of the table calls "
               "for, or as many as were asked for"},
      {.name = "lengthscale_prior",
       .value = lengthscale_prior,
       .range = From(0),
       .option = "lengthscale-prior",
       .placeholder = "SD",
       .help = "How far lengthscales may go from the root of the number of inputs: standard "
               "deviation of their logarithm; 0: no prior"},
      {.name = "noise_floor",
       .value = noise_floor,
       .range = From(0),
       .option = "noise-floor",
       .placeholder = "V",
       .help = "Least noise variance, of targets scaled to variance 1"},
  };
}

std::vector<Field> InputFields(Whitening* whitening, Warping* warping) {
  return {
      {.name = "whitening",
       .value = OneOf(whitening),
       .choices = AllNames<Whitening>(),
       .option = "whiten",
       .help = "Whether nearly collinear inputs are turned into uncorrelated ones; auto: where a "
               "linear fit owes more than half of what it explains to their small differences"},
      {.name = "warping",
       .value = OneOf(warping),
       .choices = AllNames<Warping>(),
       .option = "warp",
       .help = "Whether skewed inputs enter a second time by their normal scores; auto: where an "
               "ensemble predicts left-out rows better with them"},
  };
}

std::vector<Field> RunFields(Precision* precision, std::uint64_t* seed, int* threads) {
  return {
      {.name = "precision",
       .value = OneOf(precision),
       .choices = AllNames<Precision>(),
       .option = "precision",
       .help =
           "Of the exponentials of upper layers: mixed is faster and for hidden layers of two to "
           "six units; above wider ones it changes nothing"},
      {.name = "seed",
       .value = seed,
       .option = "seed",
       .placeholder = "N",
       .help = "Seed of the starting point and of the batches"},
      {.name = "threads",
       .value = threads,
       .range = From(0, 1024),
       .option = "threads",
       .placeholder = "N",
       .help = "Threads to use; 0 means all cores. The result does not depend on it"},
  };
}

// The fields that belong to no group.
std::vector<Field> TopFields(Recipe* recipe) {
  auto& [architecture, start, whitening, warping, inference, alpha, mixture, lengthscale_prior,
         noise_floor, optimizer, effort, low_noise_steps, stack, local, target_kind, precision,
         seed, threads] = *recipe;
  return Joined({EnsembleFields(&stack, &local, &target_kind),
                 InferenceFields(&inference, &alpha, &mixture),
                 TrainingFields(&effort, &low_noise_steps, &lengthscale_prior, &noise_floor),
                 InputFields(&whitening, &warping), RunFields(&precision, &seed, &threads)});
}

}  // namespace

std::vector<Field> RecipeFields(Recipe* recipe) {
  return Joined({NetworkFields(&recipe->architecture), TopFields(recipe),
                 OptimizerFields(&recipe->optimizer), StartFields(&recipe->start)});
}

}  // namespace fathom
