#include "bnn/expert.h"

#include <mutex>
#include <sstream>

#include "bnn/dropout.h"
#include "bnn/mixture.h"
#include "bnn/pbp.h"
#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/fitted/description.h"

namespace fathom::bnn {

namespace {

using Json = nlohmann::json;

// The s-th draw of each kind of posterior that predicts by draws.
struct DrawOf {
  const MlpShape& shape;
  Index s;

  Vector operator()(const PooledDraws& posterior) const { return posterior.weights.row(s); }
  Vector operator()(const GaussianPosterior& posterior) const {
    RandomStream stream(posterior.seed, static_cast<std::uint64_t>(s));
    return posterior.mu + DrawWeights(posterior.sd.cwiseAbs2(), &stream);
  }
  Vector operator()(const DropoutPosterior& posterior) const {
    RandomStream stream(posterior.seed, static_cast<std::uint64_t>(s));
    return ThinnedWeights(shape, posterior.weights, posterior.rate, &stream);
  }
  Vector operator()(const PbpPosterior& /*posterior*/) const {
    throw InternalError("PBP has no draws");
  }
};

// [S]: the noise variance of each draw.
struct NoiseOf {
  Vector operator()(const PooledDraws& posterior) const { return posterior.noise; }
  template <typename Drawn>
  Vector operator()(const Drawn& posterior) const {
    return Vector::Constant(posterior.draws, posterior.noise);
  }
  Vector operator()(const PbpPosterior& posterior) const {
    return Vector::Constant(1, posterior.noise);
  }
};

class NetworkPredictor : public ExpertPredictor {
 public:
  NetworkPredictor(const NetworkExpert& expert, const ThreadPool& pool)
      : expert_(expert), pool_(pool), noise_(std::visit(NoiseOf(), expert.posterior())) {}

  Prediction Predict(const Moments& x, const PredictOptions& options) const override {
    const Vector noise = options.latent ? Vector(Vector::Zero(noise_.size())) : noise_;
    if (const auto* pbp = std::get_if<PbpPosterior>(&expert_.posterior()))
      return Prediction::Gaussian(Propagate(*pbp, x, noise[0]));
    Matrix outputs(noise.size(), x.rows());
    pool_.Run(noise.size(), [&](Index s) {
      const Vector weights = std::visit(DrawOf{expert_.shape(), s}, expert_.posterior());
      outputs.row(s) = MlpOutputs({expert_.shape(), weights}, x.mean);
    });
    return MixtureOfDraws(outputs, noise);
  }
  // A draw of the weights is one function for all rows.
  std::vector<Matrix> Covariances(const Moments& x, const PredictOptions& options) const override {
    if (std::holds_alternative<PbpPosterior>(expert_.posterior()))
      return ExpertPredictor::Covariances(x, options);
    PredictOptions latent = options;
    latent.latent = true;
    const Prediction f = Predict(x, latent);
    Matrix outputs(f.size(), x.rows());
    for (Index s = 0; s < f.size(); ++s)
      outputs.row(s) = f.components[s].mean.col(0).transpose() - f.Mean().col(0).transpose();
    return {Matrix(outputs.transpose() * f.weights.asDiagonal() * outputs)};
  }

 private:
  // Row by row, so that the bits of one do not depend on how many there are.
  Moments Propagate(const PbpPosterior& posterior, const Moments& x, double noise) const {
    Moments y(x.rows(), 1);
    pool_.Run(x.rows(), [&](Index n) {
      PbpTape tape;
      PbpForward(expert_.shape(), posterior.weights, x.MiddleRows(n, 1), &tape);
      y.mean(n, 0) = tape.f.mean(0, 0);
      y.var(n, 0) = tape.f.var(0, 0) + noise;
    });
    return y;
  }

  const NetworkExpert& expert_;
  const ThreadPool& pool_;
  Vector noise_;
};

void RequireGood(bool good) {
  if (!good)
    ThrowError("the posterior of its network holds a number that is not finite or out of range;",
               " make the file anew");
}

struct CheckPosterior {
  Index weights;

