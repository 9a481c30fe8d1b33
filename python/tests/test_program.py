"""The program and the package are one: same bits, same files."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from conftest import SMALL

from fathom import DeepGPClassifier, DeepGPRegressor, load

OPTIONS = ["--hidden", "2", "--inducing", "10", "--steps", "40", "--warm-up", "5"]


def table_of(text):
    """What the program printed, each number to its last bit."""
    cells = pd.read_csv(io.StringIO(text), dtype=str)
    return cells.apply(lambda column: column if column.name == "class" else column.map(float))


def numbers():
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(200, 4)), columns=list("abcd"))
    X.loc[::17, "b"] = np.nan
    return X, (np.sin(X["a"]) + 0.1 * rng.normal(size=200)).rename("y")


def table(name, mixed):
    frame, y = mixed
    if name == "numbers with gaps":
        return numbers()
    if name == "strings and gaps":
        return frame, y
    return frame, pd.Series(np.where(y > 7, "dear", np.where(y < 5, "cheap", "fair")), name="class")


@pytest.mark.parametrize("name", ["numbers with gaps", "strings and gaps", "classes"])
def test_the_same_bits_as_the_command_line(name, mixed, program, tmp_path):
    X, y = table(name, mixed)
    X.assign(**{y.name: y}).to_csv(tmp_path / "t.csv", index=False)
    categorical = ["--categorical", "grade"] if "grade" in X else []
    program("fit", tmp_path / "t.csv", "--target", y.name, "-o", tmp_path / "m.fathom", *OPTIONS, *categorical)
    told = table_of(program("predict", tmp_path / "m.fathom", tmp_path / "t.csv"))
    loaded = load(tmp_path / "m.fathom")
    if name == "classes":
        model = DeepGPClassifier(**SMALL).fit(X, y)
        columns = [f"p_{label}" for label in model.classes_]
        np.testing.assert_array_equal(model.predict_proba(X), told[columns].to_numpy())
        np.testing.assert_array_equal(loaded.predict(X), told["class"].to_numpy())
    else:
        model = DeepGPRegressor(**SMALL).fit(X, y)
        mean, std = model.predict(X, return_std=True)
        np.testing.assert_array_equal(mean, told["mean"].to_numpy())
        np.testing.assert_array_equal(std, told["std"].to_numpy())
        np.testing.assert_array_equal(model.predict_quantiles(X, [0.025, 0.975]), told[["q025", "q975"]].to_numpy())
        np.testing.assert_array_equal(loaded.predict(X), mean)
    assert loaded.summary_["energy_per_row"] == model.summary_["energy_per_row"]


def test_the_program_reads_our_files(mixed, program, tmp_path):
    X, y = mixed
    model = DeepGPRegressor(**SMALL).fit(X, y)
    model.save(tmp_path / "m.fathom")
    X.assign(price=y).to_csv(tmp_path / "t.csv", index=False)
    told = table_of(program("predict", tmp_path / "m.fathom", tmp_path / "t.csv"))
    np.testing.assert_array_equal(told["mean"].to_numpy(), model.predict(X))
    np.testing.assert_array_equal(told["log_density"].to_numpy(), model.log_density(X, y))


def test_the_program_takes_an_array_for_an_array(regressor, sine, program, tmp_path):
    X, _ = sine
    regressor.save(tmp_path / "m.fathom")
    np.save(tmp_path / "X.npy", X)
    told = table_of(program("predict", tmp_path / "m.fathom", tmp_path / "X.npy"))
    np.testing.assert_array_equal(told["mean"].to_numpy(), regressor.predict(X))


def test_the_scores_are_the_program_s(regressor, sine, program, tmp_path):
    import json

    X, y = sine
    regressor.save(tmp_path / "m.fathom")
    pd.DataFrame(X, columns=["x1", "x2", "x3"]).assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    told = json.loads(program("evaluate", tmp_path / "m.fathom", tmp_path / "t.csv", "--json"))
    for name, value in regressor.evaluate(X, y).items():
        assert told[name] == value, name


def test_a_model_of_the_program_ignores_other_columns(mixed, program, tmp_path):
    X, y = mixed
    X.assign(price=y, shop="A").to_csv(tmp_path / "t.csv", index=False)
    program("fit", tmp_path / "t.csv", "--target", "price", "-o", tmp_path / "m.fathom", *OPTIONS)
    model = load(tmp_path / "m.fathom")
    frame = pd.read_csv(tmp_path / "t.csv")
    np.testing.assert_array_equal(model.predict(frame), model.predict(frame.drop(columns=["price", "shop"])))


def test_cross_validation_is_the_program_s(mixed, program, tmp_path):
    import json

    X, y = mixed
    shop = np.repeat(np.arange(15), 10)
    X.assign(price=y, shop=shop).to_csv(tmp_path / "t.csv", index=False)
    command = ["cv", tmp_path / "t.csv", "--target", "price", "--categorical", "grade", "--folds", "3", "--json"]
    command += OPTIONS
    plain = json.loads(program(*command, "--ignore", "shop"))
    grouped = json.loads(program(*command, "--group", "shop"))
    model = DeepGPRegressor(**SMALL)
    result = model.cross_validate(X, y, folds=3)
    assert not hasattr(model, "model_")
    for name, value in plain["mean"].items():
        assert result["mean"][name] == value, name
    assert result["linear"]["mean"]["rmse"] == plain["linear"]["rmse"]
    assert result["held_out"]["mean"].shape == (150,)
    assert sorted(set(result["held_out"]["fold"])) == [0, 1, 2]
    squares = ((result["held_out"]["mean"] - y) ** 2).groupby(result["held_out"]["fold"]).mean()
    assert np.sqrt(squares).mean() == pytest.approx(result["mean"]["rmse"])
    by_shop = model.cross_validate(X, y, folds=3, groups=[f"shop {number:02d}" for number in shop])
    assert by_shop["mean"]["rmse"] == grouped["mean"]["rmse"]
    folds = pd.Series(by_shop["held_out"]["fold"]).groupby(shop).nunique()
    assert (folds == 1).all()
    ordered = model.cross_validate(X, y, folds=2, order=pd.date_range("2024-01-01", periods=150))
    assert set(ordered["held_out"]["fold"][:50]) == {-1}


def test_cross_validation_of_classes(mixed):
    X, y = mixed
    labels = np.where(y > 7, "dear", np.where(y < 5, "cheap", "fair"))
    result = DeepGPClassifier(**SMALL).cross_validate(X, labels, folds=3)
    probability = result["held_out"]["probability"]
    predicted = np.array(["cheap", "dear", "fair"])[probability.argmax(axis=1)]
    assert (predicted == labels).mean() == pytest.approx(result["mean"]["accuracy"], abs=1e-9)
    assert 0.5 < result["mean"]["accuracy"] < 1


def test_the_report_is_the_program_s(regressor, program, tmp_path):
    regressor.save(tmp_path / "m.fathom")
    told = program("inspect", tmp_path / "m.fathom")
    assert told.startswith(regressor.report())
    assert len(regressor.report().splitlines()) > 4
    for name, value in regressor.lengthscales().items():
        assert f"{name}  " in told
        assert f"{value:.6g}" in told


def test_a_neural_network_of_the_program_predicts_through_the_estimator(program, tmp_path):
    X, y = numbers()
    X = X.fillna(0.0)
    X.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    program("baseline", "vi", tmp_path / "t.csv", "--target", "y", "-o", tmp_path / "m.fathom", "--steps", "50")
    told = table_of(program("predict", tmp_path / "m.fathom", tmp_path / "t.csv"))
    model = load(tmp_path / "m.fathom")
    mean, std = model.predict(X, return_std=True)
    np.testing.assert_array_equal(mean, told["mean"].to_numpy())
    np.testing.assert_array_equal(std, told["std"].to_numpy())
    np.testing.assert_array_equal(model.predict_quantiles(X, [0.025, 0.975]), told[["q025", "q975"]].to_numpy())
    assert "a Gaussian per weight" in model.report()
    assert len(model.leaderboard_) == 1
    with pytest.raises(ValueError, match="is no deep GP"):
        model.explain()
