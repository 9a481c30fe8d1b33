#include "fathom/fitted/by_expert.h"

#include "fathom/base/error.h"

namespace fathom {

std::vector<std::span<const Member>> ByExpert(std::span<const Member> members) {
  std::vector<std::span<const Member>> groups;
  for (std::size_t first = 0; first < members.size();) {
    std::size_t end = first + 1;
    while (end < members.size() && members[end].expert == members[first].expert) ++end;
    groups.push_back(members.subspan(first, end - first));
    first = end;
  }
  return groups;
}

double WeightOf(std::span<const Member> members) {
  double sum = 0;
  for (const Member& member : members) sum += member.weight;
  return sum;
}

void NormalizeWeights(std::vector<Member>* members) {
  double sum = 0;
  for (const auto& group : ByExpert(*members)) sum += WeightOf(group);
  FATHOM_CHECK(sum > 0);
  for (Member& member : *members) member.weight /= sum;
}

}  // namespace fathom
