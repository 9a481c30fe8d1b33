// Some of many rows, in a bit each.
#ifndef FATHOM_DATA_ROW_CHOICE_H_
#define FATHOM_DATA_ROW_CHOICE_H_

#include <cstdint>
#include <vector>

#include "fathom/base/types.h"

namespace fathom {

class RowChoice {
 public:
  void Add(bool chosen);  // the next row
  Index size() const { return chosen_; }
  // The number of the n-th chosen row among all rows.
  Index Find(Index n) const;

 private:
  static constexpr Index kGroup = 64;  // words between two counts

  std::vector<std::uint64_t> words_;
  std::vector<Index> before_;  // [groups]: rows chosen before the group
  Index rows_ = 0, chosen_ = 0;
};

}  // namespace fathom

#endif  // FATHOM_DATA_ROW_CHOICE_H_
