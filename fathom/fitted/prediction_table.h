// What a model predicts for rows, as a table with named columns.
#ifndef FATHOM_FITTED_PREDICTION_TABLE_H_
#define FATHOM_FITTED_PREDICTION_TABLE_H_

#include <string>
#include <vector>

#include "fathom/base/export.h"
#include "fathom/data/dataset.h"
#include "fathom/data/table.h"
#include "fathom/distribution/target_prediction.h"
#include "fathom/fitted/model.h"
#include "fathom/fitted/predictor.h"

namespace fathom FATHOM_PUBLIC {

// The prediction of y: probabilities of the classes, if the model has any, or else a density. With
// options.latent it is always the density of the functions. The columns are those of
// ModelPredictor. Throws NumericalError if a prediction is not finite.
TargetPrediction PredictTargets(const ModelPredictor& predictor, const Moments& inputs,
                                const PredictOptions& options = {});
// The same for rows of a table, which the NumericalError names.
TargetPrediction PredictTargets(const ModelPredictor& predictor, const Dataset& rows,
                                const PredictOptions& options = {});

struct PredictionColumns {
  std::vector<double> quantiles = {};  // of numbers; each in (0, 1)
  bool log_density = true;             // of the targets, where they are given
  bool targets = false;                // the targets themselves, beside what was predicted
  bool outside = false;  // in how many inputs the row lies beyond the training; PredictTable only
};

inline constexpr const char* kOutside = "outside";  // the name of that column

// "q025" for 0.025, "q50" for 0.5: the name of a column of quantiles.
std::string QuantileName(double probability);

// One line per row. For numbers the columns are
//   mean, std, a quantile each (q025, q50), target; then log_density
// with NAME_ before all but the last if there are several targets. For classes they are
//   class, p_NAME for each class, target, log_probability
// where class and target hold places in schema.classes, which are their levels. `targets` may have
// no columns; then there are no columns about them. A missing (NaN) target has density NaN.
Table PredictionTable(const TargetPrediction& prediction, const Schema& schema,
                      const Matrix& targets, const PredictionColumns& columns = {});

// Predicts and makes the table. The density of y says nothing about f: with options.latent the rows
// count as having no targets. The column `outside` is the last one; models of an older fathom,
// which do not know the range of their inputs, have none.
Table PredictTable(const ModelPredictor& predictor, const Dataset& rows,
                   const PredictOptions& options = {}, const PredictionColumns& columns = {});

}  // namespace fathom

#endif  // FATHOM_FITTED_PREDICTION_TABLE_H_
