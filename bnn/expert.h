// A fitted network as a member of a model: its posterior, as draws or as moments, and what the fit
// found out about itself.
#ifndef FATHOM_BNN_EXPERT_H_
#define FATHOM_BNN_EXPERT_H_

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>

#include "bnn/chains.h"
#include "bnn/pbp_network.h"
#include "fathom/fitted/expert.h"

namespace fathom::bnn {

// N(mu, sd^2) per weight, from which `draws` draws predict: the same ones for all rows.
struct GaussianPosterior {
  Vector mu, sd;
  double noise = 0;
  Index draws = 200;
  std::uint64_t seed = 0;
};

// Passes that drop units at that rate.
struct DropoutPosterior {
  Vector weights;
  double rate = 0, noise = 0;
  Index draws = 2000;
  std::uint64_t seed = 0;
};

// Means and variances of the weights, through which moments are propagated.
struct PbpPosterior {
  GaussianWeights weights;
  double noise = 0;
};

using NetworkPosterior =
    std::variant<PooledDraws, GaussianPosterior, DropoutPosterior, PbpPosterior>;

// What a fit has to say beside its predictions.
struct FitFindings {
  nlohmann::json settings = nlohmann::json::object();     // what was asked for, and what was chosen
  nlohmann::json diagnostics = nlohmann::json::object();  // numbers by name
  std::vector<std::string> warnings = {};  // why the run should not be trusted; empty: no reason
};

class NetworkExpert : public Expert {
 public:
  static constexpr const char* kKind = "bnn";

  NetworkExpert(MlpShape shape, NetworkPosterior posterior, FitFindings findings);

  const MlpShape& shape() const { return shape_; }
  const NetworkPosterior& posterior() const { return posterior_; }
  const FitFindings& findings() const { return findings_; }

  std::string Kind() const override { return kKind; }
  Index num_inputs() const override { return shape_.inputs(); }
  Index num_outputs() const override { return 1; }
  const Likelihood& likelihood() const override { return *likelihood_; }
  Vector NoiseVariance() const override;  // the mean over draws
  std::unique_ptr<ExpertPredictor> Prepare(const ThreadPool& pool,
                                           Precision precision) const override;
  void Check() const override;
  void Write(nlohmann::json* description, const ArrayWriter& arrays) const override;
  std::string Describe() const override;
  std::string Heading() const override { return "network"; }
  nlohmann::json Findings() const override;

 private:
  MlpShape shape_;
  NetworkPosterior posterior_;
  FitFindings findings_;
  std::shared_ptr<const Likelihood> likelihood_;
};

// Lets model files hold such experts. May be called any number of times.
void RegisterNetworkExpert();

}  // namespace fathom::bnn

#endif  // FATHOM_BNN_EXPERT_H_
