// What a training drives: an objective for the optimiser, and what stands around its steps. AEP
// optimises posterior and hyperparameters at once; EP and SEP optimise the hyperparameters on the
// energy with the factors fixed, and update the factors once after each step.
#ifndef FATHOM_TRAIN_ENGINE_H_
#define FATHOM_TRAIN_ENGINE_H_

#include <memory>

#include "fathom/optimize/objective.h"
#include "fathom/train/checkpoint.h"

namespace fathom {

class Engine {
 public:
  struct Closing {
    double energy_per_row = 0;
    double largest_jitter = 0;
  };

  virtual ~Engine() = default;

  virtual const Objective& objective() const = 0;
  virtual Index BatchSize(Index asked) const { return asked; }
  // Before the first step; with the factors of a training that goes on, or none.
  virtual void Start(const Vector& /*parameters*/, const FactorState& /*factors*/) {}
  virtual void AfterStep(const Vector& /*parameters*/) {}
  // After a step that could not be computed, back at earlier parameters.
  virtual void Recover(const Vector& /*parameters*/) {}
  virtual FactorState Factors() const { return {}; }
  // After the last step, if there is time for it.
  virtual void Settle(const Vector& /*parameters*/) {}
  // The network as it is so far.
  virtual void Write(const Vector& parameters, DeepGp* network) const = 0;
  virtual Closing Close(const Vector& parameters) const = 0;
};

// Keeps references to x, y and pool. `start` is the network to begin with, or, when a training goes
// on, one of its shape. Throws Error if EP's factors do not fit into memory.
std::unique_ptr<Engine> NewEngine(const DeepGp& start, const Moments& x, const Matrix& y,
                                  const Vector& weights, const Recipe& recipe,
                                  const ThreadPool& pool);

}  // namespace fathom

#endif  // FATHOM_TRAIN_ENGINE_H_
