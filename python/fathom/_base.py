"""What the regressor and the classifier share: training, what was learnt, files."""

from __future__ import annotations

import json
import os
from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, clone

from fathom import _core
from fathom._data import require_length, tell
from fathom._parameters import PARAMETERS, describe_parameters
from fathom._progress import Callback, ProgressBar
from fathom._tables import TableMaker

Self = TypeVar("Self", bound="DeepGP")

# Checks of scikit-learn that do not hold, each with its reason. Weights do count rows: see test_predictions.py.
_ORDER = ("The check also shuffles or repeats the rows, and the training starts from rows that it draws by their "
          "places. So it ends near the other one, but not within 1e-7.")
EXPECTED_FAILURES = {
    "check_sample_weights_invariance": _ORDER,  # its part about weights of 0; up to scikit-learn 1.5
    "check_sample_weight_equivalence_on_dense_data": _ORDER,  # since 1.6
}

_ATTRIBUTES = """\
model_ : the trained model of the C++ library
n_features_in_, feature_names_in_ : as in scikit-learn
summary_ : dict, how the training went
leaderboard_ : list of dicts, the members of the model and their shares
recipe_ : dict, the recipe that the model was made with
history_ : list of dicts, one for each pass over the table
notes_ : list of str, what was noticed about the data"""


def docstring(text: str, attributes: str = "") -> str:
    """The docstring of an estimator: its own text, the parameters of the recipe, and the attributes."""
    parts = [text.strip(), "", "Parameters", "----------", describe_parameters(), "", "Attributes", "----------"]
    return "\n".join([*parts, *([attributes] if attributes else []), _ATTRIBUTES]) + "\n"


