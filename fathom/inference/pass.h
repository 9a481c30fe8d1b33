// The one way of rows through a network: a tile of them goes up through some of its layers and, if
// gradients are wanted, down again: the paper's probabilistic backpropagation.
//
// Training, predictions, EP and SEP all take this way; they differ in what enters, in what a layer
// hands on to the next, and in what is done at the top. A layer hands on
//   - the moments of its outputs: independent, or jointly where the network keeps covariances;
//   - or units drawn from these moments, along several paths per row (paths.h): fresh random
//     numbers, or the model's own points.
//
// The memory of a Pass is kept from tile to tile, so that a tile of the same shape allocates
// nothing (but for covariances).
#ifndef FATHOM_INFERENCE_PASS_H_
#define FATHOM_INFERENCE_PASS_H_

#include <span>
#include <vector>

#include "fathom/inference/network.h"
#include "fathom/inference/paths.h"

namespace fathom {

// The layers first, ..., end - 1 of a network.
struct LayerRange {
  Index first = 0;
  Index end = 0;
};

class Pass {
 public:
  // Sets the memory up for a tile of `rows` rows, each with so many paths (0: moments are handed
  // on).
  void Reserve(const Network& network, LayerRange layers, Index rows, Index paths);

  // Write before Up: the input of the first layer. If NeedsRaw(), write raw() too.
  Handed& entered() { return handed_.front(); }
  Moments& raw() { return layers_.first == 0 ? handed_.front().moments : raw_; }
  bool NeedsRaw() const { return skips_ && layers_.first > 0; }

  // `numbers` [rows] are the rows' own, by which their paths are drawn.
  void Up(const Network& network, const PathSource& paths, std::span<const Index> numbers);
  // What the layers handed on: that of layer l, and that of the last one. Row p of a layer above
  // the first draw is path p % S of row p / S.
  const Handed& output(Index layer) const { return handed_[layer - layers_.first + 1]; }
  const Handed& top() const { return handed_.back(); }

  // To be written before Down: the gradient with respect to top().
  Handed& d_top() { return d_handed_.back(); }
  // Which gradients Down is to find besides those of the parameters.
  struct Wanted {
    bool entered = false;  // with respect to what entered
    bool raw = false;      // with respect to the raw inputs, through skip links
  };
  // Consumes what Up left. Adds to *sums.
  void Down(const Network& network, Wanted wanted, Sums* sums);
  const Handed& d_entered() const { return d_handed_.front(); }
  // Does not hold what came back through d_entered().
  const Moments& d_raw() const { return d_raw_; }

  Index rows() const { return rows_; }
  Index paths() const { return paths_; }

 private:
  void ReserveDown(const DeepGp& model);
  bool Drawn(Index layer) const { return paths_ > 0 && layer > 0; }       // whether its inputs are
  Index PathsFrom(Index layer) const { return layer == 1 ? paths_ : 1; }  // per row of its input
  const Handed& HandOn(const DeepGp& model, Index layer);
  void HandOnBackward(const DeepGp& model, Index layer, Sums* sums);

  LayerRange layers_;
  Index rows_ = 0;
  Index paths_ = 0;
  bool skips_ = false;  // whether a layer has skip links
  // Element i belongs to layer first + i; handed_[i] is the input of that layer.
  std::vector<Handed> handed_, d_handed_;
  std::vector<Network::LayerTape> tapes_;
  Moments raw_, d_raw_;
  // Where hidden units are drawn:
  Matrix eps_;
  std::vector<Handed> draws_, d_draws_;  // the input of a layer on the paths
  Moments path_raw_, d_path_raw_;        // the raw inputs, each row once per path
};

}  // namespace fathom

#endif  // FATHOM_INFERENCE_PASS_H_
