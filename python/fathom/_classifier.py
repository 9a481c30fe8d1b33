"""Deep Gaussian processes that predict classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets

from fathom import _core
from fathom._base import DeepGP, docstring
from fathom._data import labels_of, read_frame, require_length, require_targets, tell, text_of
from fathom._tables import free_name


class DeepGPClassifier(ClassifierMixin, DeepGP):
    __doc__ = docstring("""
A deep Gaussian process that predicts classes, with their probabilities.

>>> import numpy as np
>>> from fathom import DeepGPClassifier
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(80, 2))
>>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
>>> model = DeepGPClassifier(hidden=2, inducing=20, steps=200).fit(X, y)
>>> model.predict([[1.0, 1.0], [1.0, -1.0]]).tolist()
['same', 'other']
>>> model.predict_proba([[1.0, 1.0]]).shape
(1, 2)
""", "classes_ : the labels, sorted; columns of predict_proba are in their order")

    classes_: np.ndarray

    @classmethod
    def _require_task(cls, model: _core.Model, path: str) -> None:
        if not model.schema()["classes"]:
            raise ValueError(f"{path}: is a model for DeepGPRegressor, not for {cls.__name__}")

    def _dataset(self, X: Any, y: Any, sample_weight: Any, input_std: Any, like: _core.Model | None) -> _core.Dataset:
        frame = read_frame(X)
        require_targets(y)
        name = getattr(y, "name", None)
        labels = _labels(y, frame.rows)
        if len(np.unique(labels)) < 2 and like is None:
            raise ValueError(f"y holds one class only, {labels[0]!r}; add rows of another class")
        names = self._take_columns(frame)
        target = free_name("y", names) if name is None or callable(name) else str(name)
        table, place, weights = self._training_table(frame, names, [target], sample_weight)
        classes, codes = np.unique(labels, return_inverse=True)
        texts = [text_of(label) for label in classes]
        table.set_categories(place, texts, codes.reshape(-1))
        if like is None and len(table.levels(place)) != len(classes):
            raise ValueError(f"y: two of the labels {texts} are one and the same text, or stand for a missing cell; "
                             f"rename them")
        if like is None:
            self.classes_ = classes
        return _core.Dataset(table, [target], weights, True, self._std_table(input_std, frame, names), like)

    def _held_out(self, dataset: _core.Dataset, held_out: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {"probability": held_out["probability"][:, self._order_of(dataset.classes)]}

    def _order_of(self, of_model: list[str]) -> np.ndarray:
        """The place of each label among the classes of a model, which come in an order of their own."""
        places = {text: place for place, text in enumerate(of_model)}
        return np.array([places[text_of(label).strip()] for label in self.classes_])

    def _finish_fit(self) -> None:
        super()._finish_fit()
        of_model = self.model_.schema()["classes"]
        if hasattr(self, "classes_"):
            self._order = self._order_of(of_model)
        else:  # of a file
            labels = labels_of(of_model)
            self._order = np.argsort(labels)
            self.classes_ = labels[self._order]

    def predict_proba(self, X: Any, *, input_std: Any = None) -> np.ndarray:
        """The probability of each class: [rows, classes], in the order of ``classes_``."""
        model = self._require_fitted()
        rows, deviations = self._std_rows(X, input_std, self._rows(X))
        return model.predict_classes(rows, deviations, _core.PredictOptions())[:, self._order]

    def predict_log_proba(self, X: Any, *, input_std: Any = None) -> np.ndarray:
        """The logarithm of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, input_std=input_std))

    def predict(self, X: Any, *, input_std: Any = None) -> np.ndarray:
        """The most probable class of each row."""
        self._require_fitted()
        return self.classes_[np.argmax(self.predict_proba(X, input_std=input_std), axis=1)]

    def evaluate(self, X: Any, y: Any, *, input_std: Any = None) -> dict[str, float]:
        """Scores on known classes, as ``fathom evaluate``: accuracy, mean_log_likelihood, brier and others."""
        model = self._require_fitted()
        rows, deviations = self._std_rows(X, input_std, self._rows(X))
        labels = _labels(y, rows.rows if isinstance(rows, _core.Table) else len(rows))
        unknown = np.setdiff1d(labels, self.classes_)
        if len(unknown):
            raise ValueError(f"y: {unknown[0]!r} is none of the classes {self.classes_.tolist()}, but scores need the "
                             f"true class")
        places = self._order[np.searchsorted(self.classes_, labels)]
        return model.score(rows, deviations, places.astype(np.float64)[:, None])


def _labels(y: Any, rows: int) -> np.ndarray:
    """Class labels, one per row."""
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        tell("A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,), "
             "for example using ravel().", DataConversionWarning)
        labels = labels.ravel()
    if labels.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {labels.shape} instead.")
    require_length(labels, rows, "y")
    if labels.dtype.kind == "f":
        if np.isnan(labels).any():
            raise ValueError("Input y contains NaN; leave out the rows without a class, as with X[~np.isnan(y)]")
        if np.isinf(labels).any():
            raise ValueError("Input y contains infinity or a value too large for dtype('float64'). Leave out these "
                             "rows, as with X[np.isfinite(y)]")
    if labels.dtype.kind == "O":
        missing = [row for row, label in enumerate(labels) if label is None or label != label]
        if missing:
            raise ValueError(f"Input y contains NaN, first in row {missing[0] + 1}; leave out the rows without a class")
    try:
        check_classification_targets(labels)
    except ValueError as error:
        raise ValueError(f"{error} The classes of y must be strings or whole numbers: for other numbers use "
                         f"DeepGPRegressor") from None
    return labels
