// The tables of members in a C header, as c_source_predict.cc reads them.
#ifndef FATHOM_FITTED_C_MEMBERS_H_
#define FATHOM_FITTED_C_MEMBERS_H_

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "fathom/fitted/c_experts.h"
#include "fathom/fitted/model.h"

namespace fathom {

using MembersOfExpert = std::span<const Member>;

// What the code of a header must have room and functions for.
struct CNeeds {
  std::set<std::string> kinds, families;  // of experts and of kernels
  Index functions = 1, inputs = 1, outputs = 1, points = 1, neighbours = 1;  // at most
  Index columns = 1, shares = 1, parts = 1;

  // Throw Error with the reason where C code cannot predict as the engine does.
  void Add(const Expert& expert);
  void Add(const Scaler& scaler);
  // The parts of all these members are held at once.
  void Add(const std::vector<MembersOfExpert>& members);
};

class CMemberWriter {
 public:
  CMemberWriter(CText* text, Index targets) : text_(*text), experts_(text), targets_(targets) {}

  // Writes all members, whose tables are named `prefix` and their number, into the table `name`.
  void Write(const std::vector<MembersOfExpert>& members, const std::string& name,
             const std::string& prefix);
  // Writes `name`, a member that stands for the calibration.
  void WriteCalibrated(const Member& whole, const std::string& name);

 private:
  Index TrendsOf(const Member& member) const { return member.trend.empty() ? 0 : targets_; }
  std::string WriteWarps(const ColumnWarps& warps, const std::string& own);
  // Writes the tables of a member; what stands in its @member but the trend.
  std::string WriteMember(const Member& member, const std::string& own, const std::string& shares);

  CText& text_;
  CExpertWriter experts_;
  Index targets_;
};

}  // namespace fathom

#endif  // FATHOM_FITTED_C_MEMBERS_H_
