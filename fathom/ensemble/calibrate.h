// The calibration of a whole ensemble by rows that its members have not seen.
#ifndef FATHOM_ENSEMBLE_CALIBRATE_H_
#define FATHOM_ENSEMBLE_CALIBRATE_H_

#include <functional>
#include <vector>

#include "fathom/base/threads.h"
#include "fathom/ensemble/scaled_table.h"
#include "fathom/fitted/calibration.h"

namespace fathom {

// What an ensemble says of the rows of its own training, in scaled units.
struct LeftOut {
  Moments centre;  // [N, targets], each row predicted without itself: see Centre()
  // The same for all rows outside a fold, predicted without the rows of the fold too. Null: local
  // noise is not looked for.
  std::function<Moments(std::int32_t fold)> without_fold;
};

// Where the errors are larger than usual is learnt from the errors of neighbours. A neighbour's
// error must come from a prediction that did not know the row: otherwise an outlier would announce
// itself. So the errors that a row sees are those made without its fold. `spread` receives the
// left-out centres, with variances that include the local noise.
Calibration Calibrate(const ScaledTable& table, const LeftOut& left_out, std::uint64_t seed,
                      const ThreadPool& pool, Moments* spread = nullptr);

// Finds the shares of the scales anew for another centre of rows that were left out. Its variances
// include the local noise, which stays as it is.
void Recalibrate(const ScaledTable& table, const Moments& spread, Calibration* calibration);

// [scales]: the shares p that maximise
//   sum_n c_n log sum_s p_s prod_t N(z_nt; 0, scale_s^2) + prior' log p             [scale-shares]
// for errors z [N, targets] in units of their expected size; row n counts as c_n (no weights: as
// one). The prior is ten rows of a Student t with five degrees of freedom.
Vector ScaleShares(const Vector& scales, const Matrix& z, const Vector& weights = {});

}  // namespace fathom

#endif  // FATHOM_ENSEMBLE_CALIBRATE_H_
