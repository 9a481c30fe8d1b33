#include "fathom/data/roles_message.h"

#include <nlohmann/json.hpp>

#include "fathom/io/json_text.h"

namespace fathom::internal {

std::string RolesMessage(const Roles& roles, const InputStd& std) {
  return JsonBytes({roles.targets, roles.ignore, roles.categorical, roles.weights,
                    static_cast<int>(roles.task), roles.ignore_dates, roles.weights_are_counts,
                    std.columns});
}

void ReadRolesMessage(const std::string& message, Roles* roles, InputStd* std) {
  const nlohmann::json json = JsonFromBytes(message);
  json.at(0).get_to(roles->targets);
  json.at(1).get_to(roles->ignore);
  json.at(2).get_to(roles->categorical);
  json.at(3).get_to(roles->weights);
  roles->task = static_cast<Task>(json.at(4).get<int>());
  json.at(5).get_to(roles->ignore_dates);
  json.at(6).get_to(roles->weights_are_counts);
  json.at(7).get_to(std->columns);
}

}  // namespace fathom::internal
