// Kinds "ep_step" and "fitc": moment matching, and EP on one layer.
#include <numeric>

#include "fathom/base/linalg.h"
#include "fathom/inference/aep_energy.h"
#include "fathom/inference/ep.h"
#include "fathom/inference/predict.h"
#include "fathom/inference/sep.h"
#include "tests/reference_json.h"

namespace fathom {
namespace {

// Between pseudo-outputs u and whitened v, u = L v.
struct Whitening {
  Matrix L, L_inverse;

  explicit Whitening(const SparseGp& gp) {
    gp.kernel->Gram(gp.theta, gp.Z, &L);
    if (!CholeskyInPlace(&L)) throw std::runtime_error("K is not positive definite");
    L_inverse = L;
    InvertLowerInPlace(&L_inverse);
  }
  Natural Whiten(const Vector& eta, const Matrix& Lambda) const {
    return {L.transpose() * eta, L.transpose() * Lambda * L};
  }
  Vector Eta(const Natural& factor) const { return L_inverse.transpose() * factor.h; }
  Matrix Lambda(const Natural& factor) const {
    return L_inverse.transpose() * factor.T * L_inverse;
  }
};

Belief BeliefOf(const Natural& factor) {
  Belief belief;
  if (!ToBelief(factor, &belief)) throw std::runtime_error("not a distribution");
  return belief;
}

// The tied factors of a file as a whitened posterior; Lambda may be indefinite.
DeepGp TiedModel(const Json& test, double N) {
  DeepGp model;
  model.jitter = 0;
  model.likelihood = MakeLikelihood(test.at("likelihood").get<std::string>());
  const Json& layers = test.at("model").at("layers");
  for (std::size_t l = 0; l < layers.size(); ++l) {
    GpLayer& layer = model.layers.emplace_back();
    for (const Json& json : layers[l].at("gps")) {
      SparseGp& gp = layer.gps.emplace_back();
      gp.Z = ToMatrix(json.at("Z"));
      const KernelParameters kernel = KernelOf(json.at("kernel"), gp.Z.cols());
      gp.kernel = kernel.kernel;
      gp.theta = kernel.theta;
      gp.posterior = ToWhitened(BeliefOf(
          Whitening(gp).Whiten(N * ToVector(json.at("eta")), N * ToMatrix(json.at("Lambda")))));
    }
    if (!layers[l].contains("sigma2")) continue;
    (l + 1 < layers.size() ? layer.noise_variance : model.likelihood_parameters) =
        ToVector(layers[l].at("sigma2"));
  }
  return model;
}

std::string NameOf(std::size_t l, std::size_t d) {
  return "layer " + std::to_string(l) + " gp " + std::to_string(d) + " ";
}

}  // namespace

void CheckEpStep(const Json& test, Comparison* compare) {
  const double N = test.at("N").get<double>();
  const DeepGp model = TiedModel(test, N);
  const Moments x = Moments::Certain(ToMatrix(test.at("x")));
  const Matrix y = ToMatrix(test.at("y"));
  const Json& layers = test.at("expected").at("layers");
  const Json& factors = test.at("model").at("layers");
  const double kept = N - 1;

  RowStep step;
  step.Attach(model, 0, false);
  PerFunction<Belief> cavities(model.layers.size());
  const auto whitening = [&](std::size_t l, std::size_t d) {
    return Whitening(model.layers[l].gps[d]);
  };
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    for (std::size_t d = 0; d < model.layers[l].gps.size(); ++d) {
      const Json& gp = factors[l].at("gps")[d];
      const Whitening w = whitening(l, d);
      const Belief& cavity = cavities[l].emplace_back(
          BeliefOf(w.Whiten(kept * ToVector(gp.at("eta")), kept * ToMatrix(gp.at("Lambda")))));
      const Json& expected = layers[l].at("gps")[d];
      compare->Expect(NameOf(l, d) + "cavity mean", w.L * cavity.m,
                      ToVector(expected.at("cavity_mean")));
      compare->Expect(NameOf(l, d) + "cavity cov", w.L * cavity.V * w.L.transpose(),
                      ToMatrix(expected.at("cavity_cov")));
      Conditioned conditioned;
      Condition(cavity, w.L_inverse, &conditioned);
      step.SetCavity(static_cast<Index>(l), static_cast<Index>(d), conditioned);
    }
  }
  compare->Expect("log Z", step.Run(1, x, x, y.data()), test.at("expected").at("log_Z"));

