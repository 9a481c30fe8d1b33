// Checks of the kinds of reference files that are about the Bayesian neural networks.
#include "bnn/diagnostics.h"
#include "bnn/dropout_loss.h"
#include "bnn/hmc_steps.h"
#include "bnn/mean_field.h"
#include "bnn/mixture.h"
#include "bnn/pbp.h"
#include "bnn/sgld_step.h"
#include "fathom/data/standardize.h"
#include "fathom/evaluate/metrics.h"
#include "tests/reference_json.h"

namespace fathom::bnn {

namespace {

// Numbers per weight stand in the files as one matrix [n_out, n_in + 1] per layer.
MlpShape ShapeOf(const Json& layers, const std::string& activation = "relu") {
  std::vector<Index> hidden;
  for (std::size_t l = 0; l + 1 < layers.size(); ++l)
    hidden.push_back(static_cast<Index>(layers[l].size()));
  Activation kind{};
  if (!FromName(activation, &kind)) throw std::runtime_error("unknown activation " + activation);
  return {static_cast<Index>(layers[0][0].size()) - 1, hidden, kind};
}

MlpShape ShapeOf(const Json& test, const char* weights) {
  return ShapeOf(test.at(weights), test.value("activation", "relu"));
}

Vector Numbers(const Json& json) {
  std::vector<double> values;
  Flatten(json, &values);
  return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
}

std::vector<Matrix> Layers(const MlpShape& shape, const Vector& weights) {
  std::vector<Matrix> layers;
  for (Index l = 0; l < shape.num_layers(); ++l) layers.emplace_back(shape.Layer(weights, l));
  return layers;
}

// Compares numbers per weight, layer by layer.
void ExpectLayers(const Json& object, const std::string& key, const MlpShape& shape,
                  const Vector& actual, Comparison* compare) {
  compare->ExpectAt(object, key, key, [&] { return Layers(shape, actual); });
}

void ExpectNumber(const Json& object, const std::string& key, double actual, Comparison* compare) {
  compare->ExpectAt(object, key, key, [&] { return actual; });
}

void ExpectList(const Json& object, const std::string& key, const Vector& actual,
                Comparison* compare) {
  compare->ExpectAt(object, key, key, [&] { return actual; });
}

Rows RowsOf(const Json& test) { return {ToMatrix(test.at("X")), ToVector(test.at("y"))}; }

void ExpectAdfLayers(const Json& layers, const PbpTape& tape, Comparison* compare) {
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const bool last = l == tape.relu.size();
    const Moments& a = last ? tape.f : tape.relu.at(l).in;
    ExpectList(layers[l], "m_a", a.mean.row(0), compare);
    ExpectList(layers[l], "v_a", a.var.row(0), compare);
    if (last) continue;
    ExpectList(layers[l], "m_z", tape.relu[l].out.mean.row(0), compare);
    ExpectList(layers[l], "v_z", tape.relu[l].out.var.row(0), compare);
  }
}

void CheckVariationalLoss(const Json& test, const VariationalLoss& loss, const MlpShape& shape,
                          const MeanField& gradient, Comparison* compare) {
  const Json& expected = PartOf(test, "expected");
  ExpectNumber(expected, "negative_elbo", loss.kl + loss.expected_nll, compare);
  ExpectNumber(expected, "loss", loss.kl + loss.expected_nll, compare);
  ExpectNumber(expected, "kl", loss.kl, compare);
  ExpectNumber(expected, "expected_nll", loss.expected_nll, compare);
  ExpectLayers(expected, "grad_mu", shape, gradient.mu, compare);
}

WeightNoise WeightNoiseOf(const Json& test) {
  WeightNoise eps;
  for (const Json& draw : test.at("eps")) eps.push_back(Numbers(draw));
  return eps;
}

Bound BoundOf(const Json& test) {
  return {.shape = ShapeOf(test, "mu"),
          .prior = {.mean = test.value("prior_mean", 0.0),
                    .variance = test.at("prior_variance").get<double>()},
          .kl_weight = 1,
          .rows = test.at("N").get<Index>()};
}

MeanField MeanFieldOf(const Json& test) {
  return {Numbers(test.at("mu")), Numbers(test.at("rho")), test.value("log_noise_variance", 0.0)};
}

// What weights and biases of a posterior share.
struct HmcCase {
  MlpShape shape;
  Rows rows;
  Vector weights;

