#include "tests/reference_check.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "fathom/base/linalg.h"
#include "fathom/inference/aep_energy.h"
#include "fathom/inference/full_covariance.h"
#include "fathom/inference/predict.h"
#include "fathom/kernel/se_ard_full_layer.h"
#include "fathom/likelihood/robust_max.h"
#include "tests/reference_json.h"

namespace fathom {
namespace {

void RequireSeArd(const Kernel& kernel, const std::string& what) {
  if (kernel.Name() != "se_ard") throw NotSupported(what + " with kernel " + kernel.Name());
}

// Kind "psi": the statistics themselves and the gradient of a weighted sum of them.

struct PsiCall {
  Vector m, v;
  Moments d_x;
  Vector d_theta;
  Matrix dZ;
};

// One row through the projection with weights (a, S), and the gradient of dm * m + dv * v.
PsiCall CallProjection(const KernelParameters& kernel, const Matrix& Z, const Vector& a,
                       const Matrix& S, const Moments& x, double dm, double dv) {
  const Vector& theta = kernel.theta;
  const auto projection = kernel.kernel->NewProjection();
  const Vector no_mean;
  projection->Prepare({theta, Z, a, S, no_mean}, {.uncertain = true});
  AlignedBuffer tape(projection->TapeSize(x.rows()));
  AlignedBuffer sums(projection->SumsSize(), 0.0);
  PsiCall out;
  out.m.resize(x.rows());
  out.v.resize(x.rows());
  projection->Forward(x.mean, x.var, tape.data(), out.m.data(), out.v.data());
  out.d_x.SetZero(x.rows(), x.cols());
  Eigen::Ref<Matrix> d_mean(out.d_x.mean);
  Eigen::Ref<Matrix> d_var(out.d_x.var);
  const Vector dms = Vector::Constant(x.rows(), dm);
  const Vector dvs = Vector::Constant(x.rows(), dv);
  projection->Backward(x.mean, x.var, tape.data(), dms.data(), dvs.data(), sums.data(), &d_mean,
                       &d_var);
  out.d_theta = Vector::Zero(theta.size());
  out.dZ = Matrix::Zero(Z.rows(), Z.cols());
  Vector da = Vector::Zero(a.size());
  Matrix dS = Matrix::Zero(S.rows(), S.cols());
  projection->Finish(sums.data(), {out.d_theta, out.dZ, da, dS});
  return out;
}

FullMoments ToFullMoments(const Json& mean, const Json& cov) {
  FullMoments x;
  x.mean = ToMatrix(mean);
  for (const Json& row : cov) x.cov.push_back(ToMatrix(row));
  return x;
}

void CompareCovariances(const std::string& what, const std::vector<Matrix>& actual,
                        const Json& expected, Comparison* compare) {
  compare->Expect(what + " rows", static_cast<double>(actual.size()), expected.size());
  for (std::size_t n = 0; n < actual.size(); ++n)
    compare->Expect(what, actual[n], ToMatrix(expected[n]));
}

void CheckFullPsi(const Json& test, Comparison* compare) {
  const Matrix Z = ToMatrix(test.at("Z"));
  const KernelParameters kernel = KernelOf(test.at("kernel"), Z.cols());
  RequireSeArd(*kernel.kernel, "full covariance");
  const Vector& theta = kernel.theta;
  const Index M = Z.rows();
  const FullMoments x = ToFullMoments(test.at("mu"), test.at("cov"));
  const se_ard::Points points{theta, Z};
  const Json& expected = test.at("expected");
  double functional = 0;
  FullMoments d_x;
  d_x.SetZero(x.rows(), x.cols());
  Vector d_theta = Vector::Zero(theta.size());
  Matrix dZ = Matrix::Zero(M, Z.cols());
  for (Index n = 0; n < x.rows(); ++n) {
    const Vector mu = x.mean.row(n).transpose();
    for (Index i = 0; i < M; ++i) {
      const Vector unit_i = Vector::Unit(M, i);
      compare->Expect("psi1", ExpectedSum(Psi1Bumps(points, unit_i), mu, x.cov[n], nullptr),
                      expected.at("psi1")[n][i]);
      for (Index j = 0; j < M; ++j) {
        const Matrix unit_ij = unit_i * Vector::Unit(M, j).transpose();
        const Json& psi2 = expected.at("psi2")[n][i][j];
        compare->Expect("psi2", ExpectedSum(Psi2Bumps(points, unit_ij), mu, x.cov[n], nullptr),
                        psi2);
        compare->Expect("cross psi2",
                        ExpectedSum(CrossPsi2Bumps(points, points, unit_ij), mu, x.cov[n], nullptr),
                        psi2);
      }
    }
    compare->Expect("psi0", theta[0], expected.at("psi0")[n]);

    const double w0 = test.at("w0")[n].get<double>();
    const Vector w1 = ToVector(test.at("w1")[n]);
    const Matrix w2 = ToMatrix(test.at("w2")[n]);
    const se_ard::Bumps linear = Psi1Bumps(points, w1);
    const se_ard::Bumps square = Psi2Bumps(points, w2);
    functional += w0 * theta[0] + ExpectedSum(linear, mu, x.cov[n], nullptr) +
                  ExpectedSum(square, mu, x.cov[n], nullptr);
    se_ard::Bumps d_linear = linear.ZeroLike();
    se_ard::Bumps d_square = square.ZeroLike();
    Vector d_mu = Vector::Zero(x.cols());
    ExpectedSumBackward(linear, mu, x.cov[n], 1, nullptr, &d_linear, &d_mu, &d_x.cov[n]);
    ExpectedSumBackward(square, mu, x.cov[n], 1, nullptr, &d_square, &d_mu, &d_x.cov[n]);
    d_x.mean.row(n) = d_mu.transpose();
    Vector d_w1 = Vector::Zero(M);
    Matrix d_w2 = Matrix::Zero(M, M);
    Psi1BumpsBackward(points, w1, d_linear, {d_theta, dZ}, &d_w1);
    Psi2BumpsBackward(points, square, d_square, {d_theta, dZ}, &d_w2);
    d_theta[0] += w0;
  }
  compare->Expect("functional", functional, expected.at("functional"));
  const Json& gradients = test.at("gradients");
  compare->Expect("d mu", d_x.mean, ToMatrix(gradients.at("mu")));
  CompareCovariances("d cov", d_x.cov, gradients.at("cov"), compare);
  compare->Expect("d Z", dZ, ToMatrix(gradients.at("Z")));
  compare->Expect("d theta", d_theta, BlocksOf(*kernel.kernel, Z.cols(), gradients.at("kernel")));
}

void CheckPsi(const Json& test, Comparison* compare) {
  if (test.contains("cov")) {
    CheckFullPsi(test, compare);
    return;
  }
  const Matrix Z = ToMatrix(test.at("Z"));
  const KernelParameters kernel = KernelOf(test.at("kernel"), Z.cols());
  const Index M = Z.rows();
  const Moments x(ToMatrix(test.at("mu")), ToMatrix(test.at("var")));
  const Json& expected = test.at("expected");
  const Vector zero_a = Vector::Zero(M);
  const Matrix zero_S = Matrix::Zero(M, M);

  const Vector psi0 = CallProjection(kernel, Z, zero_a, zero_S, x, 0, 0).v;
  compare->Expect("psi0", psi0, ToVector(expected.at("psi0")));
  Matrix psi1(x.rows(), M);
  for (Index i = 0; i < M; ++i) {
    psi1.col(i) = CallProjection(kernel, Z, Vector::Unit(M, i), zero_S, x, 0, 0).m;
  }
  compare->Expect("psi1", psi1, ToMatrix(expected.at("psi1")));
  for (Index i = 0; i < M; ++i) {
    for (Index j = 0; j < M; ++j) {
      Matrix S = zero_S;
      S(i, j) -= 0.5;
      S(j, i) -= 0.5;
      const Vector psi2 = CallProjection(kernel, Z, zero_a, S, x, 0, 0).v - psi0;
      for (Index n = 0; n < x.rows(); ++n) {
        compare->Expect("psi2", psi2[n], expected.at("psi2")[n][i][j]);
      }
    }
  }

  // sum_n w0 psi0 + w1 psi1 + w2 psi2: three calls per row, whose v is psi0, (unused) and
  // psi0 + <w2, psi2>.
  double functional = 0;
  Moments d_x;
  d_x.SetZero(x.rows(), x.cols());
  Vector d_theta = Vector::Zero(kernel.theta.size());
  Matrix dZ = Matrix::Zero(M, Z.cols());
  for (Index n = 0; n < x.rows(); ++n) {
    const Moments row(x.mean.row(n), x.var.row(n));
    const double w0 = test.at("w0")[n].get<double>();
    const auto add = [&](const PsiCall& call, double value) {
      functional += value;
      d_x.mean.row(n) += call.d_x.mean.row(0);
      d_x.var.row(n) += call.d_x.var.row(0);
      d_theta += call.d_theta;
      dZ += call.dZ;
    };
    const PsiCall constant = CallProjection(kernel, Z, zero_a, zero_S, row, 0, w0 - 1);
    add(constant, (w0 - 1) * constant.v[0]);
    const PsiCall linear = CallProjection(kernel, Z, ToVector(test.at("w1")[n]), zero_S, row, 1, 0);
    add(linear, linear.m[0]);
    const PsiCall square =
        CallProjection(kernel, Z, zero_a, -Symmetrized(ToMatrix(test.at("w2")[n])), row, 0, 1);
    add(square, square.v[0]);
  }
  compare->Expect("functional", functional, expected.at("functional"));
  const Json& gradients = test.at("gradients");
  compare->Expect("d mu", d_x.mean, ToMatrix(gradients.at("mu")));
  compare->Expect("d var", d_x.var, ToMatrix(gradients.at("var")));
  compare->Expect("d Z", dZ, ToMatrix(gradients.at("Z")));
  compare->Expect("d theta", d_theta, BlocksOf(*kernel.kernel, Z.cols(), gradients.at("kernel")));
}

// Kind "layer": one layer under Gaussian inputs.

// A latent function of a layer, owned.
struct LayerFunction {
  KernelParameters kernel;
  Matrix Z;
  Vector a;
  Matrix S;
  Vector no_mean;
};

LayerFunction LayerFunctionOf(const Json& gp, const Json& q) {
  LayerFunction f;
  f.Z = ToMatrix(gp.at("Z"));
  f.kernel = KernelOf(gp.at("kernel"), f.Z.cols());
  Matrix K_inverse;
  f.kernel.kernel->Gram(f.kernel.theta, f.Z, &K_inverse);
  if (!CholeskyInPlace(&K_inverse)) throw std::runtime_error("K is not positive definite");
  InvertLowerInPlace(&K_inverse);
  K_inverse = Matrix(K_inverse.transpose() * K_inverse);
  f.a = K_inverse * ToVector(q.at("mean"));
  f.S = K_inverse - K_inverse * ToMatrix(q.at("cov")) * K_inverse;
  return f;
}

// The files give all covariances between a layer's outputs, so the layer is the full one even where
// the inputs are independent; there the diagonal projection must agree as well.
void CheckLayer(const Json& test, Comparison* compare) {
  const Json& gps = test.at("layer").at("gps");
  const Json& expected = test.at("expected");
  const bool diagonal = !test.contains("cov");
  FullMoments x;
  if (diagonal) {
    x = FullMoments::FromDiagonal({ToMatrix(test.at("mu")), ToMatrix(test.at("var"))});
  } else {
    x = ToFullMoments(test.at("mu"), test.at("cov"));
  }
  std::vector<LayerFunction> owned;
  for (std::size_t d = 0; d < gps.size(); ++d)
    owned.push_back(LayerFunctionOf(gps[d], test.at("q")[d]));
  std::vector<LayerFunction> d_owned = owned;  // their gradients are in no file
  std::vector<LatentFunction> functions;
  std::vector<LatentFunctionGradient> d_functions;
  for (std::size_t d = 0; d < gps.size(); ++d) {
    const LayerFunction& f = owned[d];
    functions.push_back({f.kernel.theta, f.Z, f.a, f.S, f.no_mean});
    d_functions.push_back({d_owned[d].kernel.theta, d_owned[d].Z, d_owned[d].a, d_owned[d].S});
    if (!diagonal) continue;
    const PsiCall call = CallProjection(f.kernel, f.Z, f.a, f.S, x.Diagonal(), 0, 0);
    for (Index n = 0; n < x.rows(); ++n) {
      compare->Expect("diagonal mean", call.m[n], expected.at("mean")[n][d]);
      compare->Expect("diagonal variance", call.v[n], expected.at("cov")[n][d][d]);
    }
  }

  for (const LayerFunction& f : owned) RequireSeArd(*f.kernel.kernel, "covariances of outputs");
  const Kernel& kernel = *owned[0].kernel.kernel;
  const FullMoments out = PropagateFull(kernel, functions, x);
  compare->Expect("mean", out.mean, ToMatrix(expected.at("mean")));
  CompareCovariances("covariance", out.cov, expected.at("cov"), compare);
  const FullMoments weights = ToFullMoments(test.at("wm"), test.at("wc"));
  double functional = weights.mean.cwiseProduct(out.mean).sum();
  for (Index n = 0; n < x.rows(); ++n) functional += weights.cov[n].cwiseProduct(out.cov[n]).sum();
  compare->Expect("functional", functional, expected.at("functional"));

  FullMoments d_x;
  PropagateFullBackward(kernel, functions, x, weights, &d_functions, &d_x);
  const Json& gradients = test.at("gradients");
  compare->Expect("d mu", d_x.mean, ToMatrix(gradients.at("mu")));
  if (diagonal) {
    compare->Expect("d var", d_x.Diagonal().var, ToMatrix(gradients.at("var")));
  } else {
    CompareCovariances("d cov", d_x.cov, gradients.at("cov"), compare);
  }
}

// Kinds "energy" and "variational": the whole model in the site form.

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

std::string CheckCase(const std::string& kind, const Json& test) {
  Comparison compare(test.at("tolerance").get<double>());
  if (kind == "psi") {
    CheckPsi(test, &compare);
  } else if (kind == "layer") {
    CheckLayer(test, &compare);
  } else if (kind == "energy") {
    CheckEnergy(test, &compare);
  } else if (kind == "variational") {
    CheckVariational(test, &compare);
  } else if (kind == "ep_step") {
    CheckEpStep(test, &compare);
  } else if (kind == "fitc") {
    CheckFitc(test, &compare);
  } else {
    throw std::runtime_error("unknown kind " + kind);
  }
  return compare.text();
}

ReferenceResult CheckFile(const std::filesystem::path& path) {
  ReferenceResult result;
  result.file = path.filename().string();
  try {
    std::ifstream stream(path);
    const Json file = Json::parse(stream);
    const auto kind = file.at("kind").get<std::string>();
    for (const Json& test : file.at("cases")) {
      const auto name = test.at("name").get<std::string>();
      try {
        const std::string differences = CheckCase(kind, test);
        if (differences.empty()) {
          ++result.passed;
        } else {
          result.failures.push_back(name + ": " + differences);
        }
      } catch (const NotSupported& missing) {
        result.unsupported.push_back(name + ": " + missing.what());
      } catch (const std::exception& error) {
        result.failures.push_back(name + ": " + error.what());
      }
    }
  } catch (const std::exception& error) {
    result.failures.emplace_back(error.what());
  }
  return result;
}

}  // namespace

std::vector<ReferenceResult> CheckReferences(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<ReferenceResult> results;
  for (const auto& path : paths) results.push_back(CheckFile(path));
  return results;
}

std::string ReferenceFolder() {
  const char* folder = std::getenv("FATHOM_REFERENCE_DIR");
  return folder != nullptr && *folder != '\0' ? folder : FATHOM_SOURCE_DIR "/tests/reference";
}

}  // namespace fathom
