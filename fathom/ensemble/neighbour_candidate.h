// A neighbour GP that may join an ensemble, and how it predicts each row without that row.
#ifndef FATHOM_ENSEMBLE_NEIGHBOUR_CANDIDATE_H_
#define FATHOM_ENSEMBLE_NEIGHBOUR_CANDIDATE_H_

#include <functional>
#include <memory>
#include <vector>

#include "fathom/base/threads.h"
#include "fathom/ensemble/scaled_table.h"
#include "fathom/fitted/neighbour_expert.h"
#include "fathom/optimize/progress.h"

namespace fathom {

class NeighbourCandidate {
 public:
  struct Options {
    // Empty: the correlation that predicts best is found, target by target.
    std::vector<Correlation> correlations = {};
    // What an earlier fit to the same rows and trend has learnt, target by target; empty: nothing.
    std::vector<NeighbourGp> known = {};
    // [targets] of [N, N]: in column n, the trend as it is without row n. Empty: one row does not
    // change the trend of others.
    std::vector<Matrix> trend_without = {};
    std::uint64_t seed = 1;
    // May be null; returning false ends the fit with what has been reached.
    std::function<bool(const Progress&)> callback = nullptr;
  };

  // Learns what the means of `trend` [N, targets] leave over of table.y. The trend of a row must
  // come from a model that has not seen the row, or that can hardly bend to a single row, or the
  // options say what it is without the row. Its variance is what uncertain cells give to it, and no
  // more. Keeps references to the table and the pool. Throws NumericalError if it cannot be fitted.
  NeighbourCandidate(const ScaledTable& table, Moments trend, const Options& options,
                     const ThreadPool& pool);

  // Mean and variance of y [N, targets], each row without itself and its copies.
  const Moments& left_out() const { return left_out_; }
  // The same of all rows outside the fold, without the rows of the fold too; the others hold NaN.
  Moments LeftOutWithFold(std::int32_t fold) const;

  const std::vector<NeighbourGp>& gps() const { return gps_; }
  std::shared_ptr<const Expert> MakeExpert() const;

 private:
  NeighbourData DataOf(Index target) const;
  // Finds gps_ and near_ of a target; returns the moments of its rows from kNeighbours.
  Moments Learn(Index target, const NeighbourData& data, const Options& options);

  const ScaledTable& table_;
  const ThreadPool& pool_;
  Moments trend_;
  Matrix own_trend_;  // [N, targets]: of each row, without the row itself if that is known
  Moments x_;         // with the trend as further columns
  bool certain_;      // whether no cell of x_ has a variance
  std::vector<Matrix> residual_;  // [targets] of [N, 1], or [N, N]: as row n sees them in column n
  std::vector<std::int32_t> view_of_row_;  // [N] n, or empty
  std::vector<Vector> own_;                // [targets] of [N]: y minus own_trend_
  std::vector<NeighbourGp> gps_;           // [targets]
  std::vector<Neighbours> near_;           // [targets] of [N, m and some], without copies
  Index enough_ = 0;                       // neighbours for new rows
  Moments left_out_;
};

// Neighbours that a row is predicted from. For new rows fewer may be enough.
inline constexpr Index kNeighbours = 64;

}  // namespace fathom

#endif  // FATHOM_ENSEMBLE_NEIGHBOUR_CANDIDATE_H_
