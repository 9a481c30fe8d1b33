// What a training drives: an objective for the optimiser, and what stands around its steps. AEP
// optimises posterior and hyperparameters at once; EP and SEP optimise the hyperparameters on the
// energy with the factors fixed, and update the factors once after each step.
#ifndef FATHOM_TRAIN_ENGINE_H_
#define FATHOM_TRAIN_ENGINE_H_

#include <cmath>
#include <memory>

#include "fathom/base/threads.h"
#include "fathom/distributed/communicator.h"
#include "fathom/optimize/objective.h"
#include "fathom/train/checkpoint.h"
#include "fathom/train/training_rows.h"

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
  // The energy is that of at most so many rows, chosen at random, unless a step takes all of them.
  virtual Closing Close(const Vector& parameters, Index most_rows) const = 0;
};

// Whether ranks can share the work. Throws Error, with what to do, if there are several and the
// recipe's inference is for one.
void CheckRanks(const Recipe& recipe, const Communicator& ranks);

// Keeps references to rows, ranks and pool. `start` is the network to begin with, or, when a
// training goes on, one of its shape. Throws Error if EP's factors do not fit into memory. If there
// are other ranks, they call HelpEngine with the same network and recipe at the same time; `memory`
// is how many bytes each may use for its share of the rows.
struct EngineData {
  const TrainingRows& rows;
  double memory = HUGE_VAL;
};
std::unique_ptr<Engine> NewEngine(const DeepGp& start, const EngineData& data, const Recipe& recipe,
                                  const Communicator& ranks, const ThreadPool& pool);
// Does the part of this rank in the trainings of rank 0's engine, until that is destroyed. `held`
// are the rows that are here already, or null: then rank 0 sends them.
void HelpEngine(const DeepGp& start, const TrainingRows* held, const Recipe& recipe,
                const Communicator& ranks, const ThreadPool& pool);

}  // namespace fathom

#endif  // FATHOM_TRAIN_ENGINE_H_
