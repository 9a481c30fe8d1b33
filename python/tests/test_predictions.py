"""What the estimators predict, in which shapes, and that it is consistent."""

from __future__ import annotations

import doctest
import importlib

import numpy as np
import pytest
from conftest import SMALL
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fathom import DeepGPRegressor

MODULES = ["fathom", "fathom._regressor", "fathom._classifier", "fathom.distribution", "fathom.plot"]


@pytest.mark.parametrize("module", MODULES)
def test_examples_of_the_docstrings_run(module):
    result = doctest.testmod(importlib.import_module(module))
    assert result.failed == 0
    assert result.attempted > 0


def test_default_settings_learn_a_step():
    X = np.linspace(-1, 1, 40)[:, None]
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    model = DeepGPRegressor().fit(X, y)
    mean, std = model.predict([[-0.3], [0.3]], return_std=True)
    np.testing.assert_allclose(mean, [-1, 1], atol=0.05)
    assert (std < 0.2).all()


def test_all_ways_to_ask_agree(regressor, sine):
    X, y = sine
    mean, std = regressor.predict(X, return_std=True)
    assert mean.shape == std.shape == (120,)
    dist = regressor.predict_dist(X)
    np.testing.assert_array_equal(dist.mean(), mean)
    np.testing.assert_array_equal(dist.std(), std)
    quantiles = regressor.predict_quantiles(X, [0.025, 0.5, 0.975])
    assert quantiles.shape == (120, 3)
    assert (np.diff(quantiles, axis=1) > 0).all()
    np.testing.assert_array_equal(quantiles, dist.quantile([0.025, 0.5, 0.975]))
    low, high = regressor.predict_interval(X, 0.95)
    np.testing.assert_allclose(low, quantiles[:, 0], rtol=1e-12)
    np.testing.assert_allclose(high, quantiles[:, 2], rtol=1e-12)
    np.testing.assert_allclose(dist.cdf(quantiles)[:, 0], 0.025, rtol=1e-6)
    np.testing.assert_array_equal(regressor.log_density(X, y), dist.logpdf(y))
    np.testing.assert_allclose(np.exp(dist.logpdf(y)), dist.pdf(y))
    assert regressor.evaluate(X, y)["mean_log_likelihood"] == pytest.approx(dist.logpdf(y).mean())
    assert (regressor.predict(X, return_std=True, latent=True)[1] < std).all()


def test_density_integrates_to_the_cdf(regressor, sine):
    dist = regressor.predict_dist(sine[0][:2])
    grid = np.linspace(-6, 6, 6001)
    density = dist.pdf(np.broadcast_to(grid, (2, len(grid))))
    assert density.shape == (2, 6001)
    np.testing.assert_allclose(density.sum(axis=1) * (grid[1] - grid[0]), 1, rtol=1e-4)
    np.testing.assert_allclose(dist.cdf(0.2), (density * (grid <= 0.2)).sum(axis=1) * 0.002, atol=2e-3)


def test_samples_follow_the_distribution(regressor, sine):
    X = sine[0][:4]
    draws = regressor.sample_y(X, 4000, random_state=0)
    assert draws.shape == (4, 4000)
    mean, std = regressor.predict(X, return_std=True)
    np.testing.assert_allclose(draws.mean(axis=1), mean, atol=5 * std.max() / np.sqrt(4000))
    np.testing.assert_allclose(draws.std(axis=1), std, rtol=0.1)
    np.testing.assert_array_equal(draws, regressor.sample_y(X, 4000, random_state=0))
    assert (draws != regressor.sample_y(X, 4000, random_state=1)).any()


def test_several_targets_have_an_axis_of_their_own(sine):
    X, y = sine
    model = DeepGPRegressor(**SMALL).fit(X, np.column_stack([y, 100 + 10 * y]))
    mean, std = model.predict(X, return_std=True)
    assert mean.shape == std.shape == (120, 2)
    np.testing.assert_allclose(mean[:, 1], 100 + 10 * mean[:, 0], atol=3)
    dist = model.predict_dist(X)
    assert dist.quantile(0.5).shape == (120, 2)
    assert dist.quantile([0.1, 0.5, 0.9]).shape == (120, 2, 3)
    assert dist.logpdf(mean).shape == (120,)
    assert dist.cdf(mean).shape == (120, 2)
    assert dist.sample(5, 0).shape == (120, 2, 5)
    assert model.explain()["y2"]["x1"] == 1


def test_a_row_may_lack_some_of_several_targets(sine):
    X, y = sine
    both = np.column_stack([y, 100 * y])
    both[::2, 0] = np.nan
    both[1::2, 1] = np.nan
    model = DeepGPRegressor(stack="never", hidden=2, inducing=15, steps=300).fit(X, both)
    assert any("lack some of the targets" in note for note in model.notes_)
    mean = model.predict(X)
    assert np.sqrt(np.mean((mean[:, 0] - y) ** 2)) < 0.5 * np.std(y)
    assert np.sqrt(np.mean((mean[:, 1] / 100 - y) ** 2)) < 0.5 * np.std(y)
    scores = model.evaluate(X, both)["targets"]
    assert scores["y1"]["rmse"] < 1 < scores["y2"]["rmse"] * 10
    assert np.isfinite(model.log_density(X, both)).all()


