"""Figures by matplotlib. Each function draws into `ax`, or into new axes, and returns them."""

from __future__ import annotations

from typing import Any

import numpy as np


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plots need matplotlib: pip install matplotlib") from None
    return plt.subplots()[1]


def _pit(model: Any, X: Any, y: Any) -> np.ndarray:
    """Predicted probability of staying below each known target."""
    return model.predict_dist(X).cdf(np.asarray(y, dtype=np.float64)).ravel()


def plot_calibration(model: Any, X: Any, y: Any, *, ax: Any = None) -> Any:
    """How many targets lie in the central interval of each level: on the diagonal, if the model is honest.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> import numpy as np
    >>> from fathom import DeepGPRegressor, plot_calibration
    >>> X = np.linspace(0, 1, 50)[:, None]
    >>> y = np.sin(4 * X[:, 0])
    >>> ax = plot_calibration(DeepGPRegressor(hidden=1, inducing=10, steps=50).fit(X, y), X, y)
    >>> ax.get_xlabel()
    'level of the interval'
    """
    ax = _axes(ax)
    distance = np.sort(np.abs(2 * _pit(model, X, y) - 1))
    levels = np.linspace(0, 1, 101)
    covered = np.searchsorted(distance, levels, side="right") / len(distance)
    ax.plot([0, 1], [0, 1], color="0.7", linestyle="--", label="honest")
    ax.plot(levels, covered, label=type(model).__name__)
    ax.set(xlabel="level of the interval", ylabel="share of targets inside", xlim=(0, 1), ylim=(0, 1))
    ax.legend()
    return ax


def plot_pit(model: Any, X: Any, y: Any, *, bins: int = 10, ax: Any = None) -> Any:
    """Histogram of the predicted probability of staying below each target: flat, if the model is honest.

    A hill says that intervals are too wide, a valley that they are too narrow.
    """
    ax = _axes(ax)
    ax.hist(_pit(model, X, y), bins=np.linspace(0, 1, bins + 1), density=True, color="C0", edgecolor="white")
    ax.axhline(1, color="0.4", linestyle="--")
    ax.set(xlabel="predicted probability of staying below the target", ylabel="density", xlim=(0, 1))
    return ax


def _band(ax: Any, grid: np.ndarray, dist: Any, levels: tuple[float, ...], **style: Any) -> None:
    for level in sorted(levels, reverse=True):
        low, high = dist.interval(level)
        ax.fill_between(grid, low, high, alpha=0.25, linewidth=0, label=f"{100 * level:g} %", **style)
    ax.plot(grid, dist.mean(), label="mean", **style)


def plot_prediction(model: Any, X: Any, y: Any = None, *, levels: tuple[float, ...] = (0.5, 0.95), points: int = 200,
                    ax: Any = None) -> Any:
    """Mean and intervals of a model with one input column, over the range of `X`; with `y` also the data."""
    ax = _axes(ax)
    name = str(getattr(X, "columns", ["x"])[0])
    column = np.asarray(X, dtype=np.float64)
    if column.ndim != 2 or column.shape[1] != 1:
        raise ValueError(f"plot_prediction draws over one column, and X has the shape {column.shape}; use plot_slices")
    margin = 0.05 * np.ptp(column)
    grid = np.linspace(column.min() - margin, column.max() + margin, points)
    _band(ax, grid, model.predict_dist(_like(X, grid[:, None])), levels, color="C0")
    if y is not None:
        ax.plot(column[:, 0], np.asarray(y), ".", color="0.2", markersize=4, label="data")
    ax.set(xlabel=name, ylabel=_target(model))
    ax.legend()
    return ax


