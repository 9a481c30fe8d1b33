"""Tables, and estimators that are fitted in a tenth of a second."""

from __future__ import annotations

import os
import subprocess

import numpy as np
import pandas as pd
import pytest

from fathom import DeepGPClassifier, DeepGPRegressor

SMALL = {"hidden": 2, "inducing": 10, "steps": 40, "warm_up": 5, "threads": 1}


@pytest.fixture(scope="session")
def sine():
    """120 rows of three columns; the first says nearly all about y."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 3))
    return X, np.sin(2 * X[:, 0]) + 0.1 * X[:, 1] + 0.05 * rng.normal(size=120)


@pytest.fixture(scope="session")
def mixed():
    """A frame with numbers, strings, truth values, categories and gaps, and its target."""
    rng = np.random.default_rng(2)
    rows = 150
    frame = pd.DataFrame({
        "size": rng.normal(50, 10, rows).round(3),
        "colour": rng.choice(["red", "green", "blue"], rows),
        "used": rng.random(rows) > 0.5,
        "grade": rng.choice([1, 2, 10], rows),
        "length": rng.integers(0, 9, rows),
    })
    y = frame["size"] / 10 + (frame["colour"] == "red") + 2 * frame["used"] + rng.normal(0, 0.1, rows)
    frame.loc[3, "size"] = np.nan
    frame.loc[[5, 8], "colour"] = None
    frame["grade"] = frame["grade"].astype("category")
    return frame, y.round(6).rename("price")


@pytest.fixture(scope="session")
def regressor(sine):
    return DeepGPRegressor(**SMALL).fit(*sine)


@pytest.fixture(scope="session")
def classifier(sine):
    X, y = sine
    return DeepGPClassifier(**SMALL).fit(X, np.where(y > 0.3, "high", np.where(y < -0.3, "low", "middle")))


@pytest.fixture(scope="session")
def program():
    """Runs the program `fathom` and returns what it prints."""
    path = os.environ.get("FATHOM_PROGRAM") or "fathom"

    def run(*arguments):
        done = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
