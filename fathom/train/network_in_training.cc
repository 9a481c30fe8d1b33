#include "fathom/train/network_in_training.h"

#include <memory>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/fitted/deep_gp_expert.h"

namespace fathom {

Member ToMember(NetworkInTraining network) {
  return {.expert = std::make_shared<DeepGpExpert>(std::move(network.network)),
          .input_scaler = std::move(network.input_scaler),
          .target_scaler = std::move(network.target_scaler),
          .recipe = std::move(network.recipe),
          .summary = std::move(network.summary)};
}

NetworkInTraining FromMember(const Member& member) {
  if (member.noise_scale != 1)
    ThrowError("a member with ", member.noise_scale, " times its noise cannot be trained further");
  return {NetworkOf(member), member.input_scaler, member.target_scaler, member.recipe,
          member.summary};
}

}  // namespace fathom
