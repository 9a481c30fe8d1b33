// What a prediction may be asked for.
#ifndef FATHOM_INFERENCE_PREDICT_OPTIONS_H_
#define FATHOM_INFERENCE_PREDICT_OPTIONS_H_

#include <cstdint>

#include "fathom/base/export.h"
#include "fathom/base/types.h"

namespace fathom FATHOM_PUBLIC {

struct PredictOptions {
  bool latent = false;      // predict f, without the noise of an observation
  bool mean_alone = false;  // the variances are not looked at, and may be anything
  // Paths per row; each is a component of the prediction. 0: as the model was trained (moments, or
  // 100 paths). Models with points ignore it.
  Index samples = 0;
  std::uint64_t seed = 1;  // of the samples
  Index first_row = 0;     // number of the first row, for the samples' streams: chunks of a table
                           // continue each other
};

}  // namespace fathom

#endif  // FATHOM_INFERENCE_PREDICT_OPTIONS_H_