  explicit HmcCase(const Json& test)
      : shape(ShapeOf(test, "W")), rows(RowsOf(test)), weights(Numbers(test.at("W"))) {}

  HmcTarget Target(const Json& test) const {
    const Vector prior = shape.SpreadGroups(ToVector(test.at("prior_variances")));
    const auto noise = test.at("noise_variance").get<double>();
    return [this, prior, noise](const Vector& w, Vector* gradient) {
      MlpTape tape;
      return EvaluateLogPosterior({shape, w}, rows, WeightPrior(prior), noise, &tape, gradient);
    };
  }
};

}  // namespace

void CheckPbpAdf(const Json& test, Comparison* compare) {
  const MlpShape shape = ShapeOf(test, "M");
  PbpState state = PbpState::Start(Numbers(test.at("M")));
  state.weights.V = Numbers(test.at("V"));
  state.noise = {test.at("a").get<double>(), test.at("b").get<double>()};
  const auto y = test.at("y").get<double>();
  const Moments x = Moments::Certain(ToVector(test.at("x")).transpose());
  const PbpState before = state;
  PbpScratch scratch;
  PbpUpdate(shape, x, y, &scratch, &state);
  const double mean = scratch.tape.f.mean(0, 0);
  const double var = scratch.tape.f.var(0, 0);
  const Json& expected = PartOf(test, "expected");
  if (const Json* layers = compare->Find(expected, "layers"))
    ExpectAdfLayers(*layers, scratch.tape, compare);
  ExpectNumber(expected, "mean", mean, compare);
  ExpectNumber(expected, "variance", var, compare);
  ExpectNumber(expected, "log_Z", GaussianEvidence(y, mean, var + before.noise.Variance()).log_z,
               compare);
  ExpectLayers(expected, "grad_M", shape, scratch.gradient.M, compare);
  ExpectLayers(expected, "grad_V", shape, scratch.gradient.V, compare);
  ExpectLayers(expected, "M_new", shape, state.weights.M, compare);
  ExpectLayers(expected, "V_new", shape, state.weights.V, compare);
  ExpectNumber(expected, "a_new", state.noise.shape, compare);
  ExpectNumber(expected, "b_new", state.noise.rate, compare);
  GaussianWeights again = before.weights;
  Vector refused;
  AdfUpdate(scratch.gradient, &again, &refused);
  ExpectLayers(expected, "skipped", shape, refused, compare);
}

void CheckPbpGamma(const Json& test, Comparison* compare) {
  GammaBelief belief{test.at("a").get<double>(), test.at("b").get<double>()};
  const auto variance = test.at("variance").get<double>();
  const Json& expected = PartOf(test, "expected");
  ExpectNumber(expected, "noise_variance_before", belief.Variance(), compare);
  if (test.contains("squared_residuals")) {
    const Vector squares = ToVector(test["squared_residuals"]);
    Matrix sequence(squares.size(), 2);
    for (Index i = 0; i < squares.size(); ++i) {
      UpdateGamma(squares[i], variance, &belief);
      sequence.row(i) << belief.shape, belief.rate;
    }
    compare->ExpectAt(expected, "sequence", "sequence", [&] { return sequence; });
  } else {
    UpdateGamma(test.at("squared_residual").get<double>(), variance, &belief);
  }
  ExpectNumber(expected, "a_new", belief.shape, compare);
  ExpectNumber(expected, "b_new", belief.rate, compare);
  ExpectNumber(expected, "noise_variance_after", belief.Variance(), compare);
}

