// What EP and SEP have in common: they keep factors of their own, improve them by matching moments,
// and are, between two such updates, an energy of the hyperparameters alone, to be made large with
// the factors fixed. At a fixed point of the updates the energy is stationary in the factors, so
// that its gradient with the factors fixed is the whole gradient.
#ifndef FATHOM_INFERENCE_FACTOR_INFERENCE_H_
#define FATHOM_INFERENCE_FACTOR_INFERENCE_H_

#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fathom/inference/certain_layer.h"
#include "fathom/inference/row_step.h"
#include "fathom/model/packing.h"
#include "fathom/optimize/objective.h"

namespace fathom {

struct FactorOptions {
  double alpha = 1;        // power of EP: 0 is the variational limit
  double noise_floor = 0;  // see Packing
  // How far an update goes from the old factors to the new ones, at most; shortened where the
  // posterior or a cavity would not be a distribution any more. 0: 1 for one layer, 0.5 for more.
  double step = 0;
  Vector weights = {};  // [rows], positive: how many rows each counts as; empty: one
};

template <typename T>
using PerFunction = std::vector<std::vector<T>>;  // [layer][function]

class FactorInference : public Objective {
 public:
  Index num_parameters() const override { return num_parameters_; }
  Index num_rows() const override { return x_.rows(); }
  // Hyperparameters alone.
  Packing packing() const { return {options_.noise_floor, false}; }

  // One parallel update: deletion, moment matching and damped inclusion of each of the rows, all
  // from the same posterior. Returns the largest change of a whitened posterior mean, whose prior
  // has variance 1. Throws NumericalError.
  virtual double Update(const Vector& parameters, std::span<const Index> rows) = 0;
  // The model with the posterior that the factors make, in the whitened form.
  virtual DeepGp Posterior(const Vector& parameters) const = 0;
  // F of all rows, and its gradient with respect to the plain hyperparameters with the factors
  // fixed (may be null; what it says of posteriors is not used).
  virtual double Energy(const Vector& parameters, DeepGp* gradient) const = 0;

  double N() const { return N_; }  // rows of the table, by their weights
  // The largest jitter that a kernel matrix needs.
  double LargestJitter(const Vector& parameters) const;

  // All that is kept beside the parameters, by name: with both, an inference goes on to the same
  // bits.
  using State = std::map<std::string, Matrix>;
  virtual State SaveState() const = 0;
  // Throws Error unless it is the state of such a model and table.
  virtual void RestoreState(const State& state) = 0;

 protected:
  struct Gram {
    Matrix K, L_inverse;
    double jitter = 0;
  };
  // A model at given hyperparameters, its kernel matrices factorised.
  struct Point {
    DeepGp model;
    PerFunction<Gram> grams;
  };

  // Keeps references to x, y and pool. `start` gives the architecture and, in the whitened form,
  // the posterior from which the factors start.
  FactorInference(DeepGp start, const Moments& x, const Matrix& y, FactorOptions options,
                  const ThreadPool& pool);

  Point At(const Vector& parameters) const;
  // The Objective of an energy F: value -F/N and its gradient; false with a reason where the energy
  // throws NumericalError or is not finite. energy(DeepGp* gradient or null) -> {F, model}.
  bool EvaluateSafely(const std::function<std::pair<double, DeepGp>(DeepGp*)>& energy,
                      double* value, Vector* gradient, std::string* reason) const;
  // Calls job(layer, function) for all functions from layer `first` up, on all threads.
  void ForFunctions(Index first, const std::function<void(Index, Index)>& job) const;

  // The first layer under certain inputs.
  struct CertainLayer {
    Matrix x;                          // [rows, D]
    std::vector<CertainRows> rows;     // [function]
    std::vector<LineMoments> moments;  // [function]
    Moments out;                       // of the layer, with its noise
    Moments d_out;                     // the gradient that comes back
  };
  void ProjectFirstLayer(const Point& point, std::span<const Index> rows, CertainLayer* out) const;
  // Computes first->out from first->moments.
  void ObserveFirstLayer(const DeepGp& model, CertainLayer* first) const;
  Moments RawRow(Index n) const;
  // Each function has a name in a state. StateArray throws Error unless the array has that shape.
  static std::string StateName(Index layer, Index function);
  static const Matrix& StateArray(const State& state, const std::string& name, Index rows,
                                  Index cols);

  DeepGp shape_;
  const Moments& x_;
  const Matrix& y_;
  FactorOptions options_;
  const ThreadPool& pool_;
  Vector weights_;  // [rows]
  double N_;
  bool uncertain_inputs_;
  // The first layer whose rows have factors of full rank: 1 for certain inputs, else 0.
  Index first_dense_;
  Index num_parameters_;
};

}  // namespace fathom

#endif  // FATHOM_INFERENCE_FACTOR_INFERENCE_H_