class DeepGP(TableMaker, BaseEstimator):
    """An estimator, whatever it predicts."""

    # Training

    def _dataset(self, X: Any, y: Any, sample_weight: Any, input_std: Any, like: _core.Model | None) -> _core.Dataset:
        raise NotImplementedError

    def _train(self: Self, dataset: _core.Dataset, how: str, callback: Callback | None, checkpoint: Any,
               checkpoint_every: float) -> Self:
        """Trains, and keeps the model even if Python threw meanwhile; then throws that again."""
        _warn_of_ranks()
        recipe = self._recipe()
        bar = ProgressBar(callback) if self.verbose else None
        options = _core.WatchOptions(
            callback=bar or callback,
            checkpoint="" if checkpoint is None else os.fspath(checkpoint),
            checkpoint_interval=float(checkpoint_every),
            settings={"estimator": [type(self).__name__], "columns": self._columns},
            threads=recipe.threads,
        )
        for note in dataset.notes:
            tell(note)
        try:
            if how == "resume":
                model, history, thrown = _core.resume(dataset, options)
            elif how == "update":
                model, history, thrown = _core.update(self.model_, dataset, int(self.steps), options)
            else:
                model, history, thrown = _core.fit(dataset, recipe, options)
        finally:
            if bar is not None:
                bar.close()
        self.model_ = model
        self.notes_ = dataset.notes
        self.history_ = [_epoch(epoch) for epoch in history]
        self._finish_fit()
        if thrown is not None:
            raise thrown
        return self

    def _finish_fit(self) -> None:
        """Keeps what else is needed of the model to predict."""
        self._learn_columns()

    def fit(self: Self, X: Any, y: Any, sample_weight: Any = None, *, input_std: Any = None,
            callback: Callback | None = None, checkpoint: Any = None, checkpoint_every: float = 30.0) -> Self:
        """Learns from a table.

        Parameters
        ----------
        X : array-like or data frame of shape (rows, columns)
            Strings and truth values become categories. NaN and None are missing cells, which need no imputation: they
            enter as the distribution of their column.
        y : array-like of shape (rows,), or (rows, targets) for a regression of several
            Of several targets a row may lack some (NaN): it teaches the others.
        sample_weight : array-like of shape (rows,), optional
            How many rows each row counts as. Rows of weight 0 are left out.
        input_std : array-like of the shape of X, optional
            Standard deviations of the cells of X, in the same units.
        callback : callable, optional
            Is called after each step with an object that has ``step``, ``steps``, ``energy_per_row``,
            ``learning_rate``, ``seconds`` and ``fraction``. If it returns False the training ends there, with a model
            that can be used.
        checkpoint : path, optional
            A file that is written now and then, and when the training is interrupted. ``resume`` continues from it.
            It is removed when the training is finished.
        checkpoint_every : float
            Seconds between two times that it is written.

        Returns
        -------
        self
            Ctrl-C leaves a fitted estimator, too, whose model is the one so far.
        """
        again = self.warm_start and hasattr(self, "model_")
        dataset = self._dataset(X, y, sample_weight, input_std, self.model_ if again else None)
        return self._train(dataset, "update" if again else "fit", callback, checkpoint, checkpoint_every)

    def resume(self: Self, X: Any, y: Any, sample_weight: Any = None, *, checkpoint: Any, input_std: Any = None,
               callback: Callback | None = None, checkpoint_every: float = 30.0) -> Self:
        """Continues a training that was stopped, from its checkpoint file and with the same data.

        It ends with the same bits as a training that was never stopped.
        """
        if not os.path.exists(checkpoint):
            raise ValueError(f"{os.fspath(checkpoint)}: there is no such checkpoint; it is removed when the training "
                             f"is finished")
        dataset = self._dataset(X, y, sample_weight, input_std, None)
        return self._train(dataset, "resume", callback, checkpoint, checkpoint_every)

    def cross_validate(self, X: Any, y: Any, sample_weight: Any = None, *, folds: int = 5, groups: Any = None,
                       fold: Any = None, order: Any = None, input_std: Any = None) -> dict[str, Any]:
        """How well these parameters predict rows that they have not seen, as ``fathom cv``. Leaves no model behind.

        Parameters
        ----------
        folds : int
            The rows are held out in so many parts, one after the other. Folds run side by side.
        groups : array-like of shape (rows,), optional
            Rows of one group are held out together.
        fold : array-like of shape (rows,), optional
            The fold of each row, instead of folds by chance.
        order : array-like of shape (rows,), optional
            Times: every fold learns only from rows before those that it predicts.

        Returns
        -------
        dict
            "mean" and "standard_error" of every score over the folds, and "folds", the scores of each; of numbers
            also "linear", the same of a linear regression on the same folds, and with several targets "targets", the
            same of each. "held_out" has what the model that has not seen a row predicts for it: "mean" and "std", or
            "probability"; and "fold", -1 for a row that was never held out.
        """
        again = clone(self)
        dataset = again._dataset(X, y, sample_weight, input_std, None)
        rows = len(y)
        parts = {"groups": groups, "given": fold, "order": order}
        given = [kind for kind, values in parts.items() if values is not None]
        if len(given) > 1:
            raise ValueError("groups, fold, order: give one of them")
        kind = given[0] if given else "chance"
        numbers = np.zeros(0) if not given else _numbered(parts[kind], rows, "fold" if kind == "given" else kind)
        scores, held_out, fold_of_row, thrown = _core.cross_validate(
            dataset, again._recipe(), _core.FoldPlan(kind, int(folds), numbers), rows)
        if thrown is not None:
            raise thrown
        scores["held_out"] = again._held_out(dataset, held_out)
        scores["held_out"]["fold"] = np.nan_to_num(fold_of_row, nan=-1).astype(np.int64)
        return scores

    def _held_out(self, dataset: _core.Dataset, held_out: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The predictions of a cross-validation in the shapes of ``predict``."""
        raise NotImplementedError

    # What was learnt

    @property
    def summary_(self) -> dict[str, Any]:
        """How the training went: rows, steps, seconds, why it ended, noise, columns; as ``fathom fit --json``."""
        report: dict[str, Any] = json.loads(self._require_fitted().report())
        del report["model"], report["notes"], report["dropped_rows"]
        return report

    @property
    def leaderboard_(self) -> list[dict[str, Any]]:
        """The members of the model, those with the largest shares first."""
        return sorted(self.summary_["stack"], key=lambda member: -member["share"])

    @property
    def recipe_(self) -> dict[str, Any]:
        """The recipe that the model was made with, every field."""
        recipe: dict[str, Any] = json.loads(self._require_fitted().recipe())
        return recipe

    def explain(self) -> dict[str, dict[str, float]]:
        """How strongly each target depends on each input: 1 for the strongest.

        The measure is the root mean square slope of the prediction per standard deviation of the input. Categories
        have an entry for each of their values ('colour=red').
        """
        model = self._require_fitted()
        schema = model.schema()
        share = model.relevance()["share"]
        return {target: dict(zip(schema["features"], map(float, row))) for target, row in zip(schema["targets"], share)}

    def lengthscales(self) -> dict[str, float]:
        """The distance in each input, in its units, over which the prediction changes; infinite if it never does."""
        model = self._require_fitted()
        return dict(zip(model.schema()["features"], map(float, model.relevance()["lengthscale"])))

    def report(self) -> str:
        """What the model is and how its training went, in lines for people, as ``fathom fit`` prints them."""
        return self._require_fitted().report_text().rpartition("model ")[0].rstrip() + "\n"

    def outside(self, X: Any) -> np.ndarray:
        """In how many columns each row lies beyond the rows of the training: [rows] of integers.

        Where it is above 0 the model extrapolates. Predictions there follow the trend that held at the edges of the
        table, and error bars grow with the distance. Missing cells lie inside.
        """
        model = self._require_fitted()
        rows = self._rows(X)
        counts: np.ndarray = model.outside(rows)
        if len(counts) == 0 and (rows.rows if isinstance(rows, _core.Table) else len(rows)) > 0:
            raise ValueError("the model was made by an older fathom and does not know the range of its inputs; "
                             "fit it anew")
        return counts.astype(np.int64)

    # Files

    def save(self, path: Any) -> None:
        """Writes the model file of the program ``fathom``. `fathom.load` reads it."""
        self._require_fitted().save(os.fspath(path))

    @classmethod
    def load(cls: type[Self], path: Any) -> Self:
        """Reads a model file, written by ``save`` or by the program."""
        model = _core.Model.load(os.fspath(path), 0)
        cls._require_task(model, os.fspath(path))
        return cls._from_model(model)

    @classmethod
    def _require_task(cls, model: _core.Model, path: str) -> None:
        raise NotImplementedError

    @classmethod
    def _from_model(cls: type[Self], model: _core.Model) -> Self:
        estimator = cls()
        recipe = json.loads(model.recipe())
        for name, parameter in PARAMETERS.items():
            if parameter.field is None:
                continue
            value = recipe
            for key in parameter.field.split("."):
                value = value[key]
            setattr(estimator, name, tuple(value) if isinstance(value, list) else value)
        schema = model.schema()
        estimator.model_ = model
        estimator.n_features_in_ = len(schema["columns"])
        if not schema["unnamed_columns"]:
            estimator.feature_names_in_ = np.array(schema["columns"], dtype=object)
        estimator.notes_ = []
        estimator.history_ = []
        estimator._finish_fit()
        return estimator

    def export(self, language: str = "c", name: str = "model") -> str:
        """The model as text for programs without Fathom: a C99 header ('c'), or everything as JSON ('json')."""
        model = self._require_fitted()
        if language == "c":
            return model.export_c(name)
        if language == "json":
            return model.export_json()
        raise ValueError(f"language must be 'c' or 'json', not '{language}'")

    # What scikit-learn asks

    def _more_tags(self) -> dict[str, Any]:  # before scikit-learn 1.6
        return {"allow_nan": True, "_xfail_checks": EXPECTED_FAILURES}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _warn_of_ranks() -> None:
    """Says that mpirun does not make one training of many."""
    for variable in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE"):
        ranks = os.environ.get(variable, "1")
        if ranks.isdigit() and int(ranks) > 1:
            tell(f"mpirun has started {ranks} processes, and each of them trains a whole model by itself; to train one "
                 f"model on all of them, run 'mpirun -n {ranks} fathom fit' and load its file with fathom.load",
                 RuntimeWarning)
            return


def _numbered(values: Any, rows: int, what: str) -> np.ndarray:
    """A number for each row; strings are numbered in their order."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{what} must have one axis (1D array), not {array.ndim}")
    require_length(array, rows, what)
    if array.dtype.kind in "mM":
        array = array.astype(np.int64)
    return array.astype(np.float64) if array.dtype.kind in "biuf" else np.unique(array, return_inverse=True)[1] * 1.0


def _epoch(epoch: _core.Epoch) -> dict[str, Any]:
    keys = ("stage", "epoch", "step", "energy_per_row", "learning_rate", "seconds")
    return {key: getattr(epoch, key) for key in keys}
