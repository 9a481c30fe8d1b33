// A deep GP as a member of a model.
#ifndef FATHOM_FITTED_DEEP_GP_EXPERT_H_
#define FATHOM_FITTED_DEEP_GP_EXPERT_H_

#include <memory>
#include <string>

#include "fathom/fitted/expert.h"
#include "fathom/fitted/model.h"
#include "fathom/model/deep_gp.h"

namespace fathom {

class DeepGpExpert : public Expert {
 public:
  static constexpr const char* kKind = "deep_gp";

  explicit DeepGpExpert(DeepGp network) : network_(std::move(network)) {}

  const DeepGp& network() const { return network_; }

  std::string Kind() const override { return kKind; }
  Index num_inputs() const override { return network_.input_dim(); }
  Index num_outputs() const override { return network_.outputs(); }
  const Likelihood& likelihood() const override { return *network_.likelihood; }
  Vector NoiseVariance() const override;
  std::unique_ptr<ExpertPredictor> Prepare(const ThreadPool& pool,
                                           Precision precision) const override;
  void Check() const override { CheckModel(network_); }
  // The arrays are the parameters, by the names that Parameters() gives them, and the linear means.
  void Write(nlohmann::json* description, const ArrayWriter& arrays) const override;
  std::string Describe() const override;
  std::string Heading() const override { return "network"; }

 private:
  DeepGp network_;
};

// The deep GP behind a member, or null if its expert is of another kind.
const DeepGp* FindNetwork(const Member& member);
// The same. Throws Error if its expert is of another kind.
const DeepGp& NetworkOf(const Member& member);

std::shared_ptr<const Expert> ReadDeepGpExpert(const nlohmann::json& description,
                                               const ArrayReader& arrays);

}  // namespace fathom

#endif  // FATHOM_FITTED_DEEP_GP_EXPERT_H_