  void operator()(const PooledDraws& p) const {
    RequireGood(p.weights.rows() >= 1 && p.weights.rows() == p.noise.size() &&
                p.weights.cols() == weights && p.weights.allFinite() && p.noise.allFinite() &&
                (p.noise.array() > 0).all());
  }
  void operator()(const GaussianPosterior& p) const {
    RequireGood(p.mu.size() == weights && p.sd.size() == weights && p.mu.allFinite() &&
                p.sd.allFinite() && (p.sd.array() >= 0).all() && IsNoise(p.noise) && p.draws >= 1);
  }
  void operator()(const DropoutPosterior& p) const {
    RequireGood(p.weights.size() == weights && p.weights.allFinite() && p.rate >= 0 && p.rate < 1 &&
                IsNoise(p.noise) && p.draws >= 1);
  }
  void operator()(const PbpPosterior& p) const {
    const auto& [M, V] = p.weights;
    RequireGood(M.size() == weights && V.size() == weights && M.allFinite() && V.allFinite() &&
                (V.array() >= 0).all() && IsNoise(p.noise));
  }
  static bool IsNoise(double noise) { return noise > 0 && std::isfinite(noise); }
};

// The names by which files call the kinds of posteriors.
constexpr const char* kDrawsKind = "draws";
constexpr const char* kGaussianKind = "gaussian";
constexpr const char* kDropoutKind = "dropout";
constexpr const char* kMomentsKind = "moments";

struct WritePosterior {
  Json& json;
  const ArrayWriter& arrays;

