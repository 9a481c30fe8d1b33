// The different strings of a column, numbered. Used by the readers only.
#ifndef FATHOM_DATA_LEVELS_H_
#define FATHOM_DATA_LEVELS_H_

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fathom/base/types.h"

namespace fathom::internal {

// Numbers strings in the order in which they come.
class LevelCodes {
 public:
  // The string's number; -1 for a new one if there are already more than Table::kMostLevels.
  Index Code(std::string_view text);
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  std::unordered_map<std::string, Index, Hash, std::equal_to<>> codes_;
  std::vector<std::string> texts_;
};

// Gives the strings of some rows, numbered by `own` [columns], the numbers that they have in *all,
// which learns them.
void Renumber(const std::vector<LevelCodes>& own, std::vector<LevelCodes>* all, Matrix* rows);

// One list of levels out of those of several pieces of a file, each with codes of its own.
// (*places)[piece][code] is where a piece's string stands in the list, -1 if it is not there.
// Numbers are ordered by value and come before other strings, which are ordered by their bytes.
std::vector<std::string> MergeLevels(const std::vector<const LevelCodes*>& pieces,
                                     std::vector<std::vector<Index>>* places);

}  // namespace fathom::internal

#endif  // FATHOM_DATA_LEVELS_H_
