// An error in a table that another role of a column would cure.
#ifndef FATHOM_DATA_ROLE_ERROR_H_
#define FATHOM_DATA_ROLE_ERROR_H_

#include <string>
#include <utility>

#include "fathom/base/error.h"

namespace fathom {

// Ends in what to change, such as "(ignore: day)" or "(task)". A program that has an option for the
// role can say that instead.
class RoleError : public Error {
 public:
  RoleError(std::string text, std::string role, std::string value)
      : Error(text + " (" + role + (value.empty() ? "" : ": " + value) + ")"),
        text_(std::move(text)),
        role_(std::move(role)),
        value_(std::move(value)) {}
  const std::string& text() const { return text_; }    // all that stands before the parenthesis
  const std::string& role() const { return role_; }    // a member of Roles
  const std::string& value() const { return value_; }  // what to set it to; empty: the user knows

 private:
  std::string text_, role_, value_;
};

}  // namespace fathom

#endif  // FATHOM_DATA_ROLE_ERROR_H_
