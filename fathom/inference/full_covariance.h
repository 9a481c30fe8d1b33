// Propagation with all covariances between the outputs of a layer: from the second layer on (from
// the first, where raw inputs are uncertain) a row's hidden units are one joint Gaussian. Where the
// covariances are zero it is the diagonal propagation.
#ifndef FATHOM_INFERENCE_FULL_COVARIANCE_H_
#define FATHOM_INFERENCE_FULL_COVARIANCE_H_

#include <memory>
#include <span>
#include <vector>

#include "fathom/inference/network.h"
#include "fathom/kernel/full_layer.h"

namespace fathom {

// Throws Error unless each layer that sees uncertain inputs has one kernel, with expectations under
// a full covariance.
void CheckFullCovariance(const DeepGp& model, bool uncertain_inputs);

class FullLayers {
 public:
  struct Sums {
    Network::Sums network;  // of the first layer if it is diagonal, of noise and likelihood
    std::vector<std::unique_ptr<FullLayer::Sums>> layers;  // from first() on
    void Add(const Sums& other);
  };

  // From a prepared network, which must outlive this.
  void Prepare(const Network& network, bool uncertain_inputs);

  // Moments after each layer, noise included; the last without it. x [rows, D].
  std::vector<FullMoments> Forward(const Moments& x) const;
  // log Z of rows and, summed, what its gradient is made of.                     [full-covariance]
  // weights [rows of x]: how many rows each counts as; empty: one.
  Sums SumLogZ(double alpha, const Moments& x, const Matrix& y, const Vector& weights,
               std::span<const Index> rows, const ThreadPool& pool) const;
  // For Network::Finish: the gradient of the functions of one layer.
  void Finish(Index layer, const Sums& sums, std::vector<LatentFunctionGradient>* gradients) const;
  Index first() const { return first_; }

 private:
  FullMoments InputOf(Index layer, const FullMoments& below, const Moments& raw) const;
  void ChunkUpAndDown(double alpha, const Moments& x, const Matrix& y, const Vector& weights,
                      std::span<const Index> rows, Sums* sums) const;

  const Network* network_ = nullptr;
  Index first_ = 1;                                 // the first layer with full covariances
  std::vector<std::unique_ptr<FullLayer>> layers_;  // [layer], from first_ on
};

}  // namespace fathom

#endif  // FATHOM_INFERENCE_FULL_COVARIANCE_H_
