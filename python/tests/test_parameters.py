"""The parameters are the recipe's, with its names, defaults and help."""

from __future__ import annotations

import inspect
import json
import os
from pathlib import Path

import numpy as np
import pytest
from fathom._parameters import PARAMETERS, stub

import fathom
from fathom import DeepGPClassifier, DeepGPRegressor, _core

FIELDS = json.loads(_core.recipe_fields())


@pytest.mark.parametrize("estimator", [DeepGPRegressor, DeepGPClassifier])
def test_every_field_is_a_parameter(estimator):
    parameters = inspect.signature(estimator).parameters
    names = [field["name"].rsplit(".", 1)[-1] for field in FIELDS]
    assert len(set(names)) == len(names)
    assert set(names) < set(parameters)
    for field, name in zip(FIELDS, names):
        default = parameters[name].default
        assert (list(default) if isinstance(default, tuple) else default) == field["default"]
        assert field["help"].split(",")[0][:40] in " ".join(estimator.__doc__.split())


def test_defaults_make_the_default_recipe():
    recipe = json.loads(DeepGPRegressor(threads=0)._recipe().json())
    for field in FIELDS:
        value = recipe
        for key in field["name"].split("."):
            value = value[key]
        if field["name"] != "threads":
            assert value == field["default"], field["name"]


def test_values_reach_the_recipe():
    model = DeepGPRegressor(hidden=np.array([3, 4]), inducing=7, learning_rate=np.float32(0.5), likelihood="student_t",
                            time_budget=np.int64(9), random_state=5, n_jobs=2)
    recipe = json.loads(model._recipe().json())
    assert recipe["architecture"]["hidden"] == [3, 4]
    assert recipe["architecture"]["inducing"] == [7]
    assert recipe["architecture"]["likelihood"] == "student_t"
    assert recipe["optimizer"]["learning_rate"] == 0.5
    assert recipe["optimizer"]["time_budget"] == 9
    assert recipe["seed"] == 5
    assert recipe["threads"] == 2
    assert recipe["stack"] == "never"  # who asks for a certain network gets that one
    assert json.loads(DeepGPRegressor(hidden=0)._recipe().json())["architecture"]["hidden"] == []
    assert json.loads(DeepGPRegressor(quality="best")._recipe().json())["stack"] == "always"


def test_joblib_may_limit_the_threads(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert DeepGPRegressor()._recipe().threads == 3
    assert DeepGPRegressor(threads=2)._recipe().threads == 2
    assert DeepGPRegressor(n_jobs=-1)._recipe().threads == os.cpu_count()


def test_the_stub_shows_the_same():
    path = Path(fathom.__file__).parent / "_parameters.pyi"
    assert path.read_text() == stub(), "write it again: python -m fathom._parameters > python/fathom/_parameters.pyi"
    assert all(f" {name}:" in path.read_text() for name in PARAMETERS)
