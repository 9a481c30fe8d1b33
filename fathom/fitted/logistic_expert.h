// Logistic regression as a member of a model of classes.
#ifndef FATHOM_FITTED_LOGISTIC_EXPERT_H_
#define FATHOM_FITTED_LOGISTIC_EXPERT_H_

#include <memory>
#include <string>
#include <utility>

#include "fathom/fitted/expert.h"
#include "fathom/linear/logistic.h"

namespace fathom {

class LogisticExpert : public Expert {
 public:
  static constexpr const char* kKind = "logistic";

  // The likelihood is that of the networks beside it, whose functions it can stand for: the scores
  // of the classes or, of two classes with one function, their difference.
  LogisticExpert(Logistic logistic, const std::string& likelihood)
      : logistic_(std::move(logistic)), likelihood_(MakeLikelihood(likelihood)) {}

  const Logistic& logistic() const { return logistic_; }
  // [inputs, outputs], the slopes of its functions.
  Matrix Slopes() const;

  std::string Kind() const override { return kKind; }
  std::string Describe() const override { return "logistic regression"; }
  Index num_inputs() const override { return logistic_.inputs(); }
  Index num_outputs() const override { return likelihood_->NumOutputs(1, logistic_.classes()); }
  const Likelihood& likelihood() const override { return *likelihood_; }
  Vector NoiseVariance() const override { return {}; }
  std::unique_ptr<ExpertPredictor> Prepare(const ThreadPool& pool,
                                           Precision precision) const override;
  void Check() const override;
  void Write(nlohmann::json* description, const ArrayWriter& arrays) const override;

 private:
  Logistic logistic_;
  std::shared_ptr<const Likelihood> likelihood_;
};

std::shared_ptr<const Expert> ReadLogisticExpert(const nlohmann::json& description,
                                                 const ArrayReader& arrays);

}  // namespace fathom

#endif  // FATHOM_FITTED_LOGISTIC_EXPERT_H_