void CheckPbpPrior(const Json& test, Comparison* compare) {
  const MlpShape shape = ShapeOf(test, "M");
  const Json& prior = test.at("prior");
  PbpState state = PbpState::Start(Numbers(test.at("M")));
  state.weights.V = Numbers(test.at("V"));
  state.prior = {prior.at("a").get<double>(), prior.at("b").get<double>()};
  state.v_nat = Numbers(prior.at("v_nat"));
  state.m_nat = Numbers(prior.at("m_nat"));
  state.a_nat = Numbers(prior.at("a_nat"));
  state.b_nat = Numbers(prior.at("b_nat"));
  RefinePrior(&state);
  const Json& expected = PartOf(test, "expected");
  ExpectLayers(expected, "M_new", shape, state.weights.M, compare);
  ExpectLayers(expected, "V_new", shape, state.weights.V, compare);
  ExpectNumber(expected, "skipped", static_cast<double>(state.skipped_factors), compare);
  if (const Json* after = compare->Find(expected, "prior_new")) {
    ExpectNumber(*after, "a", state.prior.shape, compare);
    ExpectNumber(*after, "b", state.prior.rate, compare);
    ExpectLayers(*after, "v_nat", shape, state.v_nat, compare);
    ExpectLayers(*after, "m_nat", shape, state.m_nat, compare);
    ExpectLayers(*after, "a_nat", shape, state.a_nat, compare);
    ExpectLayers(*after, "b_nat", shape, state.b_nat, compare);
  }
}

void CheckPbpEpochs(const Json& test, Comparison* compare) {
  const MlpShape shape = ShapeOf(test, "M_initial");
  PbpState state = PbpState::Start(Numbers(test.at("M_initial")));
  state.weights.V.setConstant(test.at("V_initial").get<double>());
  state.v_nat = state.weights.V.cwiseInverse();
  state.noise = {test.at("a").get<double>(), test.at("b").get<double>()};
  state.prior = {test.at("prior_a").get<double>(), test.at("prior_b").get<double>()};
  const Rows rows = RowsOf(test);
  const Moments x = Moments::Certain(rows.X);
  Matrix gammas(static_cast<Index>(test.at("order").size()), 4);
  Index epoch = 0;
  for (const Json& order : test.at("order")) {
    PbpPass(
        shape, x, rows.y, order.get<std::vector<Index>>(), [] { return true; }, &state);
    RefinePrior(&state);
    gammas.row(epoch++) << state.noise.shape, state.noise.rate, state.prior.shape, state.prior.rate;
  }
  const Moments predicted = PbpPredict(shape, state, Moments::Certain(ToMatrix(test.at("X_test"))));
  const Json& expected = PartOf(test, "expected");
  compare->ExpectAt(expected, "after_epoch_noise_a_b_prior_a_b", "gammas", [&] { return gammas; });
  ExpectLayers(expected, "M", shape, state.weights.M, compare);
  ExpectLayers(expected, "V", shape, state.weights.V, compare);
  ExpectList(expected, "test_mean", predicted.mean.col(0), compare);
  ExpectList(expected, "test_variance_with_noise", predicted.var.col(0), compare);
}

void CheckViWeight(const Json& test, Comparison* compare) {
  const MlpShape shape = ShapeOf(test, "mu");
  MeanField gradient;
  const VariationalLoss loss = WeightFormLoss(BoundOf(test), MeanFieldOf(test), RowsOf(test),
                                              WeightNoiseOf(test), &gradient);
  CheckVariationalLoss(test, loss, shape, gradient, compare);
  const Json& expected = PartOf(test, "expected");
  ExpectLayers(expected, "grad_rho", shape, gradient.rho, compare);
  ExpectNumber(expected, "grad_log_noise_variance", gradient.lambda, compare);
}

