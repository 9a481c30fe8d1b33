"""Deep Gaussian processes: a table in, predictions with honest uncertainty out.

>>> import numpy as np
>>> from fathom import DeepGPRegressor
>>> X = np.linspace(-1, 1, 60)[:, None]
>>> y = np.where(X[:, 0] > 0, 1.0, -1.0)
>>> model = DeepGPRegressor(hidden=2, inducing=20, steps=300).fit(X, y)
>>> mean, std = model.predict([[-0.5], [0.5]], return_std=True)
>>> [round(float(m)) for m in mean]
[-1, 1]

Everything is computed by the C++ library; ``DeepGPRegressor`` and ``DeepGPClassifier`` are scikit-learn estimators
around it, and their models are the files of the program ``fathom``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fathom._core import NumericalError, __version__
from fathom._data import DataWarning

if TYPE_CHECKING:
    from fathom._estimators import DeepGPClassifier, DeepGPRegressor, load
    from fathom.distribution import PredictiveDistribution
    from fathom.plot import (
        plot_calibration,
        plot_learning_curve,
        plot_pit,
        plot_prediction,
        plot_relevance,
        plot_slices,
    )

# Loading scikit-learn takes longer than all the rest, so it waits until an estimator is asked for.
_PLACES = {
    "DeepGPClassifier": "fathom._estimators",
    "DeepGPRegressor": "fathom._estimators",
    "load": "fathom._estimators",
    "PredictiveDistribution": "fathom.distribution",
    "plot_calibration": "fathom.plot",
    "plot_learning_curve": "fathom.plot",
    "plot_pit": "fathom.plot",
    "plot_prediction": "fathom.plot",
    "plot_relevance": "fathom.plot",
    "plot_slices": "fathom.plot",
}

__all__ = [
    "DataWarning",
    "DeepGPClassifier",
    "DeepGPRegressor",
    "NumericalError",
    "PredictiveDistribution",
    "__version__",
    "load",
    "plot_calibration",
    "plot_learning_curve",
    "plot_pit",
    "plot_prediction",
    "plot_relevance",
    "plot_slices",
]

NumericalError.__module__ = "fathom"


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'fathom' has no attribute '{name}'")
    value = getattr(import_module(_PLACES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
