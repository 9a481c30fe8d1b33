#include "tests/reference_check.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "fathom/base/linalg.h"
#include "fathom/inference/aep_energy.h"
#include "fathom/inference/predict.h"

namespace fathom {
namespace {

using Json = nlohmann::json;

class NotSupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

Vector ToVector(const Json& json) {
  Vector v(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) v[i] = json[i].get<double>();
  return v;
}

Matrix ToMatrix(const Json& json) {
  if (json.empty()) return {};
  Matrix m(json.size(), json[0].size());
  for (std::size_t i = 0; i < json.size(); ++i) m.row(i) = ToVector(json[i]).transpose();
  return m;
}

// Collects what differs by more than tolerance * max(1, max|expected|), the rule of the files.
class Comparison {
 public:
  explicit Comparison(double tolerance) : tolerance_(tolerance) {}

  void Expect(const std::string& what, const Matrix& actual, const Matrix& expected) {
    if (actual.rows() != expected.rows() || actual.cols() != expected.cols()) {
      text_ << what << " has another shape; ";
      return;
    }
    if (expected.size() == 0) return;
    const double error = (actual - expected).cwiseAbs().maxCoeff();
    const double allowed = tolerance_ * std::max(1.0, expected.cwiseAbs().maxCoeff());
    if (!(error <= allowed))
      text_ << what << " differs by " << error << " (allowed " << allowed << "); ";
  }
  void Expect(const std::string& what, double actual, const Json& expected) {
    Expect(what, Matrix::Constant(1, 1, actual), Matrix::Constant(1, 1, expected.get<double>()));
  }

  std::string text() const { return text_.str(); }