  void operator()(const PooledDraws& p) const {
    json.update({{"posterior", kDrawsKind}, {"draws", p.noise.size()}});
    arrays.Write("weights", p.weights);
    arrays.Write("noise_variance", p.noise);
  }
  void operator()(const GaussianPosterior& p) const {
    json.update({{"posterior", kGaussianKind},
                 {"draws", p.draws},
                 {"seed", p.seed},
                 {"noise_variance", ToJson(p.noise)}});
    arrays.Write("weights.mean", p.mu);
    arrays.Write("weights.std", p.sd);
  }
  void operator()(const DropoutPosterior& p) const {
    json.update({{"posterior", kDropoutKind},
                 {"draws", p.draws},
                 {"seed", p.seed},
                 {"rate", ToJson(p.rate)},
                 {"noise_variance", ToJson(p.noise)}});
    arrays.Write("weights", p.weights);
  }
  void operator()(const PbpPosterior& p) const {
    json.update({{"posterior", kMomentsKind}, {"noise_variance", ToJson(p.noise)}});
    arrays.Write("weights.mean", p.weights.M);
    arrays.Write("weights.variance", p.weights.V);
  }
};

// Reads what all posteriors by draws have beside their arrays.
template <typename Drawn>
void ReadDrawn(const Json& json, Drawn* posterior) {
  ReadField(json, "draws", &posterior->draws);
  ReadField(json, "seed", &posterior->seed);
  ReadField(json, "noise_variance", &posterior->noise);
}

NetworkPosterior ReadPosterior(const Json& json, Index weights, const ArrayReader& arrays) {
  std::string kind;
  ReadField(json, "posterior", &kind);
  if (kind == kDrawsKind) {
    Index draws = 0;
    ReadField(json, "draws", &draws);
    return PooledDraws{arrays.TakeMatrix("weights", draws, weights),
                       arrays.TakeVector("noise_variance", draws)};
  }
  if (kind == kGaussianKind) {
    GaussianPosterior posterior{.mu = arrays.TakeVector("weights.mean", weights),
                                .sd = arrays.TakeVector("weights.std", weights)};
    ReadDrawn(json, &posterior);
    return posterior;
  }
  if (kind == kDropoutKind) {
    DropoutPosterior posterior{.weights = arrays.TakeVector("weights", weights)};
    ReadDrawn(json, &posterior);
    ReadField(json, "rate", &posterior.rate);
    return posterior;
  }
  if (kind != kMomentsKind) ThrowError("posterior of the kind ", Quoted(kind), " is not known");
  PbpPosterior posterior{.weights = {arrays.TakeVector("weights.mean", weights),
                                     arrays.TakeVector("weights.variance", weights)}};
  ReadField(json, "noise_variance", &posterior.noise);
  return posterior;
}

std::shared_ptr<const Expert> ReadNetworkExpert(const Json& description,
                                                const ArrayReader& arrays) {
  constexpr Index kWidest = 1'000'000;  // so that the number of weights does not overflow
  Index inputs = 0;
  std::vector<Index> hidden;
  Activation activation{};
  ReadField(description, "inputs", &inputs);
  ReadField(description, "hidden", &hidden);
  ReadField(description, "activation", &activation);
  Require(inputs <= kWidest, "the number of inputs", "at most a million", inputs);
  for (const Index width : hidden)
    Require(width <= kWidest, "the width of a hidden layer", "at most a million", width);
  const MlpShape shape(inputs, hidden, activation);
  FitFindings findings{.settings = FieldOf(description, "settings", Json::value_t::object),
                       .diagnostics = FieldOf(description, "diagnostics", Json::value_t::object)};
  ReadField(description, "warnings", &findings.warnings);
  return std::make_shared<NetworkExpert>(
      shape, ReadPosterior(description, shape.num_weights(), arrays), std::move(findings));
}

struct DescribePosterior {
  std::string operator()(const PooledDraws& p) const {
    return std::to_string(p.noise.size()) + " draws";
  }
  std::string operator()(const GaussianPosterior& p) const {
    return "a Gaussian per weight, " + std::to_string(p.draws) + " draws of it";
  }
  std::string operator()(const DropoutPosterior& p) const {
    return std::to_string(p.draws) + " passes with dropout";
  }
  std::string operator()(const PbpPosterior& /*p*/) const { return "a Gaussian per weight"; }
};

}  // namespace

NetworkExpert::NetworkExpert(MlpShape shape, NetworkPosterior posterior, FitFindings findings)
    : shape_(std::move(shape)),
      posterior_(std::move(posterior)),
      findings_(std::move(findings)),
      likelihood_(MakeLikelihood("gaussian")) {}

Vector NetworkExpert::NoiseVariance() const {
  return Vector::Constant(1, std::visit(NoiseOf(), posterior_).mean());
}

std::unique_ptr<ExpertPredictor> NetworkExpert::Prepare(const ThreadPool& pool,
                                                        Precision /*precision*/) const {
  return std::make_unique<NetworkPredictor>(*this, pool);
}

void NetworkExpert::Check() const { std::visit(CheckPosterior{shape_.num_weights()}, posterior_); }

void NetworkExpert::Write(Json* description, const ArrayWriter& arrays) const {
  description->update({{"inputs", shape_.inputs()},
                       {"hidden", ToJson(shape_.hidden())},
                       {"activation", NameOf(shape_.activation())},
                       {"settings", findings_.settings},
                       {"diagnostics", findings_.diagnostics},
                       {"warnings", ToJson(findings_.warnings)}});
  std::visit(WritePosterior{*description, arrays}, posterior_);
}

std::string NetworkExpert::Describe() const {
  std::ostringstream text;
  text << shape_.inputs() << (shape_.inputs() == 1 ? " input" : " inputs");
  for (const Index width : shape_.hidden()) text << " -> " << width << " hidden";
  text << " -> 1 output, " << NameOf(shape_.activation()) << "; "
       << std::visit(DescribePosterior(), posterior_);
  return text.str();
}

Json NetworkExpert::Findings() const {
  return {{"settings", findings_.settings},
          {"diagnostics", findings_.diagnostics},
          {"warnings", findings_.warnings}};
}

void RegisterNetworkExpert() {
  static std::once_flag once;
  std::call_once(once, [] { RegisterExpert(NetworkExpert::kKind, ReadNetworkExpert); });
}

}  // namespace fathom::bnn
