// Kinds "energy" and "variational": the whole model in the site form.
#include <numeric>

#include "fathom/base/linalg.h"
#include "fathom/inference/aep_energy.h"
#include "fathom/inference/pass.h"
#include "fathom/inference/predict.h"
#include "fathom/likelihood/robust_max.h"
#include "tests/reference_json.h"

namespace fathom {
namespace {

DeepGp ModelOf(const Json& json, double N, const std::string& likelihood = "gaussian") {
  DeepGp model;
  model.likelihood = MakeLikelihood(likelihood);
  model.jitter = 0;
  const Json& layers = json.at("layers");
  for (std::size_t l = 0; l < layers.size(); ++l) {
    GpLayer layer;
    for (const Json& gp : layers[l].at("gps")) {
      Sites sites;
      sites.h = N * ToVector(gp.at("eta"));
      sites.R = N * ToMatrix(gp.at("Lambda"));
      if (!CholeskyInPlace(&sites.R)) throw NotSupported("an indefinite factor");
      const Matrix Z = ToMatrix(gp.at("Z"));
      const KernelParameters kernel = KernelOf(gp.at("kernel"), Z.cols());
      layer.gps.push_back({kernel.kernel, kernel.theta, Z, sites});
    }
    // The last layer has noise only where the likelihood has.
    const bool hidden = l + 1 < layers.size();
    if (hidden || layers[l].contains("sigma2")) {
      (hidden ? layer.noise_variance : model.likelihood_parameters) =
          ToVector(layers[l].at("sigma2"));
    }
    model.layers.push_back(std::move(layer));
  }
  return model;
}

// `reference` holds, as far as it goes, the gradients of one function.
void CompareFunction(const SparseGp& gp, const SparseGp& gradient, double N, const Json& reference,
                     const std::string& name, Comparison* compare) {
  if (const Json* kernel = compare->Find(reference, "kernel"))
    CompareBlocks(name + "d ", *gp.kernel, gp.input_dim(), gradient.theta, *kernel, compare);
  compare->ExpectAt(reference, "Z", name + "d Z", [&] { return gradient.Z; });
  const auto& sites = std::get<Sites>(gp.posterior);
  const auto& d_sites = std::get<Sites>(gradient.posterior);
  compare->ExpectAt(reference, "eta", name + "d eta", [&] { return Vector(N * d_sites.h); });
  compare->ExpectAt(reference, "Lambda", name + "d Lambda", [&] {
    // From the factor R to T = R R' = N Lambda.
    Matrix R_inverse = sites.R;
    InvertLowerInPlace(&R_inverse);
    return Matrix(N * CholeskyBackward(R_inverse, sites.R.transpose() * d_sites.R));
  });
}

void CompareGradients(const DeepGp& model, const DeepGp& gradient, double N, const Json& expected,
                      Comparison* compare) {
  const Json* layers = compare->Find(expected, "layers");
  if (layers == nullptr) return;
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    const Json& layer = layers->at(l);
    const std::string name = "layer " + std::to_string(l) + " ";
    if (const Json* gps = compare->Find(layer, "gps")) {
      for (std::size_t d = 0; d < model.layers[l].gps.size(); ++d)
        CompareFunction(model.layers[l].gps[d], gradient.layers[l].gps[d], N, gps->at(d),
                        name + "gp " + std::to_string(d) + " ", compare);
    }
    compare->ExpectAt(layer, "sigma2", name + "d sigma2", [&] {
      return l + 1 < model.layers.size() ? gradient.layers[l].noise_variance
                                         : gradient.likelihood_parameters;
    });
  }
}

std::vector<Index> AllRows(const Moments& x) {
  std::vector<Index> rows(x.rows());
  std::iota(rows.begin(), rows.end(), Index{0});
  return rows;
}

// phi of every GP at a scale c, plus that of its prior, against the file.
void ComparePhi(const DeepGp& model, double c, const Json& expected, const std::string& what,
                Comparison* compare) {
  const Json* reference = compare->Find(expected, what);
  if (reference == nullptr) return;
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    for (std::size_t d = 0; d < model.layers[l].gps.size(); ++d) {
      const SparseGp& gp = model.layers[l].gps[d];
      Matrix K;
      gp.kernel->Gram(gp.theta, gp.Z, &K);
      Matrix L = K;
      if (!CholeskyInPlace(&L)) throw std::runtime_error("K is not positive definite");
      const double prior = 0.5 * LogDeterminant(L);
      const double phi =
          what == "phi_prior" ? 0 : Condition(std::get<Sites>(gp.posterior), K, c).phi;
      compare->Expect(what, prior + phi, reference->at(l).at(d));
    }
  }
}

std::string LikelihoodName(const Json& test) {
  auto name = test.at("likelihood").get<std::string>();
  if (name != "robustmax") return name;
  if (test.at("epsilon").get<double>() != RobustMax::kEpsilon) throw NotSupported("this epsilon");
  return "robust_max";
}

// Means and variances, or covariances, under names with that prefix.
void CompareMoments(const std::string& what, const FullMoments& actual, const Json& expected,
                    const std::string& prefix, Comparison* compare) {
  compare->ExpectAt(expected, prefix + "mean", what + " mean", [&] { return actual.mean; });
  compare->ExpectAt(expected, prefix + "var", what + " variance",
                    [&] { return actual.Diagonal().var; });
  compare->ExpectAt(expected, prefix + "cov", what + " covariance", [&] { return actual.cov; });
}

