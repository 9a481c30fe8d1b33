// All that a program needs to fit, save, load, predict and score: one include.
#ifndef FATHOM_FATHOM_H_
#define FATHOM_FATHOM_H_

#include "fathom/base/error.h"
#include "fathom/data/csv.h"
#include "fathom/data/dataset.h"
#include "fathom/data/read_table.h"
#include "fathom/distribution/prediction.h"
#include "fathom/evaluate/class_metrics.h"
#include "fathom/evaluate/metrics.h"
#include "fathom/fit/fit.h"
#include "fathom/fitted/model.h"
#include "fathom/likelihood/generic.h"

#endif  // FATHOM_FATHOM_H_
