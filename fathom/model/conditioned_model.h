// All functions of a deep GP conditioned on their cavities (or posteriors), with the tape of how:
// what a step does once, whatever the rows are. Rows see only at(layer, function).
#ifndef FATHOM_MODEL_CONDITIONED_MODEL_H_
#define FATHOM_MODEL_CONDITIONED_MODEL_H_

#include <limits>
#include <utility>
#include <vector>

#include "fathom/base/threads.h"
#include "fathom/model/deep_gp.h"

namespace fathom {

// The functions [begin, end) of one of several who share the work; by default all.
struct FunctionShare {
  Index begin = 0;
  Index end = std::numeric_limits<Index>::max();
  bool Holds(Index function) const { return begin <= function && function < end; }
};

class ConditionedModel {
 public:
  // O(M^3) per function, on all threads. Throws NumericalError. Functions outside the share are
  // left for others: whoever calls sets their Conditioned, energy and jitter before the rows see
  // them.
  void Prepare(const DeepGp& model, const Cavity& cavity, const ThreadPool& pool,
               FunctionShare mine = {});

  const Conditioned& at(Index layer, Index function) const { return gps_[layer][function].cavity; }
  // The GPs' own share of the energy, summed over functions and layers.
  double FactorEnergy() const;
  // The largest jitter that a kernel matrix needed.
  double LargestJitter() const;

  // Where the rows' gradient with respect to a and S of at(layer, function) is collected.
  Conditioned& gradient(Index layer, Index function) { return gps_[layer][function].d_cavity; }
  // Once per Prepare. *gradient holds what the rows gave of theta and Z, gradient(.) the rest; both
  // are multiplied by `scale`. Leaves in *gradient the gradient of FactorEnergy() + scale * (what
  // the rows stand for) with respect to the GPs of the share. O(M^3) per function.
  void Backward(const DeepGp& model, double scale, const ThreadPool& pool, DeepGp* gradient);

  FunctionShare share() const { return share_; }
  // All functions by one number, from the first layer on.
  Index num_functions() const { return static_cast<Index>(flat_.size()); }
  std::pair<Index, Index> LayerAndFunction(Index number) const { return flat_[number]; }
  PreparedGp& function(Index number) { return gps_[flat_[number].first][flat_[number].second]; }

 private:
  Cavity cavity_;
  FunctionShare share_;
  std::vector<std::vector<PreparedGp>> gps_;
  std::vector<std::pair<Index, Index>> flat_;  // all (layer, function), for the threads
};

}  // namespace fathom

#endif  // FATHOM_MODEL_CONDITIONED_MODEL_H_