  // SEP of a table whose rows are all the same, one of them updated.
  const auto rows = static_cast<Index>(N);
  const Moments table = Moments::Certain(x.mean.replicate(rows, 1));
  const Matrix targets = y.replicate(rows, 1);
  const ThreadPool pool(1);
  Sep sep(model, table, targets, {.alpha = 1}, pool);
  const std::vector<Index> first{0};
  sep.Update(Pack(model, sep.packing()), first, test.at("beta").get<double>());

  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    for (std::size_t d = 0; d < model.layers[l].gps.size(); ++d) {
      const Json& expected = layers[l].at("gps")[d];
      const Whitening w = whitening(l, d);
      const Belief& cavity = cavities[l][d];
      const auto function = static_cast<Index>(d);
      CavitySlopes slopes;
      WhitenSlopes(step.FunctionSlopes(static_cast<Index>(l), function).cavity, w.L_inverse,
                   &slopes);
      compare->Expect(NameOf(l, d) + "dlogZ/dm", w.L_inverse.transpose() * slopes.g,
                      ToVector(expected.at("dlogZ_dm")));
      compare->Expect(NameOf(l, d) + "dlogZ/dV", -w.L_inverse.transpose() * slopes.E * w.L_inverse,
                      ToMatrix(expected.at("dlogZ_dV")));
      Natural factor;
      if (!MatchMoments(cavity, slopes, 1, &factor)) throw std::runtime_error("no match");
      compare->Expect(NameOf(l, d) + "Lambda", w.Lambda(factor),
                      ToMatrix(expected.at("Lambda_new")));
      compare->Expect(NameOf(l, d) + "eta", w.Eta(factor), ToVector(expected.at("eta_new")));
      const Json& gp = factors[l].at("gps")[d];
      const Natural others =
          w.Whiten(kept * ToVector(gp.at("eta")), kept * ToMatrix(gp.at("Lambda")));
      const Belief q = BeliefOf({others.h + factor.h, others.T + factor.T});
      compare->Expect(NameOf(l, d) + "new mean", w.L * q.m, ToVector(expected.at("new_mean")));
      compare->Expect(NameOf(l, d) + "new cov", w.L * q.V * w.L.transpose(),
                      ToMatrix(expected.at("new_cov")));
      const Natural& total = sep.Total(static_cast<Index>(l), function);
      compare->Expect(NameOf(l, d) + "SEP Lambda", w.Lambda(total) / N,
                      ToMatrix(expected.at("Lambda_sep")));
      compare->Expect(NameOf(l, d) + "SEP eta", w.Eta(total) / N, ToVector(expected.at("eta_sep")));
    }
  }
}

