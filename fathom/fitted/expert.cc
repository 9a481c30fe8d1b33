#include "fathom/fitted/expert.h"

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/fitted/deep_gp_expert.h"
#include "fathom/fitted/description.h"
#include "fathom/fitted/linear_expert.h"
#include "fathom/fitted/logistic_expert.h"
#include "fathom/fitted/neighbour_expert.h"
#include "fathom/fitted/trees_expert.h"

namespace fathom {

namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, ExpertReader> readers = {{DeepGpExpert::kKind, ReadDeepGpExpert},
                                                 {LinearExpert::kKind, ReadLinearExpert},
                                                 {LogisticExpert::kKind, ReadLogisticExpert},
                                                 {NeighbourExpert::kKind, ReadNeighbourExpert},
                                                 {TreesExpert::kKind, ReadTreesExpert}};
};

Registry& TheRegistry() {
  static Registry registry;
  return registry;
}

ExpertReader ReaderOf(const std::string& kind) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  const auto found = registry.readers.find(kind);
  if (found == registry.readers.end())
    ThrowError("it has a member of the kind ", Quoted(kind), ", which this fathom does not know");
  return found->second;
}

}  // namespace

Matrix ExpertPredictor::ClassProbabilities(const Moments& /*x*/,
                                           const PredictOptions& /*options*/) const {
  ThrowError("the model predicts numbers, which have no classes");
}

std::vector<Matrix> ExpertPredictor::Covariances(const Moments& /*x*/,
                                                 const PredictOptions& /*options*/) const {
  ThrowError(
      "a member of the model does not know how its predictions of several rows hang together;",
      " predict each row alone");
}

nlohmann::json Expert::Findings() const { return nullptr; }

void RegisterExpert(const std::string& kind, ExpertReader reader) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  if (!registry.readers.emplace(kind, std::move(reader)).second)
    ThrowError("experts of the kind ", Quoted(kind), " are registered already");
}

std::shared_ptr<const Expert> ReadExpert(const nlohmann::json& description,
                                         const ArrayReader& arrays) {
  std::string kind;
  ReadField(description, "kind", &kind);
  return ReaderOf(kind)(description, arrays);
}

}  // namespace fathom
