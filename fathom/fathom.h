// Include this to fit, save, load, predict, explain and score.
#ifndef FATHOM_FATHOM_H_
#define FATHOM_FATHOM_H_

#include "fathom/base/error.h"
#include "fathom/base/types.h"
#include "fathom/data/csv.h"
#include "fathom/data/dataset.h"
#include "fathom/data/read_table.h"
#include "fathom/data/schema.h"
#include "fathom/data/split.h"
#include "fathom/distribution/joint_prediction.h"
#include "fathom/distribution/prediction.h"
#include "fathom/evaluate/evaluation.h"
#include "fathom/fit/cross_validate.h"
#include "fathom/fit/fit.h"
#include "fathom/fitted/export.h"
#include "fathom/fitted/model.h"
#include "fathom/fitted/prediction_arrays.h"
#include "fathom/fitted/prediction_table.h"
#include "fathom/fitted/predictor.h"
#include "fathom/fitted/relevance.h"
#include "fathom/recipe/quality.h"
#include "fathom/recipe/recipe.h"
#include "fathom/version.h"

#endif  // FATHOM_FATHOM_H_
