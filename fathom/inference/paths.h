// Sampled propagation. A row goes up the layers as S paths: between two layers every path's hidden
// units are drawn, so that the layers above see certain inputs and any kernel serves; at the top
// the paths meet again in a mixture, which keeps whatever shape the prediction has.
//
// The draws are either fresh for every row, or the model's own points, common to all rows and
// learnt with it. Path s of row n is row n S + s of every array here.
#ifndef FATHOM_INFERENCE_PATHS_H_
#define FATHOM_INFERENCE_PATHS_H_

#include <cstdint>
#include <span>

#include "fathom/model/deep_gp.h"

namespace fathom {

// Where a row's paths come from. Equal sources give equal paths: common random numbers.
struct PathSource {
  Index samples = 0;  // paths per row; 0: moments are propagated instead
  std::uint64_t seed = 1;
  std::uint64_t draw = 0;  // below 2^24; another one gives fresh random numbers
};

// The paths that training takes: none for a model that propagates moments or has one layer only.
PathSource TrainingPaths(const DeepGp& model, std::uint64_t seed, std::uint64_t draw);

// Standard normal coordinates of all paths of the rows with these numbers, one column per hidden
// unit of the whole network: eps [rows S, hidden units]. With points, those of the model.
void DrawPaths(const DeepGp& model, const PathSource& source, std::span<const Index> rows,
               Matrix* eps);
// log w_s [S]: those of the model's points, or -log S.
void LogPathWeights(const DeepGp& model, Index samples, Vector* log_weights);

// Every row `repeat` times.
void RepeatRows(const Moments& rows, Index repeat, Moments* out);

// Hidden units of the paths, certain:                                             [hidden-draw]
//   h = m + sqrt(v) eps
// `repeat`: paths per row of `moments` (S where the paths begin, then 1). eps: the columns of this
// layer's units.
void DrawHidden(const Moments& moments, Index repeat, const Eigen::Ref<const Matrix>& eps,
                Moments* h);
// Writes *d_moments.
void DrawHiddenBackward(const Moments& moments, Index repeat, const Eigen::Ref<const Matrix>& eps,
                        const Matrix& d_h, Moments* d_moments);
// The same with respect to eps where it is that of common points: adds to d_points [S, units].
void PointsBackward(const Moments& moments, Index repeat, const Matrix& d_h,
                    Eigen::Ref<Matrix> d_points);

// The paths of one row meet:                                                     [path-mixture]
//   log Z = (alpha / outer) log sum_s w_s exp(outer l_s / alpha),   l_s = log E[p(y|f_s)^alpha]
// outer = alpha is the power-EP energy under sampling; outer = 1 the mixture's own likelihood; the
// limit alpha = outer = 0 the mean of E[log p]. As in Likelihood::LogZ, alpha = 0 stands for l_s
// already divided by alpha. l_s becomes d log Z / d l_s, the share of path s; d_log_weights, unless
// null, becomes d log Z / d log w_s (weights normalised).
double MixPaths(const Vector& log_weights, double alpha, double outer, double* l,
                double* d_log_weights);

}  // namespace fathom

#endif  // FATHOM_INFERENCE_PATHS_H_
