"""The predictive distribution of rows: arrays in, arrays out."""

from __future__ import annotations

from typing import Any

import numpy as np

from fathom import _core


class PredictiveDistribution:
    """What is predicted for each of N rows: a whole distribution, in the units of the training data.

    ``DeepGPRegressor.predict_dist`` makes it. With one target (1-D ``y`` in ``fit``) results have the shape [N]; with
    D targets they have the shape [N, D]. A list of K probabilities or values per row adds a last axis of length K.

    >>> import numpy as np
    >>> from fathom import DeepGPRegressor
    >>> X = np.linspace(0, 1, 40)[:, None]
    >>> dist = DeepGPRegressor(hidden=1, inducing=10, steps=100).fit(X, np.sin(3 * X[:, 0])).predict_dist(X)
    >>> dist.quantile([0.1, 0.9]).shape
    (40, 2)
    >>> bool((dist.cdf(dist.quantile(0.9)).round(6) == 0.9).all())
    True
    """

    def __init__(self, core: _core.Distribution, flat: bool) -> None:
        self._core = core
        self._flat = flat  # one target, given with one axis

    def __len__(self) -> int:
        return self._core.rows

    def __repr__(self) -> str:
        targets = self._core.outputs
        return f"<PredictiveDistribution of {len(self)} rows, {targets} target{'s' if targets > 1 else ''}>"

    @property
    def n_targets(self) -> int:
        """How many targets there are."""
        return self._core.outputs

    @property
    def is_discrete(self) -> bool:
        """Whether the target is a count: then ``pdf`` is a probability, and quantiles are whole numbers."""
        return self._core.discrete

    def mean(self) -> np.ndarray:
        """The mean of each row, [N] or [N, D]."""
        return self._shaped(self._core.mean())

    def std(self) -> np.ndarray:
        """The standard deviation of each row, [N] or [N, D]."""
        return self._shaped(self._core.std())

    def quantile(self, q: Any) -> np.ndarray:
        """The value that the target stays below with probability `q`; a list of K adds a last axis.

        Quantiles of one row never cross: a larger probability has a larger quantile, or the same.
        """
        q = np.asarray(q, dtype=np.float64)
        if q.ndim > 1:
            raise ValueError(f"q must be a number or a list of numbers, not an array with {q.ndim} axes")
        values = self._core.quantiles(np.atleast_1d(q).tolist())
        return self._unpacked(values, None if q.ndim == 0 else len(q))

    def interval(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Bounds (low, high) of the central interval that holds the target with probability `level`."""
        if not 0 < level < 1:
            raise ValueError(f"level must be above 0 and below 1, not {level}")
        bounds = self.quantile([(1 - level) / 2, (1 + level) / 2])
        return bounds[..., 0], bounds[..., 1]

    def cdf(self, y: Any) -> np.ndarray:
        """The probability that each target is at most `y`: a number, one per row, or K per row (a last axis)."""
        values, count = self._packed(y)
        return self._unpacked(self._core.cdf(values), count)

    def logpdf(self, y: Any) -> np.ndarray:
        """The log density of `y`, jointly over the targets of a row: [N], or [N, K] for K values per row."""
        values, count = self._packed(y)
        density = self._core.log_density(values)
        return density[:, 0] if count is None else density

    def pdf(self, y: Any) -> np.ndarray:
        """The density of `y`; see `logpdf`."""
        return np.exp(self.logpdf(y))

    def crps(self, y: Any) -> np.ndarray:
        """The continuous ranked probability score of each `y`; smaller is better."""
        values, count = self._packed(y)
        return self._unpacked(self._core.crps(values), count)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Draws from the distribution: [N, n_samples], or [N, D, n_samples]. Rows and targets are drawn one by one.

        `random_state` is a seed, a NumPy RandomState or Generator, or None for draws that differ each time.
        """
        draws = self._core.draws(int(n_samples), seed_from(random_state))
        return self._unpacked(draws, int(n_samples))

    def _shaped(self, values: np.ndarray) -> np.ndarray:
        return values[:, 0] if self._flat else values

    def _unpacked(self, values: np.ndarray, count: int | None) -> np.ndarray:
        """[N, D K] as [N, D, K], without the axes that were not asked for."""
        values = values.reshape(len(self), self._core.outputs, -1)
        values = values[:, 0] if self._flat else values
        return values[..., 0] if count is None else values

    def _packed(self, y: Any) -> tuple[np.ndarray, int | None]:
        """`y`, spread over rows and targets, as [N, D K]; and K, or None if there is no such axis."""
        y = np.asarray(y, dtype=np.float64)
        axes = 1 if self._flat else 2
        shape: tuple[int, ...] = (len(self),) if self._flat else (len(self), self._core.outputs)
        count = y.shape[-1] if y.ndim > axes else None
        try:
            spread = np.broadcast_to(y, shape if count is None else (*shape, count))
        except ValueError:
            raise ValueError(f"y has the shape {y.shape}, which does not fit the {shape} of the prediction") from None
        return np.ascontiguousarray(spread).reshape(len(self), -1), count


def seed_from(random_state: Any) -> int:
    """A seed from what scikit-learn and NumPy call a random state."""
    if random_state is None:
        return int(np.random.default_rng().integers(2**31))
    if hasattr(random_state, "integers"):
        return int(random_state.integers(2**31))
    if hasattr(random_state, "randint"):
        return int(random_state.randint(2**31))
    return int(random_state)