void CheckViLocal(const Json& test, Comparison* compare) {
  const MlpShape shape = ShapeOf(test, "mu");
  const Rows rows = RowsOf(test);
  const Json& draws = test.at("eps");
  UnitNoise eps;
  for (Index l = 0; l < shape.num_layers(); ++l) {
    Matrix& of_layer =
        eps.emplace_back(static_cast<Index>(draws.size()) * rows.size(), shape.fan_out(l));
    for (std::size_t s = 0; s < draws.size(); ++s)
      of_layer.middleRows(static_cast<Index>(s) * rows.size(), rows.size()) =
          ToMatrix(draws[s].at(l));
  }
  MeanField gradient;
  LocalTape tape;
  const VariationalLoss loss =
      LocalFormLoss(BoundOf(test), MeanFieldOf(test), rows, eps, &gradient, &tape);
  CheckVariationalLoss(test, loss, shape, gradient, compare);
  const Json& expected = PartOf(test, "expected");
  ExpectLayers(expected, "grad_rho", shape, gradient.rho, compare);
  ExpectNumber(expected, "grad_log_noise_variance", gradient.lambda, compare);
}

void CheckViKl(const Json& test, Comparison* compare) {
  const MlpShape shape = ShapeOf(test, "mu");
  const MeanField q = MeanFieldOf(test);
  const NormalPrior prior{0, test.at("prior_variance").get<double>()};
  MeanField gradient{Vector::Zero(q.mu.size()), Vector::Zero(q.mu.size())};
  KlBackward(q, prior, 1, &gradient);
  const Json& expected = PartOf(test, "expected");
  ExpectNumber(expected, "kl", Kl(q, prior), compare);
  ExpectLayers(expected, "grad_mu", shape, gradient.mu, compare);
  ExpectLayers(expected, "grad_rho", shape, gradient.rho, compare);
}

void CheckViGraves(const Json& test, Comparison* compare) {
  const MlpShape shape = ShapeOf(test, "mu");
  const Vector var = Numbers(test.at("var"));
  const MeanField q{Numbers(test.at("mu")), 0.5 * var.array().log(),
                    std::log(test.at("noise_variance").get<double>())};
  const auto loss = [&](Curvature curvature, MeanField* gradient) {
    return GravesLoss(BoundOf(test), q, RowsOf(test), WeightNoiseOf(test), curvature, gradient);
  };
  // dL/drho = 2 var dL/dvar
  const auto by_variance = [&](const MeanField& gradient) -> Vector {
    return 0.5 * gradient.rho.cwiseQuotient(var);
  };
  MeanField gradient;
  MeanField gauss_newton;
  loss(Curvature::kGaussNewton, &gauss_newton);
  CheckVariationalLoss(test, loss(Curvature::kSquaredGradients, &gradient), shape, gradient,
                       compare);
  const Json& expected = PartOf(test, "expected");
  ExpectLayers(expected, "grad_var", shape, by_variance(gradient), compare);
  ExpectLayers(expected, "grad_var_gauss_newton", shape, by_variance(gauss_newton), compare);
  ExpectNumber(expected, "optimal_prior_mean", OptimalPrior(q).mean, compare);
  ExpectNumber(expected, "optimal_prior_variance", OptimalPrior(q).variance, compare);
}

