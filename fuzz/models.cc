// Models, checkpoints and settings of others.
#include "bnn/checkpoint.h"
#include "bnn/expert.h"
#include "fathom/fitted/model.h"
#include "fathom/fitted/prediction_table.h"
#include "fathom/io/safetensors.h"
#include "fathom/io/toml.h"
#include "fathom/train/checkpoint.h"
#include "fuzz/target.h"

FATHOM_FUZZ_TARGET(safetensors) { fathom::SafeTensorsFromBytes("fuzz", bytes); }

FATHOM_FUZZ_TARGET(toml) { fathom::ParseToml("fuzz", bytes); }

FATHOM_FUZZ_TARGET(model) {
  fathom::bnn::RegisterNetworkExpert();
  const fathom::ModelPredictor predictor(fathom::ModelFromBytes("fuzz", bytes), 1);
  fathom::Moments inputs;
  inputs.SetZero(2, predictor.model().schema().width());
  inputs.var.row(1).setOnes();  // which goes both ways in a tree
  const fathom::TargetPrediction prediction = fathom::PredictTargets(predictor, inputs);
  fathom::PredictionTable(prediction, predictor.model().schema(), {}, {.quantiles = {0.025, 0.5}});
}

FATHOM_FUZZ_TARGET(checkpoint) { fathom::CheckpointFromBytes("fuzz", bytes); }

FATHOM_FUZZ_TARGET(baseline) { fathom::bnn::BaselineCheckpointFromBytes("fuzz", bytes); }
