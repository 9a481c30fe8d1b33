#include "fathom/fitted/logistic_expert.h"

#include <nlohmann/json.hpp>

#include "fathom/base/error.h"
#include "fathom/fitted/description.h"

namespace fathom {

namespace {

using Json = nlohmann::json;

// A standard normal is about a logistic variable of this scale.
constexpr double kProbitScale = 1.7;

// Scores of classes [rows, classes] as the functions of a likelihood with so many outputs.
Matrix AsFunctions(const Matrix& scores, Index outputs) {
  if (outputs == scores.cols()) return scores / kProbitScale;
  FATHOM_CHECK(outputs == 1 && scores.cols() == 2);
  return (scores.col(1) - scores.col(0)) / kProbitScale;
}

class LogisticPredictor : public ExpertPredictor {
 public:
  explicit LogisticPredictor(const LogisticExpert& expert) : expert_(expert) {}

  Prediction Predict(const Moments& x, const PredictOptions& options) const override {
    if (options.latent) {
      return Prediction::Gaussian(Moments::Certain(
          AsFunctions(LogisticScores(expert_.logistic(), x), expert_.num_outputs())));
    }
    // The moments of the indicators, as Likelihood::Observe gives them.
    Matrix p = LogisticProbabilities(expert_.logistic(), x);
    if (expert_.num_outputs() == 1) p = 2 * p.col(1).array() - 1;
    Matrix var = expert_.num_outputs() == 1 ? Matrix(1 - p.array().square())
                                            : Matrix(p.array() * (1 - p.array()));
    return Prediction::Gaussian(Moments(std::move(p), std::move(var)));
  }

  Matrix ClassProbabilities(const Moments& x, const PredictOptions& /*options*/) const override {
    return LogisticProbabilities(expert_.logistic(), x);
  }

 private:
  const LogisticExpert& expert_;
};

}  // namespace

Matrix LogisticExpert::Slopes() const { return AsFunctions(logistic_.weights, num_outputs()); }

std::unique_ptr<ExpertPredictor> LogisticExpert::Prepare(const ThreadPool& /*pool*/,
                                                         Precision /*precision*/) const {
  return std::make_unique<LogisticPredictor>(*this);
}

void LogisticExpert::Check() const {
  if (!logistic_.weights.allFinite() || !logistic_.intercept.allFinite())
    ThrowError("a number of the logistic regression is out of range");
  if (likelihood_->NumClasses(num_outputs()) != logistic_.classes())
    ThrowError("the logistic regression has a likelihood that is not one of its classes");
}

void LogisticExpert::Write(Json* description, const ArrayWriter& arrays) const {
  description->update({{"inputs", logistic_.inputs()},
                       {"classes", logistic_.classes()},
                       {"likelihood", likelihood_->Name()}});
  arrays.Write("weights", logistic_.weights);
  arrays.Write("intercept", logistic_.intercept);
}

std::shared_ptr<const Expert> ReadLogisticExpert(const Json& description,
                                                 const ArrayReader& arrays) {
  Index D = 0, C = 0;
  std::string likelihood;
  ReadField(description, "inputs", &D);
  ReadField(description, "classes", &C);
  ReadField(description, "likelihood", &likelihood);
  if (D < 1 || C < 2) ThrowError("a logistic regression has no inputs or classes");
  Logistic logistic{arrays.TakeMatrix("weights", D, C), arrays.TakeVector("intercept", C)};
  return std::make_shared<LogisticExpert>(std::move(logistic), likelihood);
}

}  // namespace fathom