namespace {

void CompareHyperGradient(const std::string& what, const DeepGp& gradient, const Json& expected,
                          Comparison* compare) {
  const SparseGp& gp = gradient.layers[0].gps[0];
  compare->Expect(what + "d theta", gp.theta,
                  BlocksOf(*gp.kernel, gp.input_dim(), expected.at("kernel")));
  compare->Expect(what + "d Z", gp.Z, ToMatrix(expected.at("Z")));
  compare->Expect(what + "d sigma2", gradient.likelihood_parameters[0], expected.at("sigma2"));
}

// The largest tied energy over the posterior of the one function, hyperparameters fixed: BFGS with
// a line search that halves its step.
double TiedMaximum(const AepEnergy& energy, DeepGp model, const std::vector<Index>& rows) {
  const auto visit = [](DeepGp* of, const auto& act) {
    auto& q = std::get<Whitened>(of->layers[0].gps[0].posterior);
    Index k = 0;
    for (double& mean : q.mu) act(k++, &mean);
    for (Index i = 0; i < q.Delta.rows(); ++i) {
      for (Index j = 0; j <= i; ++j) act(k++, &q.Delta(i, j));
    }
    return k;
  };
  const Index size = visit(&model, [](Index, double*) {});
  Vector at(size);
  visit(&model, [&](Index k, double* value) { at[k] = *value; });
  const auto evaluate = [&](const Vector& point, Vector* slope) {
    visit(&model, [&](Index k, double* value) { *value = point[k]; });
    DeepGp gradient;
    const double F = energy.Energy(model, rows, &gradient).F;
    visit(&gradient, [&](Index k, const double* value) { (*slope)[k] = *value; });
    return F;
  };
  Vector slope(size);
  Vector next_slope(size);
  double F = evaluate(at, &slope);
  Matrix H = Matrix::Identity(size, size);
  for (int iteration = 0; iteration < 1000 && slope.norm() > 1e-8; ++iteration) {
    Vector step = H * slope;
    double next = evaluate(at + step, &next_slope);
    while (!(next >= F) && step.norm() > 1e-14) {
      step *= 0.5;
      next = evaluate(at + step, &next_slope);
    }
    const Vector change = slope - next_slope;  // of the slope of -F
    const double curvature = step.dot(change);
    at += step;
    F = next;
    slope = next_slope;
    if (curvature <= 0) continue;
    const Matrix left = Matrix::Identity(size, size) - step * change.transpose() / curvature;
    H = left * H * left.transpose() + step * step.transpose() / curvature;
  }
  return F;
}

// One update from the prior must give all of it.
void CheckPower(const DeepGp& model, const Moments& x, const Matrix& y, const Json& expected,
                Comparison* compare) {
  const double alpha = expected.at("alpha").get<double>();
  const std::string what = "alpha " + expected.at("alpha").dump() + " ";
  const ThreadPool pool(1);
  Ep ep(model, x, y, {.alpha = alpha}, pool);
  const Vector parameters = Pack(model, ep.packing());
  std::vector<Index> rows(static_cast<std::size_t>(x.rows()));
  std::iota(rows.begin(), rows.end(), Index{0});
  ep.Update(parameters, rows);
  DeepGp gradient;
  const double F = ep.Energy(parameters, &gradient);
  compare->Expect(what + "value", F, expected.at("value"));
  CompareHyperGradient(what, gradient, expected.at("gradients"), compare);

  const DeepGp posterior = ep.Posterior(parameters);
  const Whitening w(model.layers[0].gps[0]);
  const auto& q = std::get<Whitened>(posterior.layers[0].gps[0].posterior);
  const Matrix root = w.L * q.Delta;
  compare->Expect(what + "u mean", w.L * q.mu, ToVector(expected.at("u_mean")));
  compare->Expect(what + "u cov", root * root.transpose(), ToMatrix(expected.at("u_cov")));
  for (Index n = 0; n < x.rows(); ++n) {
    const Natural factor = ep.Factor(0, 0, n);
    compare->Expect(what + "Lambda_n", w.Lambda(factor), ToMatrix(expected.at("Lambda_n")[n]));
    compare->Expect(what + "eta_n", w.Eta(factor), ToVector(expected.at("eta_n")[n]));
  }
  const NetworkPredictor predictor(posterior, pool);
  const Moments test = Moments::Certain(ToMatrix(expected.at("X_test")));
  const Moments f = predictor.Predict(test, {.latent = true}).components[0];
  compare->Expect(what + "f mean", f.mean, ToVector(expected.at("f_mean")));
  compare->Expect(what + "f variance", f.var, ToVector(expected.at("f_var")));
  compare->Expect(what + "y variance", predictor.Predict(test, {}).components[0].var,
                  ToVector(expected.at("y_var")));

  const AepEnergy tied(posterior, x, y, {.alpha = alpha}, pool);
  const double at_average = tied.Energy(posterior, rows, nullptr).F;
  compare->Expect(what + "tied at average", at_average, expected.at("tied_at_average"));
  compare->Expect(what + "tied maximum", TiedMaximum(tied, posterior, rows),
                  expected.at("tied_maximum"));
}

}  // namespace

void CheckFitc(const Json& test, Comparison* compare) {
  DeepGp model;
  model.jitter = 0;
  model.likelihood = MakeLikelihood("gaussian");
  model.likelihood_parameters = Vector::Constant(1, test.at("sigma2").get<double>());
  SparseGp gp;
  gp.Z = ToMatrix(test.at("Z"));
  const KernelParameters kernel = KernelOf(test.at("kernel"), gp.Z.cols());
  gp.kernel = kernel.kernel;
  gp.theta = kernel.theta;
  gp.posterior = Whitened::Prior(gp.num_inducing());
  model.layers.emplace_back().gps.push_back(gp);
  const Moments x = Moments::Certain(ToMatrix(test.at("X")));
  const Matrix y = ToVector(test.at("y"));
  const Json& expected = test.at("expected");
  for (const Json& power : expected.at("power_ep")) {
    CheckPower(model, x, y, power, compare);
    if (power.at("alpha").get<double>() == 1) {
      compare->Expect("FITC evidence", power.at("value").get<double>(),
                      expected.at("fitc_log_marginal"));
    }
  }

  const ThreadPool pool(1);
  Ep ep(model, x, y, {.alpha = 0}, pool);
  const Vector parameters = Pack(model, ep.packing());
  std::vector<Index> rows(static_cast<std::size_t>(x.rows()));
  std::iota(rows.begin(), rows.end(), Index{0});
  ep.Update(parameters, rows);
  DeepGp gradient;
  const Json& bound = expected.at("variational_bound");
  compare->Expect("variational bound", ep.Energy(parameters, &gradient), bound.at("value"));
  CompareHyperGradient("variational bound ", gradient, bound.at("gradients"), compare);
}

}  // namespace fathom
