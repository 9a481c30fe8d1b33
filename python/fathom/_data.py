"""What users hold, as tables of the C++ library: arrays, data frames, labels and weights."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from fathom import _core


class DataWarning(UserWarning):
    """Something about the data that is no error: a column left out, values that the training has not seen."""


def tell(text: str, category: type[Warning] = DataWarning) -> None:
    """Warns, and shows the line of the user's that has called us, however deep we are."""
    level = 2
    while (frame := sys._getframe(level - 1)).f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        level += 1
    warnings.warn(text, category, stacklevel=level)


def _is_ours(module: str) -> bool:
    return module.split(".")[0] in ("fathom", "sklearn")


class Reading(NamedTuple):
    """How a column is to be read: strings as names of categories, as dates and the like if they are such, or as the
    training has read them; or not at all."""

    how: str  # "names", "find", "written" or "unused"
    written: _core.CellFormat | None = None


class Frame:
    """Rows and columns as a user gave them, looked at but not converted yet.

    ``array`` is there if all cells are numbers of one array; otherwise ``columns`` has one array or pandas Series
    each. ``names`` is None where the columns have no names.
    """

    def __init__(self, what: str, rows: int, names: list[str] | None, columns: list[Any] | None = None,
                 array: np.ndarray | None = None) -> None:
        self.what = what
        self.rows = rows
        self.names = names
        self.columns = columns
        self.array = array

    @property
    def width(self) -> int:
        return self.array.shape[1] if self.array is not None else len(self.columns or [])

    def fill(self, table: _core.Table, names: Sequence[str], readings: Sequence[Reading],
             bits: Mapping[int, int]) -> None:
        """Puts the cells into the first columns of a table, and those of `bits` behind its last one.

        Of a column of bits, found by its place, a model needs so many; 0 if there is none yet.
        """
        for place in bits:
            if self.array is not None or not _holds_texts(self.columns[place]):  # type: ignore[index]
                raise ValueError(f"{self.what}: column '{names[place]}' of bits holds numbers; give its hexadecimal "
                                 f"digits as strings, as with pd.read_csv(..., dtype={{'{names[place]}': str}})")
        if self.array is not None:
            for place, reading in enumerate(readings):
                _refuse_numbers(self.what, names[place], reading)
            table.set_numbers(0, self.array)
            return
        others = [place for place in range(self.width) if place not in bits]
        for target, place in enumerate(others):
            if readings[place].how != "unused":
                _fill_column(table, target, (self.columns or [])[place], readings[place])
        for place, needed in bits.items():
            table.append_bits(names[place], _texts_of((self.columns or [])[place]), needed)


def read_frame(X: Any, what: str = "X") -> Frame:
    """Looks at a table: what it is, its names and shape. Raises ValueError or TypeError for what is none."""
    if _is_sparse(X):
        raise TypeError(f"{what} is a sparse matrix, which a Gaussian process cannot use as it is; give "
                        f"{what}.toarray() or, if that is too large, a few components of it (TruncatedSVD)")
    if _is_pandas(X) and hasattr(X, "columns"):
        return _read_pandas(X, what)
    if hasattr(X, "columns") and hasattr(X, "get_column"):
        return _read_polars(X, what)
    if hasattr(X, "__dataframe__") and not isinstance(X, np.ndarray):
        return _read_pandas(_from_interchange(X, what), what)
    return _read_array(X, what)


def _is_sparse(X: Any) -> bool:
    return hasattr(X, "tocsr") or hasattr(X, "tocsc") or (hasattr(X, "nnz") and hasattr(X, "toarray"))


def _is_pandas(X: Any) -> bool:
    return "pandas" in sys.modules and type(X).__module__.split(".")[0] == "pandas"


def _from_interchange(X: Any, what: str) -> Any:
    try:
        from pandas.api.interchange import from_dataframe
    except ImportError:
        raise TypeError(f"{what} is a {type(X).__name__}, which is read through pandas: install pandas, or give a "
                        f"NumPy array") from None
    with warnings.catch_warnings():  # pandas 3 warns of the protocol's end, which is no business of the user
        warnings.simplefilter("ignore")
        return from_dataframe(X)


