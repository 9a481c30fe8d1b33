// Boosted trees as a member of a model.
#ifndef FATHOM_FITTED_TREES_EXPERT_H_
#define FATHOM_FITTED_TREES_EXPERT_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fathom/fitted/expert.h"
#include "fathom/trees/boosted_trees.h"

namespace fathom {

class TreesExpert : public Expert {
 public:
  static constexpr const char* kKind = "trees";

  // [targets] trees and variances of what they leave over.
  TreesExpert(std::vector<BoostedTrees> trees, Vector noise, Index inputs)
      : trees_(std::move(trees)),
        noise_(std::move(noise)),
        inputs_(inputs),
        likelihood_(MakeLikelihood("gaussian")) {}

  const std::vector<BoostedTrees>& trees() const { return trees_; }

  std::string Kind() const override { return kKind; }
  // "150 boosted trees".
  std::string Describe() const override;
  Index num_inputs() const override { return inputs_; }
  Index num_outputs() const override { return noise_.size(); }
  const Likelihood& likelihood() const override { return *likelihood_; }
  Vector NoiseVariance() const override { return noise_; }
  std::unique_ptr<ExpertPredictor> Prepare(const ThreadPool& pool,
                                           Precision precision) const override;
  void Check() const override;
  void Write(nlohmann::json* description, const ArrayWriter& arrays) const override;

 private:
  std::vector<BoostedTrees> trees_;
  Vector noise_;
  Index inputs_;
  std::shared_ptr<const Likelihood> likelihood_;
};

std::shared_ptr<const Expert> ReadTreesExpert(const nlohmann::json& description,
                                              const ArrayReader& arrays);

}  // namespace fathom

#endif  // FATHOM_FITTED_TREES_EXPERT_H_
