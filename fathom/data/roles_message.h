// What a user asks of the columns of a table, as bytes for other ranks.
#ifndef FATHOM_DATA_ROLES_MESSAGE_H_
#define FATHOM_DATA_ROLES_MESSAGE_H_

#include <string>

#include "fathom/data/dataset.h"
#include "fathom/data/schema.h"

namespace fathom::internal {

// The standard deviations are those of whole columns.
std::string RolesMessage(const Roles& roles, const InputStd& std);
void ReadRolesMessage(const std::string& message, Roles* roles, InputStd* std);

}  // namespace fathom::internal

#endif  // FATHOM_DATA_ROLES_MESSAGE_H_
