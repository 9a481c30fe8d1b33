// The predictive distribution of some rows, each alone or all together, as arrays.
#ifndef FATHOM_PYTHON_SRC_DISTRIBUTION_H_
#define FATHOM_PYTHON_SRC_DISTRIBUTION_H_

#include <memory>
#include <utility>

#include "fathom/base/threads.h"
#include "fathom/distribution/joint_prediction.h"
#include "fathom/distribution/prediction.h"

namespace fathom::python {

class Distribution {
 public:
  Distribution(Prediction prediction, std::shared_ptr<const ThreadPool> pool)
      : prediction_(std::move(prediction)), pool_(std::move(pool)) {}

  const Prediction& prediction() const { return prediction_; }
  const ThreadPool& pool() const { return *pool_; }

 private:
  Prediction prediction_;
  std::shared_ptr<const ThreadPool> pool_;
};

class JointDistribution {
 public:
  JointDistribution(JointPrediction prediction, std::shared_ptr<const ThreadPool> pool)
      : prediction_(std::move(prediction)), pool_(std::move(pool)) {}

  const JointPrediction& prediction() const { return prediction_; }
  const ThreadPool& pool() const { return *pool_; }

 private:
  JointPrediction prediction_;
  std::shared_ptr<const ThreadPool> pool_;
};

}  // namespace fathom::python

#endif  // FATHOM_PYTHON_SRC_DISTRIBUTION_H_
