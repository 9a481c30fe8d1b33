"""Rows together: their covariance, and draws of all of them at once."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from conftest import SMALL

from fathom import DeepGPClassifier, DeepGPRegressor

KINDS = {
    "a deep network": {},
    "a plain GP": {"hidden": 0},
    "two hidden layers": {"hidden": (2, 2)},
    "sampled paths": {"propagation": "samples", "paths": 4},
    "points": {"propagation": "points", "paths": 4},
    "full covariances": {"full_covariance": True},
    "Matern": {"kernel": "matern52"},
    "heavy tails": {"likelihood": "student_t"},
    "local noise": {"likelihood": "heteroscedastic"},
    "a stack": {"stack": "always"},
    "neighbours": {"stack": "always", "local": "only"},
}


def is_covariance(cov, std):
    np.testing.assert_allclose(np.sqrt(np.diag(cov)), std, rtol=1e-12)
    np.testing.assert_allclose(cov, cov.T, atol=1e-12)
    assert np.linalg.eigvalsh(cov)[0] > -1e-8 * cov.max()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("latent", [False, True])
def test_the_diagonal_is_the_variance_and_near_rows_are_off_together(kind, latent, sine):
    X, y = sine
    model = DeepGPRegressor(**{**SMALL, **KINDS[kind]}).fit(X, y)
    rows = X[:20].copy()
    rows[1] = rows[0] + 0.01
    mean, std = model.predict(rows, return_std=True, latent=latent)
    joint_mean, cov = model.predict(rows, return_cov=True, latent=latent)
    np.testing.assert_allclose(joint_mean, mean, rtol=1e-12)
    is_covariance(cov, std)
    assert cov[0, 1] > 0
    _, function = model.predict(rows, return_cov=True, latent=True)
    correlation = function / np.sqrt(np.outer(np.diag(function), np.diag(function)))
    assert correlation[0, 1] > 0.3
    assert np.abs(correlation[0, 2:]).mean() < correlation[0, 1]


@pytest.mark.parametrize("kind", ["a deep network", "a stack"])
def test_draws_have_the_covariance_that_is_told(kind, sine):
    X, y = sine
    model = DeepGPRegressor(**{**SMALL, **KINDS[kind]}).fit(X, y)
    draws = model.sample_y(X[:6], 20000, random_state=3)
    mean, cov = model.predict(X[:6], return_cov=True)
    scale = np.sqrt(np.outer(np.diag(cov), np.diag(cov)))
    np.testing.assert_allclose(draws.mean(axis=1), mean, atol=0.05 * np.sqrt(cov.max()))
    off = np.abs((np.cov(draws) - cov) / scale)
    assert off[~np.eye(6, dtype=bool)].max() < 0.06
    assert np.diag(off).max() < 0.3  # of heavy tails, which few draws have


def test_several_targets_have_a_covariance_each(sine):
    X, y = sine
    model = DeepGPRegressor(**SMALL).fit(X, np.column_stack([y, 10 * y]))
    mean, cov = model.predict(X[:8], return_cov=True)
    std = model.predict(X[:8], return_std=True)[1]
    assert mean.shape == (8, 2)
    assert cov.shape == (8, 8, 2)
    for target in range(2):
        is_covariance(cov[:, :, target], std[:, target])
    assert model.sample_y(X[:8], 5).shape == (8, 2, 5)


def test_counts_and_positive_numbers_have_a_covariance_in_their_units():
    rng = np.random.default_rng(6)
    X = rng.uniform(-1, 1, size=(300, 1))
    counts = rng.poisson(np.exp(1 + X[:, 0]))
    model = DeepGPRegressor(stack="always", hidden=1, inducing=8, steps=60, threads=1).fit(X, counts)
    rows = np.array([[0.5], [0.505], [-0.9]])
    std = model.predict(rows, return_std=True)[1]
    _, cov = model.predict(rows, return_cov=True)
    is_covariance(cov, std)
    assert 0 < cov[0, 1] < cov[0, 0]
    draws = model.sample_y(rows, 4000)
    assert (draws == draws.round()).all()
    np.testing.assert_allclose(np.cov(draws)[0, 1], cov[0, 1], atol=0.1 * cov[0, 0])


def test_uncertain_and_missing_cells_and_frames(mixed):
    frame, y = mixed
    model = DeepGPRegressor(**SMALL).fit(frame, y)
    rows = frame.head(10)
    is_covariance(model.predict(rows, return_cov=True)[1], model.predict(rows, return_std=True)[1])
    deviations = pd.DataFrame(0.0, index=rows.index, columns=rows.columns).assign(size=10.0)
    std = model.predict(rows, return_std=True, input_std=deviations)[1]
    is_covariance(model.predict(rows, return_cov=True, input_std=deviations)[1], std)


def test_any_number_of_threads_gives_the_same_bits(sine):
    X, y = sine
    one, three = (DeepGPRegressor(**{**SMALL, "threads": threads}).fit(X, y).predict(X[:30], return_cov=True)[1]
                  for threads in (1, 3))
    np.testing.assert_array_equal(one, three)


def test_classes_have_none(sine):
    X, y = sine
    model = DeepGPClassifier(**SMALL).fit(X, y > 0)
    with pytest.raises(TypeError, match="return_cov"):
        model.predict(X, return_cov=True)
