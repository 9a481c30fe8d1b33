// From a dataset to a trained model, in one go or over several.
#ifndef FATHOM_FIT_FIT_H_
#define FATHOM_FIT_FIT_H_

#include <string>

#include "fathom/base/export.h"
#include "fathom/data/dataset.h"
#include "fathom/data/dataset_rows.h"
#include "fathom/fitted/model.h"
#include "fathom/recipe/recipe.h"
#include "fathom/train/control.h"

namespace fathom FATHOM_PUBLIC {

// Fits a deep GP, or an ensemble of them, to a dataset. Throws Error for data or options that
// cannot be used, NumericalError if the training fails: what it returns is always a good model.
Model Fit(const Dataset& dataset, const Recipe& recipe = {}, const FitControl& control = {});
// Rows that are not in memory are learnt by one network, whose batches are read as they come: what
// the recipe's stack 'never' makes of them. Throws Error, too, for recipes that need all rows in
// memory.
Model Fit(const DatasetRows& rows, const Recipe& recipe = {}, const FitControl& control = {});

// Goes on where the checkpoint file was written and ends with the bits of a training that was never
// stopped. Throws Error if the dataset is not the one that the training began with, and as Fit
// does.
Model Resume(const Dataset& dataset, const std::string& checkpoint, const FitControl& control = {});
Model Resume(const DatasetRows& rows, const std::string& checkpoint,
             const FitControl& control = {});

// Trains a model further, for `steps` steps (0: as many as a new training takes). The rows may be
// new ones, with the columns of the model. The training has a warm-up and a decay of its own and no
// time budget. Throws Error if the model has several members, and as Fit does.
Model Update(const Model& model, const Dataset& dataset, Index steps = 0,
             const FitControl& control = {});

}  // namespace fathom

#endif  // FATHOM_FIT_FIT_H_
