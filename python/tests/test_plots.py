"""The plots draw what they say, into the axes that they are given."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from conftest import SMALL

import fathom
from fathom import DeepGPRegressor


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def test_calibration_counts_targets_in_intervals(regressor, sine):
    X, y = sine
    _, given = plt.subplots()
    ax = fathom.plot_calibration(regressor, X, y, ax=given)
    assert ax is given
    levels, covered = ax.lines[1].get_data()
    low, high = regressor.predict_interval(X, 0.9)
    assert covered[np.isclose(levels, 0.9)] == pytest.approx(np.mean((low <= y) & (y <= high)))


def test_pit_is_a_histogram_of_all_targets(regressor, sine):
    ax = fathom.plot_pit(regressor, *sine, bins=8)
    assert len(ax.patches) == 8
    assert sum(patch.get_height() / 8 for patch in ax.patches) == pytest.approx(1)


def test_prediction_draws_mean_and_band(sine):
    X, y = sine
    model = DeepGPRegressor(**SMALL).fit(X[:, :1], y)
    ax = fathom.plot_prediction(model, X[:, :1], y, levels=(0.9,))
    grid, mean = ax.lines[0].get_data()
    np.testing.assert_array_equal(mean, model.predict(np.asarray(grid)[:, None]))
    assert ax.get_ylabel() == "y"
    with pytest.raises(ValueError, match="plot_slices"):
        fathom.plot_prediction(model, X, y)


def test_slices_draw_one_column_each(mixed, regressor, sine):
    frame, y = mixed
    model = DeepGPRegressor(**SMALL).fit(frame, y)
    axes = fathom.plot_slices(model, frame)
    assert [ax.get_xlabel() for ax in axes.ravel()] == ["size", "length"]
    assert axes[0, 0].get_ylabel() == "price"
    assert len(fathom.plot_slices(regressor, sine[0], columns=[2, 0]).ravel()) == 2


def test_relevance_puts_the_strongest_on_top(regressor):
    ax = fathom.plot_relevance(regressor)
    assert [label.get_text() for label in ax.get_yticklabels()][-1] == "x1"


def test_learning_curve_rises(regressor, tmp_path):
    energy = fathom.plot_learning_curve(regressor).lines[0].get_ydata()
    assert energy[-1] > energy[0]
    regressor.save(tmp_path / "m.fathom")
    with pytest.raises(ValueError, match="no history"):
        fathom.plot_learning_curve(fathom.load(tmp_path / "m.fathom"))