def test_classifier_gives_probabilities_in_the_order_of_its_labels(classifier, sine):
    X, _ = sine
    assert classifier.classes_.tolist() == ["high", "low", "middle"]
    probability = classifier.predict_proba(X)
    np.testing.assert_allclose(probability.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_array_equal(classifier.predict(X), classifier.classes_[probability.argmax(axis=1)])
    y = classifier.predict(X)
    assert classifier.evaluate(X, y)["accuracy"] == 1


@pytest.mark.parametrize("labels", [[10, 9], [2.0, -1.0], [True, False], ["10", "9"], ["b", "a"]])
def test_labels_of_any_kind_come_back(labels, sine, tmp_path):
    from fathom import DeepGPClassifier, load

    X, y = sine
    truth = np.array(labels)[(y > 0).astype(int)]
    model = DeepGPClassifier(**SMALL).fit(X, truth)
    assert model.classes_.tolist() == sorted(labels)
    assert model.score(X, truth) > 0.8
    model.save(tmp_path / "m.fathom")
    np.testing.assert_array_equal(load(tmp_path / "m.fathom").predict(X).astype(truth.dtype), model.predict(X))


def test_weights_count_rows(sine):
    X, y = sine
    plain = DeepGPRegressor(**SMALL).fit(X[:100], y[:100]).predict(X)
    weights = np.ones(120)
    weights[100:] = 0
    with pytest.warns(UserWarning, match="skipped 20 rows of weight 0"):
        weighted = DeepGPRegressor(**SMALL).fit(X, y, sample_weight=weights).predict(X)
    np.testing.assert_allclose(weighted, plain, rtol=1e-9)
    heavy = DeepGPRegressor(**SMALL).fit(X, y, sample_weight=1 + 9 * (X[:, 0] > 0)).predict(X)
    assert np.abs(heavy - DeepGPRegressor(**SMALL).fit(X, y).predict(X)).max() > 1e-3


def test_a_row_of_weight_two_counts_as_two_rows(sine):
    X, y = sine
    X, y, weights = X[:60, :1], y[:60], np.arange(60) % 3 + 1
    settings = {"hidden": 0, "inducing": 15, "steps": 800, "threads": 1}
    weighted = DeepGPRegressor(**settings).fit(X, y, sample_weight=weights).predict(X)
    repeated = DeepGPRegressor(**settings).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).predict(X)
    plain = DeepGPRegressor(**settings).fit(X, y).predict(X)
    assert np.abs(weighted - repeated).max() < 0.2 * np.abs(plain - repeated).max()


def test_input_deviations_widen_the_prediction(regressor, sine):
    X, y = sine
    _, sharp = regressor.predict(X, return_std=True)
    _, wide = regressor.predict(X, return_std=True, input_std=np.full(X.shape, 0.5))
    assert (wide > sharp).mean() > 0.9
    np.testing.assert_array_equal(regressor.predict(X, input_std=np.zeros(X.shape)), regressor.predict(X))
    noisy = DeepGPRegressor(**SMALL).fit(X, y, input_std=np.full(X.shape, 0.3))
    assert np.abs(noisy.predict(X) - regressor.predict(X)).max() > 1e-3


def test_scikit_learn_tools_take_it(sine):
    X, y = sine
    search = GridSearchCV(DeepGPRegressor(**SMALL), {"alpha": [0.2, 0.9], "hidden": [0, (2,)]}, cv=2).fit(X, y)
    assert set(search.best_params_) == {"alpha", "hidden"}
    assert len(cross_val_score(make_pipeline(StandardScaler(), DeepGPRegressor(**SMALL)), X, y, cv=3)) == 3
    copy = clone(DeepGPRegressor(alpha=0.3, hidden=(4, 4)))
    assert (copy.alpha, copy.hidden) == (0.3, (4, 4))


def test_what_was_learnt_is_told(regressor):
    assert regressor.summary_["steps"] == 40
    assert regressor.summary_["rows"] == 120
    assert [member["share"] for member in regressor.leaderboard_] == [1.0]
    assert regressor.recipe_["architecture"]["hidden"] == [2]
    relevance = regressor.explain()["y"]
    assert max(relevance, key=relevance.get) == "x1"
    assert [epoch["epoch"] for epoch in regressor.history_] == list(range(1, 41))


def test_a_stack_has_several_members(sine):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(520, 2))
    y = np.sin(X[:, 0])
    model = DeepGPRegressor(stack="always", steps=15, hidden=1, inducing=5).fit(X, y)
    shares = [member["share"] for member in model.leaderboard_]
    assert len(shares) > 1
    assert sum(shares) == pytest.approx(1)
    assert shares == sorted(shares, reverse=True)
