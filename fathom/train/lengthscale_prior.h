// A prior on the lengthscales of a network, which keeps a small table of many columns from being
// explained by a few of them:
//   log l ~ N(log sqrt(D), sd^2),  D the inputs of the layer                    [lengthscale-prior]
// so that, with sd = 1, a lengthscale three times the one that training starts from costs 0.6 nats.
#ifndef FATHOM_TRAIN_LENGTHSCALE_PRIOR_H_
#define FATHOM_TRAIN_LENGTHSCALE_PRIOR_H_

#include <span>
#include <string>
#include <vector>

#include "fathom/model/packing.h"
#include "fathom/optimize/objective.h"

namespace fathom {

class WithLengthscalePrior : public Objective {
 public:
  // Keeps a reference to `energy`, which is minus an energy per row of a network like `shape`,
  // whose rows count as N. sd = 0: no prior. Kernels without lengthscales are left alone.
  WithLengthscalePrior(const Objective& energy, const DeepGp& shape, const Packing& packing,
                       double sd, double N);

  Index num_parameters() const override { return energy_.num_parameters(); }
  Index num_rows() const override { return energy_.num_rows(); }
  bool Evaluate(const Vector& parameters, const Batch& batch, double* value, Vector* gradient,
                std::string* reason) const override;
  void WillNeed(std::span<const Index> rows) const override { energy_.WillNeed(rows); }

 private:
  const Objective& energy_;
  Vector centre_;              // [parameters]
  std::vector<Index> places_;  // of the logarithms of lengthscales
  double weight_;              // of half the squared distance
};

}  // namespace fathom

#endif  // FATHOM_TRAIN_LENGTHSCALE_PRIOR_H_
