"""From what users hold to tables of the C++ library: those to learn from, and those to predict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from fathom import _core
from fathom._data import Frame, Reading, column_vector, read_frame, tell
from fathom._parameters import RecipeParameters


class TableMaker(RecipeParameters):
    """The part of an estimator that knows columns: their names, which are categories, and which of them are bits."""

    model_: _core.Model
    n_features_in_: int
    feature_names_in_: np.ndarray

    # Learning

    def _take_columns(self, frame: Frame) -> list[str]:
        """Notes the columns of a training table; returns their names, made up where they have none."""
        if frame.rows < 2:
            raise ValueError("X has 1 sample (n_samples=1), but at least 2 rows are needed to learn from")
        self.n_features_in_ = frame.width
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if frame.names is not None:
            self.feature_names_in_ = np.array(frame.names, dtype=object)
            return frame.names
        return made_up_names(frame.width)

    def _training_table(self, frame: Frame, names: list[str], targets: list[str], sample_weight: Any,
                        ) -> tuple[_core.Table, int, str]:
        """A table with room for the targets, the place of the first, and the name of the column of weights, if any."""
        for name in targets:
            if name in names:
                raise ValueError(f"X has a column '{name}', which is the name of the target; leave it out of X, as "
                                 f"with X.drop(columns='{name}')")
        bits = dict.fromkeys(self._places("bits", names), 0)
        inputs = [name for place, name in enumerate(names) if place not in bits]
        columns = [*inputs, *targets]
        weights = ""
        if sample_weight is not None:
            weights = free_name("sample_weight", columns)
            columns.append(weights)
        table = _core.Table("X", frame.rows, columns, 0 if frame.names or bits else len(names))
        categories = {names[place] for place in self._places("categorical", names)}
        frame.fill(table, names, [Reading("names" if name in categories else "find") for name in names], bits)
        if sample_weight is not None:
            vector = column_vector(sample_weight, frame.rows, "sample_weight")
            table.set_numbers(len(columns) - 1, vector[:, None])
        for name in categories:
            table.make_texts(columns.index(name))
        return table, len(inputs), weights

    def _places(self, role: str, names: list[str]) -> list[int]:
        """Where the columns stand that a parameter names, by their names or their numbers from 0."""
        places = []
        columns = getattr(self, role)
        for column in columns if columns is not None else []:
            if isinstance(column, str) and column not in names:
                raise ValueError(f"{role}: X has no column '{column}'; the columns are {', '.join(names)}")
            place = names.index(column) if isinstance(column, str) else int(column)
            if not -len(names) <= place < len(names):
                raise ValueError(f"{role}: X has no column number {place}; it has {len(names)} columns")
            places.append(place % len(names))
        return places

    def _std_table(self, input_std: Any, frame: Frame, names: list[str]) -> _core.Table | None:
        """Standard deviations of the cells, of the shape of X. NaN and 0 mean that a cell is known exactly."""
        if input_std is None:
            return None
        deviations = read_frame(input_std, "input_std")
        if (deviations.rows, deviations.width) != (frame.rows, frame.width):
            raise ValueError(f"input_std has the shape ({deviations.rows}, {deviations.width}) where X has "
                             f"({frame.rows}, {frame.width}); give one standard deviation for each cell")
        if deviations.array is None:
            raise ValueError("input_std holds text; give numbers from 0 on, and NaN where there is none")
        # A column without any deviation may hold categories, which have none.
        used = [place for place in range(frame.width) if np.any(np.nan_to_num(deviations.array[:, place]) != 0)]
        if not used:
            return None
        table = _core.Table("input_std", frame.rows, [names[place] for place in used], 0)
        table.set_numbers(0, deviations.array[:, used])
        return table

    # Predicting

    def _require_fitted(self) -> _core.Model:
        try:
            return self.__dict__["model_"]
        except KeyError:
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate "
                                 f"arguments before using this estimator.") from None

    def _learn_columns(self) -> None:
        """Finds out whether rows of numbers can go to the model as they are."""
        schema = self.model_.schema()
        self._plain = not any(levels or written for _, levels, written in schema["inputs"])

    def _rows(self, X: Any) -> Any:
        """What the model reads: an array, or a table with the columns that it knows by their names."""
        columns = self.__dict__.get("feature_names_in_")
        # The common case, and the shortest way.
        if (type(X) is np.ndarray and X.dtype == np.float64 and X.ndim == 2 and len(X) > 0 and columns is None
                and self.__dict__.get("_plain") and X.shape[1] == self.n_features_in_):
            return X
        model = self._require_fitted()
        frame = read_frame(X)
        if columns is not None and frame.names is not None:
            return self._named_rows(frame, list(columns))
        if frame.width != self.n_features_in_:
            raise ValueError(f"X has {frame.width} features, but {type(self).__name__} is expecting "
                             f"{self.n_features_in_} features as input.")
        if columns is not None:
            tell(f"X does not have valid feature names, but {type(self).__name__} was fitted with feature names",
                 UserWarning)
        elif frame.names is not None:
            tell(f"X has feature names, but {type(self).__name__} was fitted without feature names", UserWarning)
        if frame.array is not None and self._plain:
            return frame.array
        return self._table_of(frame, model.schema()["columns"])

    def _named_rows(self, frame: Frame, columns: list[str]) -> _core.Table:
        """Columns are found by name, in any order."""
        names = frame.names or []
        bits = self.model_.bit_columns(names)
        missing = [name for name in columns if name not in names and name.rpartition(":")[0] not in bits]
        unseen = [name for name in names if name not in columns] if self._knows_all_columns() else []
        if missing or unseen:
            text = "The feature names should match those that were passed during fit.\n"
            if unseen:
                text += "Feature names unseen at fit time:\n" + "".join(f"- {name}\n" for name in unseen[:5])
            if missing:
                text += "Feature names seen at fit time, yet now missing:\n"
                text += "".join(f"- {name}\n" for name in missing[:5])
            raise ValueError(text)
        return self._table_of(frame, names)

    def _table_of(self, frame: Frame, names: Sequence[str]) -> _core.Table:
        """Each column as the training has read it: what were names or dates there are so here."""
        model = self.model_
        known = {name: (levels, written) for name, levels, written in model.schema()["inputs"]}
        readings = []
        for name in names:
            if name not in known:  # the training has left it out
                readings.append(Reading("unused"))
            else:
                written = known[name][1]
                readings.append(Reading("names") if written is None else Reading("written", written))
        bits = {list(names).index(name): needed for name, needed in model.bit_columns(list(names)).items()}
        columns = [name for place, name in enumerate(names) if place not in bits]
        table = _core.Table(frame.what, frame.rows, columns, 0)
        frame.fill(table, names, readings, bits)
        for name, (levels, _) in known.items():
            if levels:  # which may look like numbers, and be all numbers here
                table.make_texts(columns.index(name))
        for note in model.notes(table):
            tell(note)
        return table

    def _knows_all_columns(self) -> bool:
        """A model of the program notes only the columns that it uses."""
        return "columns" in self.model_.settings

    def _std_rows(self, X: Any, input_std: Any, rows: Any) -> tuple[Any, _core.Table | None]:
        """The rows as a table, which standard deviations need, and these."""
        if input_std is None:
            return rows, None
        frame = read_frame(X)
        names = frame.names if frame.names and hasattr(self, "feature_names_in_") else self._columns
        deviations = self._std_table(input_std, frame, names)
        used = {name for name, *_ in self.model_.schema()["inputs"]}
        if deviations is not None and not used & set(deviations.columns):
            deviations = None  # of columns that the training has left out
        return (rows if isinstance(rows, _core.Table) else self._table_of(frame, names)), deviations

    @property
    def _columns(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return made_up_names(self.n_features_in_) if names is None else list(names)


def made_up_names(count: int) -> list[str]:
    return [f"x{number}" for number in range(1, count + 1)]


def free_name(wanted: str, taken: Sequence[str]) -> str:
    while wanted in taken:
        wanted += "_"
    return wanted
