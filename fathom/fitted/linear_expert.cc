#include "fathom/fitted/linear_expert.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "fathom/base/error.h"
#include "fathom/fitted/description.h"

namespace fathom {

namespace {

using Json = nlohmann::json;

class LinePredictor : public ExpertPredictor {
 public:
  explicit LinePredictor(const Ridge& ridge) : ridge_(ridge) {}
  Prediction Predict(const Moments& x, const PredictOptions& options) const override {
    return Prediction::Gaussian(PredictRidge(ridge_, x, options.latent));
  }
  std::vector<Matrix> Covariances(const Moments& x,
                                  const PredictOptions& /*options*/) const override {
    std::vector<Matrix> covariances;
    for (Index t = 0; t < ridge_.targets(); ++t)
      covariances.push_back(RidgeCovariance(ridge_, x, t));
    return covariances;
  }

 private:
  const Ridge& ridge_;
};

}  // namespace

std::unique_ptr<ExpertPredictor> LinearExpert::Prepare(const ThreadPool& /*pool*/,
                                                       Precision /*precision*/) const {
  return std::make_unique<LinePredictor>(ridge_);
}

void LinearExpert::Check() const {
  const bool finite = ridge_.weights.allFinite() && ridge_.intercept.allFinite() &&
                      ridge_.centre.allFinite() && ridge_.directions.allFinite() &&
                      ridge_.eigenvalues.allFinite() && ridge_.penalty.allFinite() &&
                      ridge_.noise.allFinite();
  if (!finite || !(ridge_.eigenvalues.array() >= 0).all() || !(ridge_.penalty.array() > 0).all() ||
      !(ridge_.noise.array() > 0).all() || !(ridge_.rows > 0) || !std::isfinite(ridge_.rows))
    ThrowError("a number of the straight line is out of range");
}

void LinearExpert::Write(Json* description, const ArrayWriter& arrays) const {
  description->update({{"inputs", ridge_.inputs()},
                       {"outputs", ridge_.targets()},
                       {"directions", ridge_.directions.cols()},
                       {"rows", ToJson(ridge_.rows)}});
  arrays.Write("weights", ridge_.weights);
  arrays.Write("intercept", ridge_.intercept);
  arrays.Write("centre", ridge_.centre);
  if (ridge_.directions.cols() > 0) {
    arrays.Write("directions", ridge_.directions);
    arrays.Write("eigenvalues", ridge_.eigenvalues);
  }
  arrays.Write("penalty", ridge_.penalty);
  arrays.Write("noise", ridge_.noise);
}

std::shared_ptr<const Expert> ReadLinearExpert(const Json& description, const ArrayReader& arrays) {
  Index D = 0, T = 0, R = 0;
  Ridge ridge;
  ReadField(description, "inputs", &D);
  ReadField(description, "outputs", &T);
  ReadField(description, "directions", &R);
  ReadField(description, "rows", &ridge.rows);
  if (D < 1 || T < 1 || R < 0) ThrowError("a straight line has no inputs or outputs");
  ridge.weights = arrays.TakeMatrix("weights", D, T);
  ridge.intercept = arrays.TakeVector("intercept", T);
  ridge.centre = arrays.TakeVector("centre", D);
  ridge.directions = R > 0 ? arrays.TakeMatrix("directions", D, R) : Matrix(D, 0);
  ridge.eigenvalues = R > 0 ? arrays.TakeVector("eigenvalues", R) : Vector(0);
  ridge.penalty = arrays.TakeVector("penalty", T);
  ridge.noise = arrays.TakeVector("noise", T);
  return std::make_shared<LinearExpert>(std::move(ridge));
}

}  // namespace fathom
