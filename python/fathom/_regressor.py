"""Deep Gaussian processes that predict numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from fathom import _core
from fathom._base import DeepGP, docstring
from fathom._data import numeric_targets, read_frame
from fathom._tables import free_name
from fathom.distribution import PredictiveDistribution, seed_from


class DeepGPRegressor(RegressorMixin, DeepGP):
    __doc__ = docstring("""
A deep Gaussian process that predicts numbers, one target or several, with their uncertainty.

It needs no tuning. Give it the raw table: text becomes categories, dates become numbers, and missing cells need no
imputation.

>>> import numpy as np
>>> from fathom import DeepGPRegressor
>>> rng = np.random.default_rng(0)
>>> X = rng.uniform(-3, 3, size=(80, 1))
>>> y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=80)
>>> model = DeepGPRegressor(hidden=2, inducing=15, steps=300).fit(X, y)
>>> mean, std = model.predict([[0.0], [1.5]], return_std=True)
>>> bool(np.abs(mean - np.sin([0, 1.5])).max() < 0.2)
True
>>> low, high = model.predict_interval([[0.0]], 0.9)
>>> bool(low[0] < 0 < high[0])
True
""")

    @classmethod
    def _require_task(cls, model: _core.Model, path: str) -> None:
        if model.schema()["classes"]:
            raise ValueError(f"{path}: is a model for DeepGPClassifier, not for {cls.__name__}")

    def _dataset(self, X: Any, y: Any, sample_weight: Any, input_std: Any, like: _core.Model | None) -> _core.Dataset:
        frame = read_frame(X)
        targets, target_names = numeric_targets(y, frame.rows)
        names = self._take_columns(frame)
        self._flat = targets.ndim == 1
        targets = targets.reshape(frame.rows, -1)
        if target_names is None:
            count = targets.shape[1]
            target_names = [free_name("y" if count == 1 else f"y{number}", names) for number in range(1, count + 1)]
        table, place, weights = self._training_table(frame, names, target_names, sample_weight)
        table.set_numbers(place, targets)
        return _core.Dataset(table, target_names, weights, False, self._std_table(input_std, frame, names), like)

    def _held_out(self, dataset: _core.Dataset, held_out: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {name: values[:, 0] if self._flat else values for name, values in held_out.items()}

    def _finish_fit(self) -> None:
        super()._finish_fit()
        if not hasattr(self, "_flat"):
            self._flat = len(self.model_.schema()["targets"]) == 1

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False, *, input_std: Any = None,
                latent: bool = False) -> Any:
        """The mean of each row; with `return_std` also its standard deviation, with `return_cov` the rows' covariance.

        All are of the target itself, noise included, in its units; with `latent` of the function without noise. Where
        the target is predicted on a log scale, as ``report()`` says, that function is the logarithm.

        The covariance is [rows, rows], or [rows, rows, targets]; the squares of the standard deviations are on its
        diagonal. It says how far rows that lie close are off together, which a sum or a difference of predictions
        needs. It takes time and memory in the square of the number of rows, of which there may be 8192.
        """
        model = self._require_fitted()
        if return_cov:
            if return_std:
                raise ValueError("return_std and return_cov: ask for one of them; the diagonal of the covariance holds "
                                 "the squares of the standard deviations")
            joint = self._joint(X, input_std, latent)
            covariances = joint.covariances()
            mean = joint.mean()
            return (mean[:, 0], covariances[0]) if self._flat else (mean, np.stack(covariances, axis=-1))
        rows, deviations = self._std_rows(X, input_std, self._rows(X))
        mean, std, _ = model.predict(rows, deviations, _core.PredictOptions(latent), return_std, [])
        if self._flat:
            return (mean[:, 0], std[:, 0]) if return_std else mean[:, 0]
        return (mean, std) if return_std else mean

    def _joint(self, X: Any, input_std: Any, latent: bool) -> _core.JointDistribution:
        model = self._require_fitted()
        rows, deviations = self._std_rows(X, input_std, self._rows(X))
        return model.joint_distribution(rows, deviations, _core.PredictOptions(latent))

    def predict_quantiles(self, X: Any, q: Any = (0.025, 0.5, 0.975), *, input_std: Any = None,
                          latent: bool = False) -> np.ndarray:
        """Quantiles of each row: [rows, len(q)], or [rows, targets, len(q)]; they never cross."""
        model = self._require_fitted()
        probabilities = np.atleast_1d(np.asarray(q, dtype=np.float64))
        rows, deviations = self._std_rows(X, input_std, self._rows(X))
        options = _core.PredictOptions(latent)
        mean, _, quantiles = model.predict(rows, deviations, options, False, probabilities.tolist())
        shaped: np.ndarray = quantiles.reshape(len(mean), -1, len(probabilities))
        shaped = shaped[:, 0] if self._flat else shaped
        return shaped[..., 0] if np.ndim(q) == 0 else shaped

    def predict_interval(self, X: Any, level: float = 0.95, *, input_std: Any = None,
                         latent: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Bounds (low, high) of the central interval that holds the target with probability `level`."""
        if not 0 < level < 1:
            raise ValueError(f"level must be above 0 and below 1, not {level}")
        bounds = self.predict_quantiles(X, [(1 - level) / 2, (1 + level) / 2], input_std=input_std, latent=latent)
        return bounds[..., 0], bounds[..., 1]

    def predict_dist(self, X: Any, *, input_std: Any = None, latent: bool = False, samples: int = 0,
                     random_state: Any = 1) -> PredictiveDistribution:
        """The whole predictive distribution of each row.

        With `samples` the hidden layers are sampled so many times, and the prediction is the mixture.
        """
        model = self._require_fitted()
        rows, deviations = self._std_rows(X, input_std, self._rows(X))
        options = _core.PredictOptions(latent, int(samples), seed_from(random_state))
        return PredictiveDistribution(model.distribution(rows, deviations, options), self._flat)

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0, *, input_std: Any = None,
                 latent: bool = False) -> np.ndarray:
        """Draws of the target at all rows together: [rows, n_samples], or [rows, targets, n_samples].

        They have the covariance that ``predict(X, return_cov=True)`` tells, so a column is one possible world: with
        `latent` one function. ``predict_dist(X).sample()`` draws every row by itself, of any number of rows.
        """
        joint = self._joint(X, input_std, latent)
        draws = joint.draws(int(n_samples), seed_from(random_state))
        return draws if self._flat else draws.reshape(len(draws), joint.outputs, -1)

    def log_density(self, X: Any, y: Any, *, input_std: Any = None) -> np.ndarray:
        """The log density of each row's known target, jointly over several: [rows]."""
        return self.predict_dist(X, input_std=input_std).logpdf(y)

    def evaluate(self, X: Any, y: Any, *, input_std: Any = None) -> dict[str, Any]:
        """Scores on known targets, as ``fathom evaluate``: rmse, mean_log_likelihood, crps, coverage and others.

        Of several targets, those of each are under "targets": their units may differ.
        """
        model = self._require_fitted()
        rows, deviations = self._std_rows(X, input_std, self._rows(X))
        count = rows.rows if isinstance(rows, _core.Table) else len(rows)
        targets = numeric_targets(y, count)[0].reshape(count, -1)
        scores: dict[str, Any] = model.score(rows, deviations, targets)
        if targets.shape[1] > 1:
            scores["targets"] = {}
            for place, name in enumerate(model.schema()["targets"]):
                alone = np.full_like(targets, np.nan)
                alone[:, place] = targets[:, place]
                scores["targets"][name] = model.score(rows, deviations, alone)
        return scores

    def _more_tags(self) -> dict[str, Any]:
        return {**super()._more_tags(), "multioutput": True}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output = True
        tags.target_tags.multi_output = True
        return tags