def _read_pandas(X: Any, what: str) -> Frame:
    for name, dtype in zip(X.columns, X.dtypes):
        if getattr(dtype, "kind", "") == "c":
            raise ValueError(f"Complex data not supported: {what}, column '{name}' holds complex numbers")
        if getattr(dtype, "kind", "") == "m":
            raise ValueError(f"{what}: column '{name}' holds durations; give them as numbers, as with "
                             f"{what}['{name}'].dt.total_seconds()")
    _require_shape(what, X.shape)
    names = [str(name) for name in X.columns] if all(isinstance(name, str) for name in X.columns) else None
    if names is None and any(isinstance(name, str) for name in X.columns):
        raise TypeError(f"Feature names are only supported if all input features have string names, but your input "
                        f"has {sorted({type(name).__name__ for name in X.columns})} as feature name / column name "
                        f"types. Rename them, as with {what}.columns = {what}.columns.astype(str)")
    if all(isinstance(dtype, np.dtype) and dtype.kind in "iuf" for dtype in X.dtypes):
        return Frame(what, len(X), names, array=X.to_numpy(dtype=np.float64))
    return Frame(what, len(X), names, columns=[X.iloc[:, place] for place in range(X.shape[1])])


def _read_polars(X: Any, what: str) -> Frame:
    columns = []
    for name in X.columns:
        column = X.get_column(name)
        array = column.to_numpy()
        if array.dtype.kind == "m":
            raise ValueError(f"{what}: column '{name}' holds durations; give them as numbers, as with "
                             f"{what}['{name}'].dt.total_seconds()")
        columns.append(array if array.dtype.kind in "iufM" else np.array(column.to_list(), dtype=object))
    _require_shape(what, X.shape)
    return Frame(what, X.shape[0], list(X.columns), columns=columns)


def _read_array(X: Any, what: str) -> Frame:
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(np.float64), np.nan)
    array = np.asarray(X)
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{what} holds complex numbers; give real and imaginary parts as "
                         f"two columns")
    if array.dtype.kind in "mM":
        raise ValueError(f"{what} holds nothing but dates or times; give a data frame, in which dates may stand beside "
                         f"numbers")
    if array.ndim != 2:
        shape = {0: "scalar array", 1: "1D array"}.get(array.ndim, f"{array.ndim}D array")
        raise ValueError(f"Expected 2D array, got {shape} instead: {what} needs rows and columns. Reshape your data "
                         f"either using array.reshape(-1, 1) if it has one column or array.reshape(1, -1) if it has "
                         f"one row.")
    _require_shape(what, array.shape)
    if array.dtype.kind in "biuf":
        return Frame(what, len(array), None, array=array if array.dtype == np.float64 else array.astype(np.float64))
    return Frame(what, len(array), None, columns=list(array.T))


def _require_shape(what: str, shape: tuple[int, ...]) -> None:
    if shape[1] == 0:
        raise ValueError(f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required: "
                         f"{what} has no columns")
    if shape[0] == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape={shape}) while a minimum of 1 is required: "
                         f"{what} has no rows")


def _fill_column(table: _core.Table, place: int, column: Any, reading: Reading) -> None:
    dtype = column.dtype
    if getattr(dtype, "kind", "O") == "M":
        _refuse_dates(table, place, reading)
        table.set_dates(place, _days_of(column))
    elif hasattr(column, "cat"):
        texts = [text_of(category) for category in column.cat.categories]
        table.set_categories(place, texts, column.cat.codes.to_numpy(dtype=np.int64))
    elif str(dtype) in ("bool", "boolean", "bool[pyarrow]"):
        # As a CSV file has them; so the program takes the same model for the same table.
        table.set_objects(place, column.astype(object).tolist())
    elif getattr(dtype, "kind", "O") in "iuf" and str(dtype) not in ("string", "str"):
        _refuse_numbers("X", table.columns[place], reading)
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan) if hasattr(column, "array") else column
        table.set_numbers(place, np.asarray(numbers, dtype=np.float64)[:, None])
    else:
        table.set_objects(place, column.tolist(), reading.written, reading.how == "find")
        if reading.how == "find" and (written := table.format(place)) is not None:
            tell(f"X: column '{table.columns[place]}': read as {written}; name it in `categorical` if its strings "
                 f"are names")


