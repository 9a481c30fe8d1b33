// One row up and down through layers whose functions may have cavities of this row's own, with the
// gradient of its log Z kept apart: what EP and SEP match moments by.
#ifndef FATHOM_INFERENCE_ROW_STEP_H_
#define FATHOM_INFERENCE_ROW_STEP_H_

#include <functional>
#include <memory>
#include <vector>

#include "fathom/inference/targets.h"

namespace fathom {

inline Moments RowOf(const Moments& moments, Index i) {
  return {moments.mean.row(i), moments.var.row(i)};
}

class RowStep {
 public:
  struct Slopes {
    Vector theta;
    Matrix Z;
    Conditioned cavity;  // with respect to a and S
  };

  // Layers below `first` are not passed through. The model must outlive the step.
  void Attach(const DeepGp& model, Index first, bool uncertain_inputs);
  void SetCavity(Index layer, Index function, const Conditioned& cavity);
  // log Z of one row y. below [1, .]: the inputs of layer `first`; raw [1, .]: those of layer 0.
  double Run(double alpha, const Moments& below, const Moments& raw, const double* y);

  // What the last Run found: the gradient with respect to `below`, to one function (computed anew
  // at each call), and the sums for noise and likelihood.
  const Moments& d_below() const { return pass_.d_entered().moments; }  // where first > 0
  const Slopes& FunctionSlopes(Index layer, Index function);
  const Sums& sums() const { return sums_; }

 private:
  Index first_ = 0;
  Network network_;
  Pass pass_;
  Targets targets_;
  Sums sums_;
  Slopes slopes_;
};

// Memory of rows that run at the same time.
class RowSteps {
 public:
  // work(step, slot, i) for i = 0 .. count - 1, in order within a slot. Which slot a row belongs to
  // depends on `count` alone.
  static Index NumSlots(Index count);
  void Run(const DeepGp& model, Index first, bool uncertain_inputs, Index count,
           const ThreadPool& pool, const std::function<void(RowStep*, Index, Index)>& work);

 private:
  std::vector<std::unique_ptr<RowStep>> steps_;
};

}  // namespace fathom

#endif  // FATHOM_INFERENCE_ROW_STEP_H_
