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

// One function's update by one row of a table of N equal ones, and that of SEP.
struct FunctionStep {
  FunctionStep(const SparseGp& gp, double N_in) : whitening(gp), N(N_in) {}
  Whitening whitening;
  double N;
  Belief cavity;
  CavitySlopes slopes;
  Natural others, factor, sep;
};

void CompareStep(const FunctionStep& step, const Json& expected, const std::string& name,
                 Comparison* compare) {
  const Whitening& w = step.whitening;
  const auto expect = [&](const std::string& key, const auto& actual) {
    compare->ExpectAt(expected, key, name + key, actual);
  };
  expect("cavity_mean", [&] { return Vector(w.L * step.cavity.m); });
  expect("cavity_cov", [&] { return Matrix(w.L * step.cavity.V * w.L.transpose()); });
  expect("dlogZ_dm", [&] { return Vector(w.L_inverse.transpose() * step.slopes.g); });
  expect("dlogZ_dV",
         [&] { return Matrix(-w.L_inverse.transpose() * step.slopes.E * w.L_inverse); });
  expect("Lambda_new", [&] { return w.Lambda(step.factor); });
  expect("eta_new", [&] { return w.Eta(step.factor); });
  const Belief q = BeliefOf({step.others.h + step.factor.h, step.others.T + step.factor.T});
  expect("new_mean", [&] { return Vector(w.L * q.m); });
  expect("new_cov", [&] { return Matrix(w.L * q.V * w.L.transpose()); });
  expect("Lambda_sep", [&] { return Matrix(w.Lambda(step.sep) / step.N); });
  expect("eta_sep", [&] { return Vector(w.Eta(step.sep) / step.N); });
}

}  // namespace

void CheckEpStep(const Json& test, Comparison* compare) {
  const double N = test.at("N").get<double>();
  const DeepGp model = TiedModel(test, N);
  const Moments x = Moments::Certain(ToMatrix(test.at("x")));
  const Matrix y = ToMatrix(test.at("y"));
  const Json& expected = PartOf(test, "expected");
  const Json& factors = test.at("model").at("layers");
  const double kept = N - 1;

  RowStep step;
  step.Attach(model, 0, false);
  PerFunction<FunctionStep> functions(model.layers.size());
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    for (std::size_t d = 0; d < model.layers[l].gps.size(); ++d) {
      const Json& gp = factors[l].at("gps")[d];
      FunctionStep& f = functions[l].emplace_back(model.layers[l].gps[d], N);
      f.others =
          f.whitening.Whiten(kept * ToVector(gp.at("eta")), kept * ToMatrix(gp.at("Lambda")));
      f.cavity = BeliefOf(f.others);
      Conditioned conditioned;
      Condition(f.cavity, f.whitening.L_inverse, &conditioned);
      step.SetCavity(static_cast<Index>(l), static_cast<Index>(d), conditioned);
    }
  }
  const double log_z = step.Run(1, x, x, y.data());
  compare->ExpectAt(expected, "log_Z", "log Z", [&] { return log_z; });

  // SEP of a table whose rows are all the same, one of them updated.
  const auto rows = static_cast<Index>(N);
  const Moments table = Moments::Certain(x.mean.replicate(rows, 1));
  const Matrix targets = y.replicate(rows, 1);
  const ThreadPool pool(1);
  Sep sep(model, table, targets, {.alpha = 1}, pool);
  const std::vector<Index> first{0};
  sep.Update(Pack(model, sep.packing()), first, test.at("beta").get<double>());

  const Json* layers = compare->Find(expected, "layers");
  for (std::size_t l = 0; layers != nullptr && l < model.layers.size(); ++l) {
    const Json* gps = compare->Find(layers->at(l), "gps");
    for (std::size_t d = 0; gps != nullptr && d < model.layers[l].gps.size(); ++d) {
      const auto layer = static_cast<Index>(l);
      const auto function = static_cast<Index>(d);
      FunctionStep& f = functions[l][d];
      WhitenSlopes(step.FunctionSlopes(layer, function).cavity, f.whitening.L_inverse, &f.slopes);
      if (!MatchMoments(f.cavity, f.slopes, 1, &f.factor)) throw std::runtime_error("no match");
      f.sep = sep.Total(layer, function);
      CompareStep(f, gps->at(d), NameOf(l, d), compare);
    }
  }
}

