"""The estimators, and the one for a file. Pickles know them by this place."""

from __future__ import annotations

import os
from typing import Any

from fathom import _core
from fathom._classifier import DeepGPClassifier
from fathom._regressor import DeepGPRegressor

__all__ = ["DeepGPClassifier", "DeepGPRegressor", "load"]


def load(path: Any) -> DeepGPRegressor | DeepGPClassifier:
    """Reads a model file, written by an estimator's ``save`` or by ``fathom fit``, as the estimator that it is for.

    A Bayesian neural network of ``fathom baseline`` predicts through the same estimators; ``fit`` would make a deep GP.
    """
    model = _core.Model.load(os.fspath(path), 0)
    if model.schema()["classes"]:
        return DeepGPClassifier._from_model(model)
    return DeepGPRegressor._from_model(model)
