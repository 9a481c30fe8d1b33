"""scikit-learn's own checks of estimators, all of them."""

from __future__ import annotations

import inspect

import pytest
from fathom._base import EXPECTED_FAILURES
from sklearn.utils.estimator_checks import parametrize_with_checks

from fathom import DeepGPClassifier, DeepGPRegressor

# Small networks: the checks fit some two hundred times and ask for the contract, not for accuracy.
SMALL = {"hidden": 2, "inducing": 15, "steps": 60, "warm_up": 5, "threads": 1}


# Before scikit-learn 1.6 the estimators' tags name the failures.
FAILURES = ({"expected_failed_checks": lambda estimator: EXPECTED_FAILURES}
            if "expected_failed_checks" in inspect.signature(parametrize_with_checks).parameters else {})


@parametrize_with_checks([DeepGPRegressor(**SMALL), DeepGPClassifier(**SMALL)], **FAILURES)
@pytest.mark.filterwarnings("ignore::fathom.DataWarning")
def test_scikit_learn_contract(estimator, check):
    check(estimator)
