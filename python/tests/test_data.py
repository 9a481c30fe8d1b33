"""Data as they come: layouts, data frames, gaps, and columns by their names."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from conftest import SMALL

from fathom import DataWarning, DeepGPClassifier, DeepGPRegressor, load


def layouts(X):
    strided = np.zeros((2 * len(X), 3 * X.shape[1]))[::2, ::3]
    strided[:] = X
    backwards = X[::-1, ::-1].copy()[::-1, ::-1]
    unaligned = np.frombuffer(b"x" + X.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(X.shape)
    readonly = X.copy()
    readonly.flags.writeable = False
    return {"C": X, "Fortran": np.asfortranarray(X), "strided": strided, "backwards": backwards,
            "unaligned": unaligned, "readonly": readonly, "list": X.tolist(), "frame": pd.DataFrame(X),
            "object": X.astype(object), "big-endian": X.astype(">f8"), "masked": np.ma.masked_array(X)}


class ArrayLike:
    def __init__(self, array):
        self._array = array

    def __array__(self, dtype=None, copy=None):
        return self._array if dtype is None else self._array.astype(dtype)


@pytest.mark.parametrize("name", layouts(np.zeros((2, 2))))
def test_every_layout_gives_the_same_bits(name, regressor, sine):
    X, y = sine
    given = layouts(X)[name]
    np.testing.assert_array_equal(regressor.predict(given), regressor.predict(X))
    np.testing.assert_array_equal(DeepGPRegressor(**SMALL).fit(given, y).predict(X), regressor.predict(X))


def test_predicting_from_an_array_makes_no_copy_of_it(regressor, sine):
    view = np.asfortranarray(sine[0])
    assert regressor._rows(view) is view


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "uint8", "bool"])
def test_numbers_of_every_kind(dtype):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(60, 3)).astype(dtype)
    y = X.sum(axis=1, dtype=float) + 0.1 * rng.normal(size=60)
    model = DeepGPRegressor(**SMALL).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), model.predict(X.astype(float)))


def test_anything_with_array_protocol(regressor, sine):
    X, _ = sine
    np.testing.assert_array_equal(regressor.predict(ArrayLike(X)), regressor.predict(X))


def test_masked_cells_are_missing(regressor, sine):
    X = sine[0][:5]
    gaps = X.copy()
    gaps[1, 0] = np.nan
    mask = np.zeros(X.shape, dtype=bool)
    mask[1, 0] = True
    np.testing.assert_array_equal(regressor.predict(np.ma.masked_array(X, mask)), regressor.predict(gaps))
    _, std = regressor.predict(gaps, return_std=True)
    assert std[1] > 1.2 * regressor.predict(X, return_std=True)[1][1]


def test_a_raw_frame_goes_straight_into_the_model(mixed):
    frame, y = mixed
    model = DeepGPRegressor(**{**SMALL, "steps": 150}).fit(frame, y)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert model.score(frame, y) > 0.8
    features = list(model.explain()["price"])
    assert features == ["size", "colour=blue", "colour=green", "colour=red", "used=True", "grade=1", "grade=2",
                        "grade=10", "length"]
    assert model.summary_["targets"] == ["price"]


def test_columns_are_found_by_name(mixed):
    frame, y = mixed
    model = DeepGPRegressor(**SMALL).fit(frame, y)
    np.testing.assert_array_equal(model.predict(frame[frame.columns[::-1]]), model.predict(frame))


def test_every_way_to_write_a_frame_gives_the_same_bits(mixed):
    frame, y = mixed
    expected = DeepGPRegressor(**SMALL).fit(frame, y)
    other = pd.DataFrame({
        "size": frame["size"].astype("Float64"),
        "colour": frame["colour"].astype("category"),
        "used": frame["used"].map({True: "True", False: "False"}),
        "grade": frame["grade"].astype(str).astype(object),
        "length": frame["length"].astype("Int64"),
    })
    other.index = other.index + 1000
    np.testing.assert_array_equal(DeepGPRegressor(**SMALL).fit(other, y).predict(frame), expected.predict(frame))
    np.testing.assert_array_equal(expected.predict(other), expected.predict(frame))
    strings = frame.astype({"colour": "string", "used": "boolean"})
    np.testing.assert_array_equal(expected.predict(strings), expected.predict(frame))


def test_unused_categories_do_not_count(mixed):
    frame, y = mixed
    more = frame.assign(grade=frame["grade"].cat.add_categories([77]))
    np.testing.assert_array_equal(DeepGPRegressor(**SMALL).fit(more, y).predict(more),
                                  DeepGPRegressor(**SMALL).fit(frame, y).predict(frame))


def test_numbers_may_be_declared_categories(sine):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=80), rng.choice([3, 7, 20], 80)])
    y = X[:, 0] + (X[:, 1] == 7)
    model = DeepGPRegressor(**SMALL, categorical=[1]).fit(X, y)
    assert list(model.explain()["y"]) == ["x1", "x2=3", "x2=7", "x2=20"]
    names = pd.DataFrame(X, columns=["a", "b"])
    named = DeepGPRegressor(**SMALL, categorical=["b"]).fit(names, y)
    np.testing.assert_array_equal(model.predict(X), named.predict(names))
    np.testing.assert_array_equal(model.predict(X[X[:, 1] == 3]), model.predict(X)[X[:, 1] == 3])


def test_unseen_strings_count_as_missing_with_a_warning(mixed):
    frame, y = mixed
    model = DeepGPRegressor(**SMALL).fit(frame, y)
    strange = frame.head(3).assign(colour=["mauve", "red", None])
    with pytest.warns(DataWarning, match="1 cell holds a value that the training has not seen, such as 'mauve'"):
        mean = model.predict(strange)
    assert mean[0] == model.predict(frame.head(3).assign(colour=[None, "red", None]))[0]


def test_useless_columns_are_left_out_with_a_warning(sine):
    X, y = sine
    wide = np.column_stack([X, np.ones(120), X[:, 0], np.full(120, np.nan)])
    with pytest.warns(DataWarning) as warned:
        model = DeepGPRegressor(**SMALL).fit(wide, y)
    told = " ".join(str(warning.message) for warning in warned)
    assert "left out column 'x4': the same value in all rows" in told
    assert "left out column 'x5': it repeats another column" in told
    assert "left out column 'x6': no cell has a value" in told
    assert model.n_features_in_ == 6
    np.testing.assert_array_equal(model.predict(wide), DeepGPRegressor(**SMALL).fit(X, y).predict(X))


def test_an_id_in_every_row_is_left_out_with_a_warning(mixed):
    frame, y = mixed
    named = frame.assign(id=[f"row {n}" for n in range(len(frame))])
    with pytest.warns(DataWarning, match="left out column 'id': a text of its own in every row"):
        model = DeepGPRegressor(**SMALL).fit(named, y)
    plain = DeepGPRegressor(**SMALL).fit(frame, y)
    np.testing.assert_array_equal(model.predict(named.head(3).assign(id="new")), plain.predict(frame.head(3)))


def test_names_and_arrays_may_be_mixed_with_a_warning(regressor, sine):
    X, y = sine
    frame = pd.DataFrame(X, columns=list("abc"))
    with pytest.warns(UserWarning, match="has feature names, but DeepGPRegressor was fitted without"):
        np.testing.assert_array_equal(regressor.predict(frame), regressor.predict(X))
    named = DeepGPRegressor(**SMALL).fit(frame, y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        np.testing.assert_array_equal(named.predict(X), named.predict(frame))


def test_deviations_of_a_frame_leave_strings_alone(mixed):
    frame, y = mixed
    model = DeepGPRegressor(**SMALL).fit(frame, y)
    deviations = pd.DataFrame(0.0, index=frame.index, columns=frame.columns)
    deviations["size"] = 20.0
    _, wide = model.predict(frame, return_std=True, input_std=deviations)
    assert (wide >= model.predict(frame, return_std=True)[1]).mean() > 0.9


class Interchange:
    """A frame of which nothing is known but that it speaks the protocol."""

    def __init__(self, frame):
        self._frame = frame

    def __dataframe__(self, nan_as_null=False, allow_copy=True):
        return self._frame.__dataframe__(nan_as_null, allow_copy)


def test_any_frame_with_the_interchange_protocol(mixed):
    frame, y = mixed
    plain = frame.drop(columns=["grade", "used"]).dropna()
    model = DeepGPRegressor(**SMALL).fit(plain, y[plain.index])
    np.testing.assert_array_equal(model.predict(Interchange(plain)), model.predict(plain))


def test_polars(mixed):
    polars = pytest.importorskip("polars")
    frame, y = mixed
    plain = frame.assign(grade=frame["grade"].astype(str), used=frame["used"].map({True: "yes", False: "no"}))
    model = DeepGPClassifier(**SMALL).fit(plain, y > y.median())
    same = polars.DataFrame({name: [None if cell != cell else cell for cell in plain[name].tolist()] for name in plain})
    np.testing.assert_array_equal(model.predict_proba(same), model.predict_proba(plain))


def test_a_series_names_the_target(mixed):
    frame, y = mixed
    both = pd.DataFrame({"first": y, "second": 2 * y})
    assert list(DeepGPRegressor(**SMALL).fit(frame, both).explain()) == ["first", "second"]


@pytest.fixture
def dated():
    """Sales that depend on the weekday and grow with time."""
    rng = np.random.default_rng(4)
    day = pd.date_range("2023-11-20 06:00", periods=150, freq="31h")
    frame = pd.DataFrame({"day": day, "size": rng.normal(size=150)})
    return frame, (frame["size"] + day.day_of_week.to_numpy() / 3 + rng.normal(0, 0.1, 150)).to_numpy()


def test_dates_become_the_numbers_that_the_program_makes_of_them(dated):
    frame, y = dated
    model = DeepGPRegressor(**SMALL).fit(frame, y)
    features = list(model.explain()["y"])
    assert features == ["day (days)", "day (day of year)", "day (weekday)", "day (hour)", "size"]
    texts = frame.assign(day=frame["day"].astype(str))
    with pytest.warns(DataWarning, match="column 'day': read as dates; name it in `categorical`"):
        written = DeepGPRegressor(**SMALL).fit(texts, y)
    np.testing.assert_array_equal(written.predict(texts), model.predict(frame))
    np.testing.assert_array_equal(model.predict(texts), model.predict(frame))
    np.testing.assert_array_equal(written.predict(frame.assign(day=frame["day"].dt.tz_localize("UTC"))),
                                  model.predict(frame))
    gaps = frame.head(3).assign(day=[frame["day"][0], pd.NaT, frame["day"][2]])
    assert model.predict(gaps)[0] == model.predict(frame)[0]
    assert model.predict(gaps)[1] != model.predict(frame)[1]


def test_strings_with_units_are_numbers_unless_they_are_declared_names(sine):
    X, y = sine
    frame = pd.DataFrame({"a": X[:, 0], "weight": [f"{n % 40} kg" for n in range(120)]})
    with pytest.warns(DataWarning, match="column 'weight': read as numbers in 'kg'"):
        model = DeepGPRegressor(**SMALL).fit(frame, y)
    assert list(model.explain()["y"]) == ["a", "weight"]
    named = DeepGPRegressor(**SMALL, categorical=["weight"]).fit(frame, y)
    assert len(named.explain()["y"]) == 41


def test_fingerprints_are_bits(program, tmp_path):
    rng = np.random.default_rng(5)
    digits = [f"{number:04x}" for number in rng.integers(0, 2**16, 100)]
    frame = pd.DataFrame({"fp": digits, "mass": rng.normal(size=100)})
    y = pd.Series([bin(int(text, 16)).count("1") for text in digits], name="y") + frame["mass"]
    model = DeepGPRegressor(**SMALL, bits=["fp"]).fit(frame, y.rename("y"))
    assert list(model.explain()["y"]) == ["mass", *(f"fp:{bit}" for bit in range(16))]
    assert model.feature_names_in_.tolist() == ["fp", "mass"]
    frame.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    program("fit", tmp_path / "t.csv", "--target", "y", "--bits", "fp", "-o", tmp_path / "m.fathom", "--hidden", 2,
            "--inducing", 10, "--steps", 40, "--warm-up", 5)
    told = pd.read_csv(io.StringIO(program("predict", tmp_path / "m.fathom", tmp_path / "t.csv")))
    np.testing.assert_allclose(model.predict(frame), told["mean"], rtol=1e-12)
    np.testing.assert_array_equal(load(tmp_path / "m.fathom").predict(frame), model.predict(frame))
    model.save(tmp_path / "again.fathom")
    np.testing.assert_array_equal(load(tmp_path / "again.fathom").predict(frame), model.predict(frame))