void CheckSgldStep(const Json& test, Comparison* compare) {
  const MlpShape shape = ShapeOf(test, "W");
  SgldPoint point{Numbers(test.at("W")), test.at("kappa").get<double>()};
  const SgldPrior prior{
      .weight_variances = shape.SpreadGroups(ToVector(test.at("prior_variances"))),
      .kappa_mean = test.at("kappa_prior_mean").get<double>(),
      .kappa_variance = test.at("kappa_prior_variance").get<double>()};
  SgldPoint preconditioner{Vector::Ones(shape.num_weights()),
                           test.value("preconditioner_kappa", 1.0)};
  if (test.contains("preconditioner_weights"))
    preconditioner.weights = Numbers(test["preconditioner_weights"]);
  const SgldPoint noise{Numbers(test.at("noise_weights")), test.at("noise_kappa").get<double>()};
  const Json& expected = PartOf(test, "expected");
  ExpectNumber(expected, "noise_variance", NoiseVariance(point.kappa), compare);
  MlpTape tape;
  SgldPoint drift;
  SgldDrift(shape, point, RowsOf(test), {prior, test.at("N").get<Index>()}, &tape, &drift);
  ExpectLayers(expected, "grad_W", shape, drift.weights, compare);
  ExpectNumber(expected, "grad_kappa", drift.kappa, compare);
  SgldStep({test.at("step_weights").get<double>(), test.at("step_kappa").get<double>()},
           preconditioner, drift, noise, &point);
  ExpectLayers(expected, "W_new", shape, point.weights, compare);
  ExpectNumber(expected, "kappa_new", point.kappa, compare);
}

void CheckHmcPosterior(const Json& test, Comparison* compare) {
  const HmcCase of(test);
  Vector gradient;
  const LogPosterior value = of.Target(test)(of.weights, &gradient);
  MlpTape tape;
  const Json& expected = PartOf(test, "expected");
  ExpectNumber(expected, "log_likelihood", value.log_likelihood, compare);
  ExpectNumber(expected, "log_posterior", value.value(), compare);
  ExpectLayers(expected, "gradient", of.shape, gradient, compare);
  ExpectLayers(expected, "fisher_diagonal", of.shape,
               FisherDiagonal({of.shape, of.weights}, of.rows,
                              test.at("noise_variance").get<double>(), &tape),
               compare);
}

void CheckHmcLeapfrog(const Json& test, Comparison* compare) {
  const HmcCase of(test);
  const HmcTarget target = of.Target(test);
  const Vector inverse_mass = of.shape.SpreadGroups(ToVector(test.at("inverse_mass")));
  HmcPoint point{of.weights, Numbers(test.at("momentum"))};
  point.log_posterior = target(point.weights, &point.gradient);
  const double start = point.Hamiltonian(inverse_mass);
  Vector on_the_way(test.at("steps").get<Index>());
  for (double& value : on_the_way) {
    Leapfrog(target, inverse_mass, test.at("step").get<double>(), &point);
    value = point.log_posterior.value();
  }
  const double end = point.Hamiltonian(inverse_mass);
  const Json& expected = PartOf(test, "expected");
  ExpectList(expected, "log_posterior_after_each_step", on_the_way, compare);
  ExpectLayers(expected, "W_end", of.shape, point.weights, compare);
  ExpectLayers(expected, "momentum_end", of.shape, point.momentum, compare);
  ExpectNumber(expected, "H_start", start, compare);
  ExpectNumber(expected, "H_end", end, compare);
  ExpectNumber(expected, "acceptance_probability", AcceptanceProbability(start, end), compare);
}

void CheckHmcGibbs(const Json& test, Comparison* compare) {
  const HmcCase of(test);
  const Vector sizes = of.shape.GroupSizes();
  const Vector squares = of.shape.SumGroups(of.weights.cwiseAbs2());
  const Vector scales = ToVector(test.at("prior_scales"));
  Vector group_shapes(sizes.size());
  Vector group_scales(sizes.size());
  for (Index g = 0; g < sizes.size(); ++g) {
    const InverseGamma of_group =
        Conditional({test.at("prior_shape").get<double>(), scales[g]}, sizes[g], squares[g]);
    group_shapes[g] = of_group.shape;
    group_scales[g] = of_group.scale;
  }
  MlpTape tape;
  const InverseGamma noise =
      Conditional({test.at("noise_shape").get<double>(), test.at("noise_scale").get<double>()},
                  static_cast<double>(of.rows.size()),
                  SumSquaredResiduals({of.shape, of.weights}, of.rows, &tape, nullptr));
  const Json& expected = PartOf(test, "expected");
  ExpectList(expected, "group_shapes", group_shapes, compare);
  ExpectList(expected, "group_scales", group_scales, compare);
  ExpectNumber(expected, "noise_shape", noise.shape, compare);
  ExpectNumber(expected, "noise_scale", noise.scale, compare);
}