void ComparePrediction(const NetworkPredictor& predictor, const Json& expected,
                       Comparison* compare) {
  const Json* x_test = compare->Find(expected, "X_test");
  if (x_test == nullptr) return;
  const Moments x = Moments::Certain(ToMatrix(*x_test));
  const bool full = predictor.model().full_covariance;
  for (const std::string of : {"f", "y"}) {
    const bool latent = of == "f";
    if (!latent && !expected.contains("y_mean") && !expected.contains("y_var") &&
        !expected.contains("y_cov"))
      continue;
    const FullMoments moments =
        full ? predictor.PredictJoint(x, latent)
             : FullMoments::FromDiagonal(predictor.Predict(x, {.latent = latent}).components[0]);
    CompareMoments("predicted " + of, moments, expected, of + "_", compare);
  }
  const Json* probability = compare->Find(expected, "probability");
  if (probability == nullptr) return;
  const Matrix actual = predictor.ClassProbabilities(x, {});
  if (probability->at(0).is_array()) {
    compare->Expect("probability", actual, *probability);
  } else {
    compare->Expect("probability", Vector(actual.col(1)), *probability);
  }
}

// Moments of every layer under the cavities.
void CompareLayers(const DeepGp& model, const Cavity& cavity, const Moments& x,
                   const Json& expected, Comparison* compare) {
  const ThreadPool pool(1);
  ConditionedModel gps;
  gps.Prepare(model, cavity, pool);
  Network network;
  network.Prepare(model, {.joint = model.full_covariance}, gps, pool);
  Pass pass;
  pass.Reserve(network, {0, model.num_layers()}, x.rows(), 0);
  pass.raw() = x;
  pass.Up(network, {}, {});
  const auto handed = [&](Index l) {
    const Handed& out = pass.output(l);
    return model.full_covariance ? out.joint : FullMoments::FromDiagonal(out.moments);
  };
  if (const Json* hidden = compare->Find(expected, "hidden")) {
    for (Index l = 0; l + 1 < model.num_layers(); ++l)
      CompareMoments("hidden", handed(l), hidden->at(l), "", compare);
  }
  CompareMoments("f", handed(model.num_layers() - 1), expected, "f_", compare);
}

}  // namespace

void CheckEnergy(const Json& test, Comparison* compare) {
  const auto covariance = test.at("covariance").get<std::string>();
  const bool full = covariance == "full";
  if (!full && covariance != "diagonal")
    throw std::runtime_error("unknown covariance " + covariance);

  const double alpha = test.at("alpha").get<double>();
  const double N = test.at("N").get<double>();
  DeepGp model = ModelOf(test.at("model"), N, LikelihoodName(test));
  model.full_covariance = full;
  const Moments x = Moments::Certain(ToMatrix(test.at("X")));
  const Matrix y = ToMatrix(test.at("Y"));
  const ThreadPool pool(1);
  const AepEnergy energy(model, x, y, {.alpha = alpha, .N = N}, pool);
  DeepGp gradient;
  const EnergyParts parts = energy.Energy(model, AllRows(x), &gradient);
  const Json& expected = PartOf(test, "expected");
  compare->ExpectAt(expected, "F", "F", [&] { return parts.F; });
  ComparePhi(model, 1, expected, "phi_prior", compare);
  ComparePhi(model, 1, expected, "phi_posterior", compare);
  ComparePhi(model, 1 - alpha / N, expected, "phi_cavity", compare);
  compare->ExpectAt(expected, "log_Z", "log Z", [&] {
    Vector log_z(x.rows());
    for (Index n = 0; n < x.rows(); ++n)
      log_z[n] = energy.Energy(model, std::vector<Index>{n}, nullptr).sum_log_z;
    return log_z;
  });
  CompareGradients(model, gradient, N, PartOf(test, "gradients"), compare);
  CompareLayers(model, {alpha, N}, x, expected, compare);
  ComparePrediction(NetworkPredictor(model, pool), PartOf(test, "prediction"), compare);
}

void CheckVariational(const Json& test, Comparison* compare) {
  const double N = test.at("N").get<double>();
  const DeepGp model = ModelOf(test.at("model"), N);
  const Moments x = Moments::Certain(ToMatrix(test.at("X")));
  const Matrix y = ToMatrix(test.at("Y"));
  const ThreadPool pool(1);
  const AepEnergy bound(model, x, y, {.alpha = 0, .N = N}, pool);
  DeepGp gradient;
  const EnergyParts parts = bound.Energy(model, AllRows(x), &gradient);
  const Json& expected = PartOf(test, "expected");
  compare->ExpectAt(expected, "uncollapsed_bound", "bound", [&] { return parts.F; });
  CompareGradients(model, gradient, N, PartOf(test, "gradients"), compare);
  const Json* at_alpha = compare->Find(expected, "energy_at_alpha");
  if (at_alpha == nullptr) return;
  for (const Json& pair : *at_alpha) {
    const AepEnergy energy(model, x, y, {.alpha = pair[0].get<double>(), .N = N}, pool);
    compare->Expect("energy at alpha " + pair[0].dump(),
                    energy.Energy(model, AllRows(x), nullptr).F, pair[1]);
  }
}

}  // namespace fathom