 private:
  double tolerance_;
  std::ostringstream text_;
};

void RequireSeArd(const Json& kernel) {
  const auto type = kernel.at("type").get<std::string>();
  if (type == "linear_ard" || type == "spectral_mixture") throw NotSupported("kernel " + type);
  if (type != "se_ard") throw std::runtime_error("unknown kernel " + type);
}

Vector ThetaOf(const Json& kernel) {
  RequireSeArd(kernel);
  const Vector lengthscales = ToVector(kernel.at("lengthscales"));
  Vector theta(1 + lengthscales.size());
  theta << kernel.at("variance").get<double>(), lengthscales;
  return theta;
}

// Kind "psi": the statistics themselves and the gradient of a weighted sum of them.

struct PsiCall {
  Vector m, v;
  Moments d_x;
  Vector d_theta;
  Matrix dZ;
};

// One row through the projection with weights (a, S), and the gradient of dm * m + dv * v.
PsiCall CallProjection(const Vector& theta, const Matrix& Z, const Vector& a, const Matrix& S,
                       const Moments& x, double dm, double dv) {
  const auto projection = MakeKernel("se_ard")->NewProjection();
  const Vector no_mean;
  projection->Prepare({theta, Z, a, S, no_mean}, true);
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

void CheckPsi(const Json& test, Comparison* compare) {
  const Vector theta = ThetaOf(test.at("kernel"));
  if (test.contains("cov")) throw NotSupported("full-covariance inputs");
  const Matrix Z = ToMatrix(test.at("Z"));
  const Index M = Z.rows();
  const Moments x(ToMatrix(test.at("mu")), ToMatrix(test.at("var")));
  const Json& expected = test.at("expected");
  const Vector zero_a = Vector::Zero(M);
  const Matrix zero_S = Matrix::Zero(M, M);

  const Vector psi0 = CallProjection(theta, Z, zero_a, zero_S, x, 0, 0).v;
  compare->Expect("psi0", psi0, ToVector(expected.at("psi0")));
  Matrix psi1(x.rows(), M);
  for (Index i = 0; i < M; ++i) {
    psi1.col(i) = CallProjection(theta, Z, Vector::Unit(M, i), zero_S, x, 0, 0).m;
  }
  compare->Expect("psi1", psi1, ToMatrix(expected.at("psi1")));
  for (Index i = 0; i < M; ++i) {
    for (Index j = 0; j < M; ++j) {
      Matrix S = zero_S;
      S(i, j) -= 0.5;
      S(j, i) -= 0.5;
      const Vector psi2 = CallProjection(theta, Z, zero_a, S, x, 0, 0).v - psi0;
      for (Index n = 0; n < x.rows(); ++n) {
        compare->Expect("psi2", psi2[n], expected.at("psi2")[n][i][j]);
      }
    }
  }

  // sum_n w0 psi0 + w1 psi1 + w2 psi2: three calls per row, whose v is psi0, (unused), psi0 + <w2,
  // psi2>.
  double functional = 0;
  Moments d_x;
  d_x.SetZero(x.rows(), x.cols());
  Vector d_theta = Vector::Zero(theta.size());
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
    const PsiCall constant = CallProjection(theta, Z, zero_a, zero_S, row, 0, w0 - 1);
    add(constant, (w0 - 1) * constant.v[0]);
    const PsiCall linear = CallProjection(theta, Z, ToVector(test.at("w1")[n]), zero_S, row, 1, 0);
    add(linear, linear.m[0]);
    const PsiCall square =
        CallProjection(theta, Z, zero_a, -Symmetrized(ToMatrix(test.at("w2")[n])), row, 0, 1);
    add(square, square.v[0]);
  }
  compare->Expect("functional", functional, expected.at("functional"));
  const Json& gradients = test.at("gradients");
  compare->Expect("d mu", d_x.mean, ToMatrix(gradients.at("mu")));
  compare->Expect("d var", d_x.var, ToMatrix(gradients.at("var")));
  compare->Expect("d Z", dZ, ToMatrix(gradients.at("Z")));
  compare->Expect("d variance", d_theta[0], gradients.at("kernel").at("variance"));
  compare->Expect("d lengthscales", d_theta.tail(Z.cols()),
                  ToVector(gradients.at("kernel").at("lengthscales")));
}

// Kind "layer": one layer under Gaussian inputs.

void CheckLayer(const Json& test, Comparison* compare) {
  if (test.contains("cov")) throw NotSupported("full-covariance inputs");
  // The off-diagonal covariances are those of --covariance full; the diagonal ones are ours. The
  // files give the gradient of a functional of both, which the diagonal alone cannot reproduce.
  const Json& gps = test.at("layer").at("gps");
  const Moments x(ToMatrix(test.at("mu")), ToMatrix(test.at("var")));
  Moments d_x;
  d_x.SetZero(x.rows(), x.cols());
  bool off_diagonal = false;
  for (std::size_t d = 0; d < gps.size(); ++d) {
    const Vector theta = ThetaOf(gps[d].at("kernel"));
    const Matrix Z = ToMatrix(gps[d].at("Z"));
    Matrix K;
    MakeKernel("se_ard")->Gram(theta, Z, &K);
    Matrix K_inverse = K;
    if (!CholeskyInPlace(&K_inverse)) throw std::runtime_error("K is not positive definite");
    InvertLowerInPlace(&K_inverse);
    K_inverse = Matrix(K_inverse.transpose() * K_inverse);
    const Vector a = K_inverse * ToVector(test.at("q")[d].at("mean"));
    const Matrix S = K_inverse - K_inverse * ToMatrix(test.at("q")[d].at("cov")) * K_inverse;
    for (Index n = 0; n < x.rows(); ++n) {
      const Moments row(x.mean.row(n), x.var.row(n));
      const PsiCall call = CallProjection(theta, Z, a, S, row, test.at("wm")[n][d].get<double>(),
                                          test.at("wc")[n][d][d].get<double>());
      compare->Expect("mean", call.m[0], test.at("expected").at("mean")[n][d]);
      compare->Expect("variance", call.v[0], test.at("expected").at("cov")[n][d][d]);
      d_x.mean.row(n) += call.d_x.mean.row(0);
      d_x.var.row(n) += call.d_x.var.row(0);
      for (std::size_t e = 0; e < gps.size(); ++e) {
        off_diagonal = off_diagonal || (e != d && test.at("wc")[n][d][e].get<double>() != 0);
      }
    }
  }
  if (off_diagonal) throw NotSupported("covariances between latent functions");
  compare->Expect("d mu", d_x.mean, ToMatrix(test.at("gradients").at("mu")));
  compare->Expect("d var", d_x.var, ToMatrix(test.at("gradients").at("var")));
}

// Kinds "energy" and "variational": the whole model in the site form.

DeepGp ModelOf(const Json& json, double N) {
  DeepGp model;
  model.likelihood = MakeLikelihood("gaussian");
  model.jitter = 0;
  const Json& layers = json.at("layers");
  for (std::size_t l = 0; l < layers.size(); ++l) {
    GpLayer layer;
    for (const Json& gp : layers[l].at("gps")) {
      Sites sites;
      sites.h = N * ToVector(gp.at("eta"));
      sites.R = N * ToMatrix(gp.at("Lambda"));
      if (!CholeskyInPlace(&sites.R)) throw NotSupported("an indefinite factor");
      layer.gps.push_back(
          {MakeKernel("se_ard"), ThetaOf(gp.at("kernel")), ToMatrix(gp.at("Z")), sites});
    }
    (l + 1 < layers.size() ? layer.noise_variance : model.likelihood_parameters) =
        ToVector(layers[l].at("sigma2"));
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
      compare->Expect(name + "d variance", g.theta[0], reference.at("kernel").at("variance"));
      compare->Expect(name + "d lengthscales", g.theta.tail(g.input_dim()),
                      ToVector(reference.at("kernel").at("lengthscales")));
      compare->Expect(name + "d Z", g.Z, ToMatrix(reference.at("Z")));
      compare->Expect(name + "d eta", N * d_sites.h, ToVector(reference.at("eta")));
      // From the factor R to T = R R' = N Lambda.
      Matrix R_inverse = sites.R;
      InvertLowerInPlace(&R_inverse);
      const Matrix d_T = CholeskyBackward(R_inverse, sites.R.transpose() * d_sites.R);
      compare->Expect(name + "d Lambda", N * d_T, ToMatrix(reference.at("Lambda")));
    }
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

void CheckEnergy(const Json& test, Comparison* compare) {
  const auto likelihood = test.at("likelihood").get<std::string>();
  if (likelihood == "probit" || likelihood == "softmax" || likelihood == "robustmax") {
    throw NotSupported("likelihood " + likelihood);
  }
  if (likelihood != "gaussian") throw std::runtime_error("unknown likelihood " + likelihood);
  const auto covariance = test.at("covariance").get<std::string>();
  if (covariance == "full") throw NotSupported("full-covariance propagation");
  if (covariance != "diagonal") throw std::runtime_error("unknown covariance " + covariance);

  const double alpha = test.at("alpha").get<double>();
  const double N = test.at("N").get<double>();
  const DeepGp model = ModelOf(test.at("model"), N);
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
  network.Prepare(model, {alpha, N}, false, pool);
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

  const Json& prediction = test.at("prediction");
  const Moments x_test = Moments::Certain(ToMatrix(prediction.at("X_test")));
  const Predictor predictor(model, pool);
  const Prediction f = predictor.Predict(x_test, {.latent = true});
  compare->Expect("predicted f mean", f.components[0].mean, ToMatrix(prediction.at("f_mean")));
  compare->Expect("predicted f variance", f.components[0].var, ToMatrix(prediction.at("f_var")));
  const Prediction predicted = predictor.Predict(x_test, {});
  compare->Expect("predicted y mean", predicted.components[0].mean,
                  ToMatrix(prediction.at("y_mean")));
  compare->Expect("predicted y variance", predicted.components[0].var,
                  ToMatrix(prediction.at("y_var")));
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
  } else if (kind == "ep_step" || kind == "fitc") {
    throw NotSupported("kind " + kind);
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