void CheckDropout(const Json& test, Comparison* compare) {
  const MlpShape shape = ShapeOf(test, "W");
  const Rows rows = RowsOf(test);
  const DropoutPrior prior{.rate = test.at("p").get<double>(),
                           .lengthscale = test.at("lengthscale").get<double>(),
                           .precision = test.at("tau").get<double>()};
  InputFactors factors;
  for (const Json& mask : test.at("masks")) factors.push_back(ToMatrix(mask) / (1 - prior.rate));
  const double decay = WeightDecay(prior, test.at("N").get<Index>());
  MlpTape tape;
  Vector gradient;
  const Vector w = Numbers(test.at("W"));
  const double loss = DropoutLoss({shape, w}, rows, factors, decay, &tape, &gradient);
  MlpForward({shape, w}, rows.X, &tape, &factors);
  const Json& expected = PartOf(test, "expected");
  ExpectNumber(expected, "reg", decay, compare);
  ExpectList(expected, "output", tape.f, compare);
  ExpectNumber(expected, "loss", loss, compare);
  ExpectLayers(expected, "gradient", shape, gradient, compare);
}

void CheckPredictive(const Json& test, Comparison* compare) {
  const Scaler scaler{.mean = Vector::Constant(1, test.at("y_mean").get<double>()),
                      .scale = Vector::Constant(1, test.at("y_sd").get<double>()),
                      .missing_var = Vector::Ones(1)};
  const Prediction prediction = Unscale(
      scaler, MixtureOfDraws(ToMatrix(test.at("outputs")), ToVector(test.at("noise_variances"))));
  const Vector y = ToVector(test.at("y"));
  Vector log_density(y.size());
  for (Index n = 0; n < y.size(); ++n)
    log_density[n] = prediction.LogDensity(n, y.segment(n, 1).transpose());
  const Scores scores = Evaluate(prediction, Matrix(y));
  const Json& expected = PartOf(test, "expected");
  ExpectList(expected, "log_density", log_density, compare);
  ExpectNumber(expected, "mean_log_likelihood", scores.mean_log_likelihood, compare);
  ExpectList(expected, "mean", prediction.Mean().col(0), compare);
  ExpectList(expected, "variance", prediction.Variance().col(0), compare);
  ExpectNumber(expected, "rmse", scores.rmse, compare);
}

void CheckDiagnostics(const Json& test, Comparison* compare) {
  const Json& expected = PartOf(test, "expected");
  if (test.contains("draws")) {
    const Matrix draws = ToMatrix(test["draws"]);
    ExpectNumber(expected, "split_rhat", SplitRhat(draws), compare);
    ExpectNumber(expected, "ess", EffectiveSampleSize(draws), compare);
    return;
  }
  DualAveraging adaptation(test.at("initial_step").get<double>(),
                           {.target = test.at("target").get<double>(),
                            .gamma = test.at("gamma").get<double>(),
                            .t0 = test.at("t0").get<double>(),
                            .kappa = test.at("kappa").get<double>()});
  const Vector acceptances = ToVector(test.at("acceptances"));
  Matrix steps(acceptances.size(), 2);
  for (Index i = 0; i < acceptances.size(); ++i) {
    adaptation.Update(acceptances[i]);
    steps.row(i) << adaptation.step(), adaptation.averaged();
  }
  compare->ExpectAt(expected, "step_and_averaged_step", "steps", [&] { return steps; });
}

}  // namespace fathom::bnn
