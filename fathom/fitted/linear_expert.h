// A straight line as a member of a model.
#ifndef FATHOM_FITTED_LINEAR_EXPERT_H_
#define FATHOM_FITTED_LINEAR_EXPERT_H_

#include <memory>
#include <string>
#include <utility>

#include "fathom/fitted/expert.h"
#include "fathom/linear/ridge.h"

namespace fathom {

class LinearExpert : public Expert {
 public:
  static constexpr const char* kKind = "linear";

  explicit LinearExpert(Ridge ridge)
      : ridge_(std::move(ridge)), likelihood_(MakeLikelihood("gaussian")) {}

  const Ridge& ridge() const { return ridge_; }

  std::string Kind() const override { return kKind; }
  std::string Describe() const override { return "straight line"; }
  Index num_inputs() const override { return ridge_.inputs(); }
  Index num_outputs() const override { return ridge_.targets(); }
  const Likelihood& likelihood() const override { return *likelihood_; }
  Vector NoiseVariance() const override { return ridge_.noise; }
  std::unique_ptr<ExpertPredictor> Prepare(const ThreadPool& pool,
                                           Precision precision) const override;
  void Check() const override;
  void Write(nlohmann::json* description, const ArrayWriter& arrays) const override;

 private:
  Ridge ridge_;
  std::shared_ptr<const Likelihood> likelihood_;
};

std::shared_ptr<const Expert> ReadLinearExpert(const nlohmann::json& description,
                                               const ArrayReader& arrays);

}  // namespace fathom

#endif  // FATHOM_FITTED_LINEAR_EXPERT_H_