def plot_slices(model: Any, X: Any, columns: Any = None, *, levels: tuple[float, ...] = (0.95,), points: int = 100,
                ax: Any = None) -> Any:
    """How the prediction changes with each column of numbers, the others at the median row of `X`.

    `ax` is a list of axes, one for each of `columns` (names or numbers; all columns of numbers if None).
    """
    frame = X if hasattr(X, "iloc") else np.asarray(X, dtype=np.float64)
    names = [str(name) for name in X.columns] if hasattr(X, "iloc") else [f"x{k + 1}" for k in range(frame.shape[1])]
    numbers = [k for k in range(len(names)) if _column(frame, k).dtype.kind in "iuf"]
    wanted = numbers if columns is None else [names.index(c) if isinstance(c, str) else int(c) for c in columns]
    if not wanted:
        raise ValueError("plot_slices: X has no columns of numbers")
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(1, len(wanted), figsize=(3.2 * len(wanted), 3), sharey=True, squeeze=False)
    for place, axes in zip(wanted, np.ravel(ax)):
        values = np.asarray(_column(frame, place), dtype=np.float64)
        grid = np.linspace(np.nanmin(values), np.nanmax(values), points)
        _band(axes, grid, model.predict_dist(_slice(frame, place, grid)), levels, color="C0")
        axes.set(xlabel=names[place])
    np.ravel(ax)[0].set(ylabel=_target(model))
    return ax


def plot_relevance(model: Any, *, ax: Any = None) -> Any:
    """How strongly the prediction depends on each input, the strongest on top; see ``explain``."""
    ax = _axes(ax)
    explained = model.explain()
    names = list(next(iter(explained.values())))
    order = sorted(names, key=lambda name: max(shares[name] for shares in explained.values()))
    height = 0.8 / len(explained)
    for number, (target, shares) in enumerate(explained.items()):
        places = np.arange(len(order)) - 0.4 + height * (number + 0.5)
        ax.barh(places, [shares[name] for name in order], height, label=target)
    ax.set_yticks(np.arange(len(order)), order)
    ax.set(xlabel="relevance", xlim=(0, 1.05))
    if len(explained) > 1:
        ax.legend()
    return ax


def plot_learning_curve(model: Any, *, ax: Any = None) -> Any:
    """What the training maximises, after each pass over the table; one line for each network of a stack."""
    if not model.history_:
        raise ValueError("plot_learning_curve: a model that was loaded from a file has no history")
    ax = _axes(ax)
    for stage in sorted({epoch["stage"] for epoch in model.history_}):
        passes = [epoch for epoch in model.history_ if epoch["stage"] == stage]
        ax.plot([epoch["step"] for epoch in passes], [epoch["energy_per_row"] for epoch in passes])
    ax.set(xlabel="step", ylabel="energy per row")
    return ax


def _target(model: Any) -> str:
    targets = model.model_.schema()["targets"]
    if len(targets) > 1:
        raise ValueError(f"this plot draws one target, and the model has {len(targets)}")
    return str(targets[0])


def _column(frame: Any, place: int) -> Any:
    return frame.iloc[:, place] if hasattr(frame, "iloc") else frame[:, place]


def _like(X: Any, values: np.ndarray) -> Any:
    """`values` as a frame with the columns of `X`, if that is one."""
    return type(X)(values, columns=X.columns) if hasattr(X, "iloc") else values


def _slice(frame: Any, place: int, grid: np.ndarray) -> Any:
    """Rows that differ in one column. The others have the median of their numbers, or their most frequent value."""
    if not hasattr(frame, "iloc"):
        rows = np.tile(np.nanmedian(frame, axis=0), (len(grid), 1))
        rows[:, place] = grid
        return rows
    middle = [frame.iloc[:, k].median() if frame.dtypes.iloc[k].kind in "iuf" else frame.iloc[:, k].mode().iloc[0]
              for k in range(frame.shape[1])]
    columns = {name: [value] * len(grid) for name, value in zip(frame.columns, middle)}
    columns[frame.columns[place]] = list(grid)
    rows = type(frame)(columns)
    for k, name in enumerate(frame.columns):
        if k != place and frame.dtypes.iloc[k].kind not in "iuf":
            rows[name] = rows[name].astype(frame.dtypes.iloc[k])
    return rows
