#include "fathom/fitted/deep_gp_expert.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/fitted/describe.h"
#include "fathom/fitted/description.h"
#include "fathom/inference/predict.h"

namespace fathom {

namespace {

using Json = nlohmann::json;

// A shared layer repeats its pseudo-inputs in memory but not in the file, so that the size of the
// file does not bound them; 2 GB does.
constexpr double kMostSharedNumbers = 1 << 28;

class NetworkExpertPredictor : public ExpertPredictor {
 public:
  NetworkExpertPredictor(const DeepGp& network, const ThreadPool& pool, Precision precision)
      : predictor_(network, pool, precision) {}
  Prediction Predict(const Moments& x, const PredictOptions& options) const override {
    return predictor_.Predict(x, options);
  }
  Matrix ClassProbabilities(const Moments& x, const PredictOptions& options) const override {
    return predictor_.ClassProbabilities(x, options);
  }
  std::vector<Matrix> Covariances(const Moments& x, const PredictOptions& options) const override {
    return predictor_.Covariances(x, options);
  }

 private:
  NetworkPredictor predictor_;
};

std::string LayerName(std::size_t layer) { return "layers." + std::to_string(layer); }
std::string MeanWeightsName(std::size_t layer) { return LayerName(layer) + ".mean_weights"; }
std::string NoiseName(std::size_t layer) { return LayerName(layer) + ".noise_variance"; }

const char* FormName(const Posterior& posterior) {
  return std::holds_alternative<Sites>(posterior) ? "sites" : "whitened";
}

Json DescribeLayer(const GpLayer& layer) {
  Json functions = Json::array();
  for (const SparseGp& gp : layer.gps) {
    functions.push_back({{"kernel", gp.kernel->Name()},
                         {"posterior", FormName(gp.posterior)},
                         {"inducing", gp.num_inducing()}});
  }
  return {{"inputs", layer.inputs()},
          {"outputs", layer.outputs()},
          {"skip", layer.skip},
          {"shared", layer.shared},
          {"linear_mean", layer.mean_weights.size() > 0},
          {"functions", std::move(functions)}};
}

Posterior ReadPosterior(const std::string& form, Index M, const ArrayReader& arrays) {
  if (form == "sites")
    return Sites{arrays.TakeVector("sites.h", M), arrays.TakeMatrix("sites.R", M, M)};
  if (form == "whitened")
    return Whitened{arrays.TakeVector("whitened.mu", M), arrays.TakeMatrix("whitened.Delta", M, M)};
  ThrowError("posterior form ", Quoted(form), " is not known");
}

void ReadFunction(const Json& json, std::size_t layer_number, Index inputs,
                  const ArrayReader& arrays, GpLayer* layer) {
  const std::size_t number = layer->gps.size();
  const std::string name = LayerName(layer_number) + ".gps." + std::to_string(number);
  const ArrayReader own = arrays.Under(name + ".");
  std::string kernel;
  std::string form;
  Index M = 0;
  ReadField(json, "kernel", &kernel);
  ReadField(json, "posterior", &form);
  ReadField(json, "inducing", &M);
  if (M < 1 || inputs < 1) ThrowError("function ", name, " has no pseudo-inputs");
  SparseGp gp;
  gp.kernel = MakeKernel(kernel);
  if (layer->shared && number > 0) {
    const SparseGp& first = layer->gps.front();
    const double numbers = static_cast<double>(number + 1) * static_cast<double>(first.Z.size());
    if (numbers > kMostSharedNumbers)
      ThrowError("layer ", layer_number, " shares more pseudo-inputs than fathom holds");
    if (M != first.num_inducing() || kernel != first.kernel->Name())
      ThrowError("the functions of layer ", layer_number, " are said to be shared but differ");
    gp.theta = first.theta;
    gp.Z = first.Z;
  } else {
    gp.Z = own.TakeMatrix("Z", M, inputs);
    gp.theta = own.TakeVector("theta", gp.kernel->NumParameters(inputs));
  }
  gp.posterior = ReadPosterior(form, M, own);
  layer->gps.push_back(std::move(gp));
}

GpLayer ReadLayer(const Json& json, std::size_t number, const ArrayReader& arrays) {
  GpLayer layer;
  Index inputs = 0;
  Index outputs = 0;
  bool linear_mean = false;
  ReadField(json, "inputs", &inputs);
  ReadField(json, "outputs", &outputs);
  ReadField(json, "skip", &layer.skip);
  ReadField(json, "shared", &layer.shared);
  ReadField(json, "linear_mean", &linear_mean);
  const Json& functions = FieldOf(json, "functions", Json::value_t::array);
  if (std::cmp_not_equal(functions.size(), outputs) || outputs < 1)
    ThrowError("layer ", number, " has ", functions.size(), " functions and ", outputs, " outputs");
  for (const Json& function : functions) ReadFunction(function, number, inputs, arrays, &layer);
  if (linear_mean) layer.mean_weights = arrays.TakeMatrix(MeanWeightsName(number), inputs, outputs);
  return layer;
}

void ReadNoise(const Json& description, const ArrayReader& arrays, DeepGp* network) {
  if (network->layers.empty()) ThrowError("the model has no layers");
  for (std::size_t l = 0; l + 1 < network->layers.size(); ++l) {
    GpLayer& layer = network->layers[l];
    layer.noise_variance = arrays.TakeVector(NoiseName(l), layer.outputs());
  }
  std::string likelihood;
  ReadField(description, "likelihood", &likelihood);
  network->likelihood = MakeLikelihood(likelihood);
  const Index parameters = network->likelihood->NumParameters(network->outputs());
  if (parameters > 0)
    network->likelihood_parameters = arrays.TakeVector("likelihood.parameters", parameters);
}

// Files of format 1 may lack these fields: their models propagate moments.
void ReadPaths(const Json& json, const ArrayReader& arrays, DeepGp* network) {
  if (!json.contains("propagation")) return;
  Index paths = 0;
  ReadField(json, "propagation", &network->propagation);
  ReadField(json, "paths", &paths);
  if (network->propagation == Propagation::kPoints) {
    network->points = arrays.TakeMatrix("paths.points", paths, network->num_hidden_units());
    network->point_weights = arrays.TakeVector("paths.weights", paths);
  } else {
    network->samples = paths;
  }
}

}  // namespace

Vector DeepGpExpert::NoiseVariance() const {
  return network_.likelihood->AddsGaussianNoise() ? network_.likelihood_parameters : Vector();
}

std::unique_ptr<ExpertPredictor> DeepGpExpert::Prepare(const ThreadPool& pool,
                                                       Precision precision) const {
  return std::make_unique<NetworkExpertPredictor>(network_, pool, precision);
}

void DeepGpExpert::Write(Json* description, const ArrayWriter& arrays) const {
  Json layers = Json::array();
  for (const GpLayer& layer : network_.layers) layers.push_back(DescribeLayer(layer));
  description->update({{"likelihood", network_.likelihood->Name()},
                       {"jitter", ToJson(network_.jitter)},
                       {"full_covariance", network_.full_covariance},
                       {"propagation", ToJson(network_.propagation)},
                       {"paths", network_.num_paths()},
                       {"layers", std::move(layers)}});
  DeepGp network = network_;  // Parameters() hands out writable arrays
  for (const ParameterArray& array : Parameters(&network))
    arrays.Write(array.name, array.shape, array.data);
  for (std::size_t l = 0; l < network.layers.size(); ++l) {
    const Matrix& weights = network.layers[l].mean_weights;
    if (weights.size() > 0) arrays.Write(MeanWeightsName(l), weights);
  }
}

std::string DeepGpExpert::Describe() const { return DescribeNetwork(network_); }

const DeepGp* FindNetwork(const Member& member) {
  const auto* expert = dynamic_cast<const DeepGpExpert*>(member.expert.get());
  return expert == nullptr ? nullptr : &expert->network();
}

const DeepGp& NetworkOf(const Member& member) {
  const DeepGp* network = FindNetwork(member);
  if (network == nullptr)
    ThrowError("a member of the model is no deep GP but ", Quoted(member.expert->Kind()));
  return *network;
}

std::shared_ptr<const Expert> ReadDeepGpExpert(const Json& description, const ArrayReader& arrays) {
  DeepGp network;
  ReadField(description, "jitter", &network.jitter);
  ReadOptionalField(description, "full_covariance", &network.full_covariance);
  for (const Json& layer : FieldOf(description, "layers", Json::value_t::array))
    network.layers.push_back(ReadLayer(layer, network.layers.size(), arrays));
  ReadNoise(description, arrays, &network);
  ReadPaths(description, arrays, &network);
  return std::make_shared<DeepGpExpert>(std::move(network));
}

}  // namespace fathom
