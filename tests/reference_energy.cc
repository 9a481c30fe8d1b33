// Kinds "energy" and "variational": the whole model in the site form.
#include <numeric>

#include "fathom/base/linalg.h"
#include "fathom/inference/aep_energy.h"
#include "fathom/inference/full_covariance.h"
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

void CompareGradients(const DeepGp& model, const DeepGp& gradient, double N, const Json& expected,
                      Comparison* compare) {
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    const Json& layer = expected.at("layers")[l];
    for (std::size_t d = 0; d < model.layers[l].gps.size(); ++d) {
      const SparseGp& g = gradient.layers[l].gps[d];
      const auto& sites = std::get<Sites>(model.layers[l].gps[d].posterior);
      const auto& d_sites = std::get<Sites>(g.posterior);
      const Json& reference = layer.at("gps")[d];
      const std::string name = "layer " + std::to_string(l) + " gp " + std::to_string(d) + " ";
      compare->Expect(name + "d theta", g.theta,
                      BlocksOf(*g.kernel, g.input_dim(), reference.at("kernel")));
      compare->Expect(name + "d Z", g.Z, ToMatrix(reference.at("Z")));
      compare->Expect(name + "d eta", N * d_sites.h, ToVector(reference.at("eta")));
      // From the factor R to T = R R' = N Lambda.
      Matrix R_inverse = sites.R;
      InvertLowerInPlace(&R_inverse);
      const Matrix d_T = CholeskyBackward(R_inverse, sites.R.transpose() * d_sites.R);
      compare->Expect(name + "d Lambda", N * d_T, ToMatrix(reference.at("Lambda")));
    }
    if (l + 1 == model.layers.size() && !layer.contains("sigma2")) continue;
    const Vector& d_noise = l + 1 < model.layers.size() ? gradient.layers[l].noise_variance
                                                        : gradient.likelihood_parameters;
    compare->Expect("layer " + std::to_string(l) + " d sigma2", d_noise,
                    ToVector(layer.at("sigma2")));
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
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    for (std::size_t d = 0; d < model.layers[l].gps.size(); ++d) {
      const SparseGp& gp = model.layers[l].gps[d];
      Matrix K;
      gp.kernel->Gram(gp.theta, gp.Z, &K);
      Matrix L = K;
      if (!CholeskyInPlace(&L)) throw std::runtime_error("K is not positive definite");
      const double prior = 0.5 * LogDeterminant(L);
      const double phi =
          what == "phi_prior" ? 0 : Condition(std::get<Sites>(gp.posterior), K, c, nullptr).phi;
      compare->Expect(what, prior + phi, expected.at(what)[l][d]);
    }
  }
}

std::string LikelihoodName(const Json& test) {
  const auto name = test.at("likelihood").get<std::string>();
  if (name != "robustmax") return name;
  if (test.at("epsilon").get<double>() != RobustMax::kEpsilon) throw NotSupported("this epsilon");
  return "robust_max";
}

void ComparePrediction(const NetworkPredictor& predictor, const Json& expected,
                       Comparison* compare) {
  const Moments x = Moments::Certain(ToMatrix(expected.at("X_test")));
  const Prediction f = predictor.Predict(x, {.latent = true});
  compare->Expect("predicted f mean", f.components[0].mean, ToMatrix(expected.at("f_mean")));
  compare->Expect("predicted f variance", f.components[0].var, ToMatrix(expected.at("f_var")));
  if (!expected.contains("probability")) {
    const Prediction y = predictor.Predict(x, {});
    compare->Expect("predicted y mean", y.components[0].mean, ToMatrix(expected.at("y_mean")));
    compare->Expect("predicted y variance", y.components[0].var, ToMatrix(expected.at("y_var")));
    return;
  }
  const Matrix actual = predictor.ClassProbabilities(x, {});
  const Json& probability = expected.at("probability");
  if (probability[0].is_array()) {
    compare->Expect("probability", actual, ToMatrix(probability));
  } else {
    compare->Expect("probability", actual.col(1), ToVector(probability));
  }
}

