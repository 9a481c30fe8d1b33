"""Models in files, pickles and copies are the same model."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import joblib
import numpy as np
import pytest
from conftest import SMALL

import fathom
from fathom import DeepGPClassifier, DeepGPRegressor


@pytest.fixture(scope="module")
def stack():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(520, 2))
    return DeepGPRegressor(stack="always", steps=15, hidden=1, inducing=5).fit(X, np.sin(X[:, 0])), X


@pytest.mark.parametrize("way", ["file", "pickle", "joblib", "deepcopy"])
def test_a_model_comes_back(way, regressor, sine, tmp_path):
    X, _ = sine
    if way == "file":
        regressor.save(tmp_path / "m.fathom")
        again = DeepGPRegressor.load(tmp_path / "m.fathom")
    elif way == "pickle":
        again = pickle.loads(pickle.dumps(regressor))
    elif way == "joblib":
        joblib.dump(regressor, tmp_path / "m.joblib")
        again = joblib.load(tmp_path / "m.joblib")
    else:
        again = copy.deepcopy(regressor)
    for predicted, expected in zip(again.predict(X, return_std=True), regressor.predict(X, return_std=True)):
        np.testing.assert_array_equal(predicted, expected)
    assert again.n_features_in_ == 3
    assert again.model_.to_bytes() == regressor.model_.to_bytes()
    assert again._recipe().json() == regressor._recipe().json() or way == "file"


def test_the_bytes_are_those_of_the_file(regressor, tmp_path):
    regressor.save(tmp_path / "m.fathom")
    assert (tmp_path / "m.fathom").read_bytes() == regressor.model_.to_bytes()


def test_a_stack_loads_in_a_new_process(stack, tmp_path):
    model, X = stack
    joblib.dump((model, X, model.predict(X)), tmp_path / "stack.joblib")
    script = "import sys, joblib; model, X, mean = joblib.load(sys.argv[1]); assert (model.predict(X) == mean).all()"
    subprocess.run([sys.executable, "-c", script, tmp_path / "stack.joblib"], check=True)


def test_a_loaded_model_knows_its_columns_and_recipe(mixed, tmp_path):
    frame, y = mixed
    constant = frame.assign(same=1)
    with pytest.warns(fathom.DataWarning, match="'same'"):
        model = DeepGPRegressor(**SMALL, alpha=0.3).fit(constant, y)
    model.save(tmp_path / "m.fathom")
    again = fathom.load(tmp_path / "m.fathom")
    assert again.feature_names_in_.tolist() == list(constant.columns)
    assert again.alpha == 0.3
    assert again.hidden == (2,)
    np.testing.assert_array_equal(again.predict(constant), model.predict(constant))


def test_the_right_kind_is_asked_for(classifier, tmp_path):
    classifier.save(tmp_path / "m.fathom")
    assert isinstance(fathom.load(tmp_path / "m.fathom"), DeepGPClassifier)
    with pytest.raises(ValueError, match="is a model for DeepGPClassifier, not for DeepGPRegressor"):
        DeepGPRegressor.load(tmp_path / "m.fathom")


def test_a_file_that_was_changed_is_refused(regressor, tmp_path):
    bytes_ = regressor.model_.to_bytes()
    position = bytes_.index(b'"format_version":"') + len(b'"format_version":"')
    (tmp_path / "m.fathom").write_bytes(bytes_[:position] + b"9" + bytes_[position + 1:])
    with pytest.raises(ValueError, match=r"m\.fathom: .* does not match its checksum"):
        fathom.load(tmp_path / "m.fathom")


def test_a_file_of_a_newer_version_says_so(regressor, tmp_path):
    import re
    import zlib

    newer = re.sub(rb'"format_version":"\d"', b'"format_version":"9"', regressor.model_.to_bytes())
    found = re.search(rb'"checksum":"([0-9a-f]{8})"', newer)
    blank = newer[:found.start(1)] + b"0" * 8 + newer[found.end(1):]
    (tmp_path / "m.fathom").write_bytes(newer[:found.start(1)] + b"%08x" % zlib.crc32(blank) + newer[found.end(1):])
    with pytest.raises(ValueError, match=r"m\.fathom: .*written by a newer fathom \(format 9\).*upgrade"):
        fathom.load(tmp_path / "m.fathom")


def test_other_files_are_refused(tmp_path):
    (tmp_path / "m.fathom").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="damaged or no safetensors file"):
        fathom.load(tmp_path / "m.fathom")
    with pytest.raises(ValueError, match=r"none\.fathom"):
        fathom.load(tmp_path / "none.fathom")


def test_models_can_be_exported(regressor):
    assert "model_predict" in regressor.export("c")
    assert '"arrays"' in regressor.export("json")