namespace {

void CompareHyperGradient(const std::string& what, const DeepGp& gradient, const Json& expected,
                          Comparison* compare) {
  const SparseGp& gp = gradient.layers[0].gps[0];
  if (const Json* kernel = compare->Find(expected, "kernel"))
    CompareBlocks(what + "d ", *gp.kernel, gp.input_dim(), gp.theta, *kernel, compare);
  compare->ExpectAt(expected, "Z", what + "d Z", [&] { return gp.Z; });
  compare->ExpectAt(expected, "sigma2", what + "d sigma2",
                    [&] { return gradient.likelihood_parameters[0]; });
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

// A table and a model of one layer at its prior.
struct FitcProblem {
  DeepGp model;
  Moments x;
  Matrix y;
  std::vector<Index> rows;
};

FitcProblem FitcProblemOf(const Json& test) {
  FitcProblem problem;
  DeepGp& model = problem.model;
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
  problem.x = Moments::Certain(ToMatrix(test.at("X")));
  problem.y = ToVector(test.at("y"));
  problem.rows.resize(static_cast<std::size_t>(problem.x.rows()));
  std::iota(problem.rows.begin(), problem.rows.end(), Index{0});
  return problem;
}

// EP after one update from the prior, which must give all of it.
struct UpdatedEp {
  ThreadPool pool{1};
  Ep ep;
  Vector parameters;
  DeepGp gradient;
  double F = 0;

  UpdatedEp(const FitcProblem& problem, double alpha)
      : ep(problem.model, problem.x, problem.y, {.alpha = alpha}, pool),
        parameters(Pack(problem.model, ep.packing())) {
    ep.Update(parameters, problem.rows);
    F = ep.Energy(parameters, &gradient);
  }
};

void ComparePosterior(const UpdatedEp& updated, const FitcProblem& problem, const Json& expected,
                      const std::string& what, Comparison* compare) {
  const DeepGp posterior = updated.ep.Posterior(updated.parameters);
  const Whitening w(problem.model.layers[0].gps[0]);
  const auto& q = std::get<Whitened>(posterior.layers[0].gps[0].posterior);
  const Matrix root = w.L * q.Delta;
  const auto factor = [&](Index n) { return updated.ep.Factor(0, 0, n); };
  compare->ExpectAt(expected, "u_mean", what + "u mean", [&] { return Vector(w.L * q.mu); });
  compare->ExpectAt(expected, "u_cov", what + "u cov",
                    [&] { return Matrix(root * root.transpose()); });
  compare->ExpectAt(expected, "Lambda_n", what + "Lambda_n", [&] {
    std::vector<Matrix> all;
    for (const Index n : problem.rows) all.push_back(w.Lambda(factor(n)));
    return all;
  });
  compare->ExpectAt(expected, "eta_n", what + "eta_n", [&] {
    Matrix all(problem.x.rows(), q.mu.size());
    for (const Index n : problem.rows) all.row(n) = w.Eta(factor(n)).transpose();
    return all;
  });
  if (const Json* x_test = compare->Find(expected, "X_test")) {
    const NetworkPredictor predictor(posterior, updated.pool);
    const Moments test = Moments::Certain(ToMatrix(*x_test));
    const Moments f = predictor.Predict(test, {.latent = true}).components[0];
    const Moments y = predictor.Predict(test, {}).components[0];
    compare->ExpectAt(expected, "f_mean", what + "f mean", [&] { return Vector(f.mean); });
    compare->ExpectAt(expected, "f_var", what + "f variance", [&] { return Vector(f.var); });
    compare->ExpectAt(expected, "y_var", what + "y variance", [&] { return Vector(y.var); });
  }
}

void CheckPower(const FitcProblem& problem, const Json& expected, Comparison* compare) {
  const Json* power = compare->Find(expected, "alpha");
  if (power == nullptr) throw std::runtime_error("a power_ep without its alpha");
  const auto alpha = power->get<double>();
  const std::string what = "alpha " + power->dump() + " ";
  const UpdatedEp updated(problem, alpha);
  compare->ExpectAt(expected, "value", what + "value", [&] { return updated.F; });
  if (const Json* gradients = compare->Find(expected, "gradients"))
    CompareHyperGradient(what, updated.gradient, *gradients, compare);
  ComparePosterior(updated, problem, expected, what, compare);

  const DeepGp posterior = updated.ep.Posterior(updated.parameters);
  const AepEnergy tied(posterior, problem.x, problem.y, {.alpha = alpha}, updated.pool);
  compare->ExpectAt(expected, "tied_at_average", what + "tied at average",
                    [&] { return tied.Energy(posterior, problem.rows, nullptr).F; });
  compare->ExpectAt(expected, "tied_maximum", what + "tied maximum",
                    [&] { return TiedMaximum(tied, posterior, problem.rows); });
}

}  // namespace

void CheckFitc(const Json& test, Comparison* compare) {
  const FitcProblem problem = FitcProblemOf(test);
  const Json& expected = PartOf(test, "expected");
  compare->ExpectAt(expected, "fitc_log_marginal", "FITC evidence",
                    [&] { return UpdatedEp(problem, 1).F; });
  if (const Json* powers = compare->Find(expected, "power_ep")) {
    for (const Json& power : *powers) CheckPower(problem, power, compare);
  }
  const Json* bound = compare->Find(expected, "variational_bound");
  if (bound == nullptr) return;
  const UpdatedEp limit(problem, 0);
  compare->ExpectAt(*bound, "value", "variational bound", [&] { return limit.F; });
  if (const Json* gradients = compare->Find(*bound, "gradients"))
    CompareHyperGradient("variational bound ", limit.gradient, *gradients, compare);
}

}  // namespace fathom