// A file gives the covariances only where there are any.
void CompareJoint(const std::string& what, const FullMoments& actual, const Json& expected,
                  const std::string& prefix, Comparison* compare) {
  compare->Expect(what + " mean", actual.mean, ToMatrix(expected.at(prefix + "mean")));
  if (expected.contains(prefix + "cov")) {
    CompareCovariances(what + " covariance", actual.cov, expected.at(prefix + "cov"), compare);
  } else {
    compare->Expect(what + " variance", actual.Diagonal().var,
                    ToMatrix(expected.at(prefix + "var")));
  }
}

void CompareFullMoments(const Network& network, const Moments& x, const Json& expected,
                        Comparison* compare) {
  FullLayers layers;
  layers.Prepare(network, false);
  const std::vector<FullMoments> outputs = layers.Forward(x);
  for (std::size_t l = 0; l + 1 < outputs.size(); ++l)
    CompareJoint("hidden", outputs[l], expected.at("hidden")[l], "", compare);
  CompareJoint("f", outputs.back(), expected, "f_", compare);
}

void CompareJointPrediction(const NetworkPredictor& predictor, const Json& expected,
                            Comparison* compare) {
  const Moments x = Moments::Certain(ToMatrix(expected.at("X_test")));
  CompareJoint("predicted f", predictor.PredictJoint(x, true), expected, "f_", compare);
  if (expected.contains("y_mean"))
    CompareJoint("predicted y", predictor.PredictJoint(x, false), expected, "y_", compare);
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
  const Json& expected = test.at("expected");
  compare->Expect("F", parts.F, expected.at("F"));
  ComparePhi(model, 1, expected, "phi_prior", compare);
  ComparePhi(model, 1, expected, "phi_posterior", compare);
  ComparePhi(model, 1 - alpha / N, expected, "phi_cavity", compare);
  for (Index n = 0; n < x.rows(); ++n) {
    const std::vector<Index> one{n};
    compare->Expect("log Z", energy.Energy(model, one, nullptr).sum_log_z, expected.at("log_Z")[n]);
  }
  CompareGradients(model, gradient, N, test.at("gradients"), compare);

  // Moments of every layer under the cavities.
  Network network;
  network.Prepare(model, {alpha, N}, {}, pool);
  if (full) {
    CompareFullMoments(network, x, expected, compare);
    CompareJointPrediction(NetworkPredictor(model, pool), test.at("prediction"), compare);
    return;
  }
  Moments below = x;
  for (Index l = 0; l < model.num_layers(); ++l) {
    Network::LayerTape tape;
    Moments out;
    network.Forward(l, below, x, &tape, &out);
    if (l + 1 < model.num_layers()) {
      compare->Expect("hidden mean", out.mean, ToMatrix(expected.at("hidden")[l].at("mean")));
      compare->Expect("hidden variance", out.var, ToMatrix(expected.at("hidden")[l].at("var")));
    } else {
      compare->Expect("f mean", out.mean, ToMatrix(expected.at("f_mean")));
      compare->Expect("f variance", out.var, ToMatrix(expected.at("f_var")));
    }
    below = out;
  }

  ComparePrediction(NetworkPredictor(model, pool), test.at("prediction"), compare);
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
  compare->Expect("bound", parts.F, test.at("expected").at("uncollapsed_bound"));
  CompareGradients(model, gradient, N, test.at("gradients"), compare);
  for (const Json& pair : test.at("expected").at("energy_at_alpha")) {
    const AepEnergy energy(model, x, y, {.alpha = pair[0].get<double>(), .N = N}, pool);
    compare->Expect("energy at alpha " + pair[0].dump(),
                    energy.Energy(model, AllRows(x), nullptr).F, pair[1]);
  }
}

}  // namespace fathom