def _refuse_numbers(what: str, name: str, reading: Reading) -> None:
    if reading.written is not None:
        raise ValueError(f"{what}: column '{name}' holds numbers but the model has learnt it as {reading.written}; "
                         f"give it as in the training")


def _refuse_dates(table: _core.Table, place: int, reading: Reading) -> None:
    if reading.how == "find" or (reading.written is not None and reading.written.kind == "date"):
        return
    raise ValueError(f"X: column '{table.columns[place]}' holds dates but the model has learnt it as something else; "
                     f"give it as in the training")


def _days_of(column: Any) -> np.ndarray:
    """Days since 1970-01-01, in UTC, with the fraction of the day that a CSV file would give."""
    if getattr(column.dtype, "tz", None) is not None:
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    moments = np.asarray(column).astype("datetime64[ns]")
    days = moments.astype("datetime64[D]")
    hours = (moments - days).astype(np.int64) / 3.6e12
    return np.where(np.isnat(moments), np.nan, days.astype(np.int64) + hours / 24)


def _holds_texts(column: Any) -> bool:
    numbers = (bool, int, float, np.number)
    return not any(isinstance(cell, numbers) and cell == cell for cell in column.tolist())


def _texts_of(column: Any) -> list[str]:
    return [cell if isinstance(cell, str) else "" for cell in column.tolist()]


def text_of(value: Any) -> str:
    """A label or category as the text that a CSV file would have in its place."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (float, np.floating)):
        return _core.shortest_text(float(value))
    return str(value)


def labels_of(texts: Sequence[str]) -> np.ndarray:
    """Class labels as pandas would read them from a CSV file: whole numbers, numbers, truth values or strings."""
    if set(texts) <= {"True", "False"}:
        return np.array([text == "True" for text in texts])
    for kind in (int, float):
        try:
            numbers = [kind(text) for text in texts]
        except ValueError:
            continue
        if len(set(numbers)) == len(texts):
            return np.array(numbers)
    return np.array(list(texts))


def column_vector(values: Any, rows: int, what: str) -> np.ndarray:
    """One number per row, such as weights."""
    vector = np.asarray(values, dtype=np.float64)
    if vector.ndim == 0:
        vector = np.full(rows, float(vector))
    if vector.ndim != 1:
        raise ValueError(f"{what} must have one axis (1D array), not {vector.ndim}")
    require_length(vector, rows, what)
    if not vector.any():
        raise ValueError(f"{what}: all weights are zero; give some rows a positive one")
    return vector


def require_length(values: Any, rows: int, what: str) -> None:
    if len(values) != rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: X has {rows} rows, {what} has "
                         f"{len(values)}")


def numeric_targets(y: Any, rows: int) -> tuple[np.ndarray, list[str] | None]:
    """Targets [rows, targets] of a regression, and their names if they have some. A row may lack some of several."""
    require_targets(y)
    names = None
    if _is_pandas(y):
        names = [str(y.name)] if hasattr(y, "name") and y.name is not None else None
        names = [str(name) for name in y.columns] if hasattr(y, "columns") else names
    array = np.asarray(y)
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported\ny holds complex numbers; predict real and imaginary parts as two "
                         "targets")
    try:
        targets = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y: {error}; a regression needs numbers. Strings are classes: use DeepGPClassifier") from None
    if targets.ndim not in (1, 2) or targets.size == 0:
        raise ValueError(f"y must hold one number per row, or [rows, targets]; it has the shape {targets.shape}")
    require_length(targets, rows, "y")
    without = np.isnan(targets.reshape(rows, -1)).all(axis=1)
    if without.any():
        row = int(np.flatnonzero(without)[0])
        raise ValueError(f"Input y contains NaN, first in row {row + 1}; leave out the rows without a target, as with "
                         f"X[~np.isnan(y)]")
    if np.isinf(targets).any():
        raise ValueError("Input y contains infinity or a value too large for dtype('float64'). Leave out these rows, "
                         "as with X[np.isfinite(y)]")
    return targets, names


def require_targets(y: Any) -> None:
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None")
    if _is_sparse(y):
        raise TypeError("y is a sparse matrix; give y.toarray()")
