"""Wrong uses, each with the message that a user gets."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from conftest import SMALL
from scipy import sparse
from sklearn.exceptions import NotFittedError

import fathom
from fathom import DeepGPClassifier, DeepGPRegressor

X = np.random.default_rng(0).normal(size=(30, 3))
Y = X[:, 0].copy()
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
DATED = FRAME.assign(day=[f"2024-05-{d + 1:02d}" for d in range(30)])
LABELS = np.where(Y > 0, "p", "n")


def regressor(**parameters):
    return DeepGPRegressor(**{**SMALL, "steps": 3, **parameters})


def fit(X_, y_, **arguments):
    return regressor().fit(X_, y_, **arguments)


def with_cell(value):
    cells = X.astype(object)
    cells[4, 1] = value
    return cells


def with_inf():
    cells = X.copy()
    cells[4, 1] = np.inf
    return cells


def with_nan(y):
    y = y.copy()
    y[6] = np.nan
    return y


WRONG = {
    "predict before fit": (lambda: regressor().predict(X), NotFittedError, "is not fitted yet. Call 'fit'"),
    "summary before fit": (lambda: regressor().summary_, NotFittedError, "is not fitted yet"),
    "save before fit": (lambda: regressor().save("m.fathom"), NotFittedError, "is not fitted yet"),
    "1-D X": (lambda: fit(Y, Y), ValueError, "Expected 2D array, got 1D array.*reshape"),
    "3-D X": (lambda: fit(X[None], Y), ValueError, "Expected 2D array, got 3D array"),
    "no rows": (lambda: fit(X[:0], Y[:0]), ValueError, r"0 sample\(s\).*X has no rows"),
    "no columns": (lambda: fit(X[:, :0], Y), ValueError, r"0 feature\(s\).*X has no columns"),
    "one row": (lambda: fit(X[:1], Y[:1]), ValueError, "at least 2 rows are needed"),
    "no y": (lambda: fit(X, None), ValueError, "requires y to be passed"),
    "y too short": (lambda: fit(X, Y[:-1]), ValueError, "X has 30 rows, y has 29"),
    "y with NaN": (lambda: fit(X, with_nan(Y)), ValueError, "Input y contains NaN, first in row 7; leave out"),
    "y infinite": (lambda: fit(X, Y / 0.0), ValueError, "Input y contains infinity.*Leave out these rows"),
    "y of strings": (lambda: fit(X, LABELS), ValueError, "Strings are classes: use DeepGPClassifier"),
    "y complex": (lambda: fit(X, Y + 1j), ValueError, "y holds complex numbers"),
    "X complex": (lambda: fit(X + 1j, Y), ValueError, "Complex data not supported"),
    "X infinite": (lambda: fit(with_inf(), Y), ValueError, "X: row 5, column 'x2': the number is infinite"),
    "text among numbers": (lambda: fit(with_cell("abc"), Y), ValueError,
                           "X: row 5, column 'x2': the column holds numbers and strings such as 'abc'"),
    "a dict in a cell": (lambda: fit(with_cell({}), Y), TypeError,
                         "row 5, column 'x2': the cell holds a dict; the argument must be a string or a number"),
    "sparse X": (lambda: fit(sparse.csr_matrix(X), Y), TypeError, r"sparse matrix.*X\.toarray\(\)"),
    "durations": (lambda: fit(FRAME.assign(d=pd.Timedelta("1h")), Y), ValueError,
                  r"column 'd' holds durations; give them as numbers.*total_seconds"),
    "nothing but dates": (lambda: fit(np.full((30, 2), np.datetime64("2024-05-31")), Y), ValueError,
                          "holds nothing but dates or times; give a data frame"),
    "a text among dates": (lambda: fit(DATED, Y).predict(DATED.head(2).assign(day=["2024-05-02", "soon"])), ValueError,
                           "row 2, column 'day': 'soon' is not written as the other cells, which are dates"),
    "numbers where dates were": (lambda: fit(DATED, Y).predict(DATED.assign(day=1)), ValueError,
                                 "column 'day' holds numbers but the model has learnt it as dates"),
    "dates where numbers were": (lambda: fit(FRAME, Y).predict(FRAME.assign(b=pd.Timestamp("2024-05-31"))), ValueError,
                                 "column 'b' holds dates but the model has learnt it as something else"),
    "digits as numbers": (lambda: regressor(bits=["a"]).fit(FRAME, Y), ValueError,
                          r"column 'a' of bits holds numbers; give its hexadecimal digits as strings.*\{'a': str\}"),
    "digits that are none": (lambda: regressor(bits=["fp"]).fit(FRAME.assign(fp=["0a"] * 29 + ["0g"]), Y), ValueError,
                             "row 30, column 'fp': '0g' is not made of hexadecimal digits"),
    "bits of a column that is not there": (lambda: regressor(bits=["z"]).fit(FRAME, Y), ValueError,
                                           "bits: X has no column 'z'; the columns are a, b, c"),
    "a name in nearly every row": (lambda: fit(FRAME.assign(id=[f"row{d % 29}" for d in range(30)]), Y), ValueError,
                           r"'id': has a text of its own in nearly every row.*X\.drop\(columns='id'\)"),
    "the target among the inputs": (lambda: fit(FRAME, FRAME["a"]), ValueError,
                                    r"X has a column 'a', which is the name of the target.*drop"),
    "nothing varies": (lambda: fit(np.ones((9, 2)), np.arange(9)), ValueError, "have no two different values"),
    "all cells missing": (lambda: fit(np.full((9, 2), np.nan), np.arange(9)), ValueError, "no two different values"),
    "names of two kinds": (lambda: fit(FRAME.set_axis(["a", 1, 2], axis=1), Y), TypeError,
                           "Feature names are only supported if all"),
    "two columns of one name": (lambda: fit(FRAME.set_axis(["a", "a", "b"], axis=1), Y), ValueError, "'a'"),
    "fewer columns than in fit": (lambda: fit(X, Y).predict(X[:, :2]), ValueError,
                                  "X has 2 features, but DeepGPRegressor is expecting 3 features"),
    "a column is missing": (lambda: fit(FRAME, Y).predict(FRAME[["a", "c"]]), ValueError, "now missing:\n- b"),
    "a column is new": (lambda: fit(FRAME, Y).predict(FRAME.assign(z=1)), ValueError, "unseen at fit time:\n- z"),
    "strings where numbers were": (lambda: fit(FRAME, Y).predict(FRAME.assign(b="x")), ValueError,
                                   "column 'b' holds text such as 'x' but the model has learnt it as numbers"),
    "unknown parameter": (lambda: DeepGPRegressor(layers=3), TypeError, "has no parameter 'layers'; they are hidden,"),
    "unknown parameter later": (lambda: regressor().set_params(layers=3), ValueError, "Invalid parameter"),
    "parameter out of range": (lambda: regressor(learning_rate=-1).fit(X, Y), ValueError,
                               "^learning_rate must be positive and at most 10, not -1"),
    "parameter of another kind": (lambda: regressor(steps="many").fit(X, Y), ValueError,
                                  "^steps must be a whole number, not 'many'"),
    "parameter that is an object": (lambda: regressor(alpha=object()).fit(X, Y), ValueError, "alpha must be float"),
    "unknown choice": (lambda: regressor(inference="vi").fit(X, Y), ValueError,
                       "^inference must be 'aep' or 'sep' or 'ep', not 'vi'"),
    "unknown kernel": (lambda: regressor(kernel="rbf").fit(X, Y), ValueError, "kernel.*'rbf'.*se_ard"),
    "unknown quality": (lambda: regressor(quality="good").fit(X, Y), ValueError, "quality must be 'fast', 'default'"),
    "likelihood of classes": (lambda: regressor(likelihood="probit").fit(X, Y), ValueError, "probit"),
    "counts below zero": (lambda: regressor(likelihood="poisson").fit(X, Y), ValueError, "poisson"),
    "weights in two axes": (lambda: fit(X, Y, sample_weight=np.ones((30, 2))), ValueError, "must have one axis"),
    "a negative weight": (lambda: fit(X, Y, sample_weight=-np.ones(30)), ValueError, "row 1.*weight is negative"),
    "only zero weights": (lambda: fit(X, Y, sample_weight=np.zeros(30)), ValueError, "all weights are zero"),
    "a negative deviation": (lambda: fit(X, Y, input_std=-np.ones(X.shape)), ValueError,
                             "input_std: row 1, column 'x1': -1 is no standard deviation"),
    "deviations of another shape": (lambda: fit(X, Y, input_std=np.ones(3)[None]), ValueError,
                                    r"input_std has the shape \(1, 3\) where X has \(30, 3\)"),
    "categorical column that is not there": (lambda: regressor(categorical=["z"]).fit(FRAME, Y), ValueError,
                                             "categorical: X has no column 'z'; the columns are a, b, c"),
    "one class": (lambda: DeepGPClassifier(**SMALL).fit(X, np.zeros(30)), ValueError, "one class only"),
    "numbers as classes": (lambda: DeepGPClassifier(**SMALL).fit(X, Y), ValueError,
                           "Unknown label type.*use DeepGPRegressor"),
    "labels that are one text": (lambda: DeepGPClassifier(**SMALL).fit(X, np.where(Y > 0, "a", "a ")), ValueError,
                                 "one and the same text"),
    "quantile above 1": (lambda: fit(X, Y).predict_quantiles(X, 1.5), ValueError, "above 0 and below 1, not 1.5"),
    "interval above 1": (lambda: fit(X, Y).predict_interval(X, 95), ValueError, "level must be above 0 and below 1"),
    "covariance and deviation": (lambda: fit(X, Y).predict(X, return_std=True, return_cov=True), ValueError,
                                 "ask for one of them"),
    "covariance of too many rows": (lambda: fit(X, Y).predict(np.zeros((9000, 3)), return_cov=True), ValueError,
                                    "the covariance of 9000 rows takes too much memory; ask for at most 8192 rows"),
    "draws of too many rows": (lambda: fit(X, Y).sample_y(np.zeros((9000, 3))), ValueError, "at most 8192 rows"),
    "draws fewer than none": (lambda: fit(X, Y).sample_y(X, -1), ValueError, "number of samples must be at least 0"),
    "densities of too few targets": (lambda: fit(X, Y).log_density(X, Y[:3]), ValueError, r"y has the shape \(3,\)"),
    "folds of two kinds": (lambda: regressor().cross_validate(X, Y, groups=Y, order=Y), ValueError, "give one of them"),
    "one fold": (lambda: regressor().cross_validate(X, Y, folds=1), ValueError, "folds.*1"),
    "groups too short": (lambda: regressor().cross_validate(X, Y, groups=Y[:4]), ValueError, "groups has 4"),
    "a row without a group": (lambda: regressor().cross_validate(X, Y, groups=with_nan(Y)), ValueError, "group"),
    "folder that is not there": (lambda: fit(X, Y).save("/no/such/folder/m.fathom"), ValueError, "/no/such/folder"),
    "file that is not there": (lambda: fathom.load("/no/such/file"), ValueError, "/no/such/file"),
    "export to an unknown language": (lambda: fit(X, Y).export("cobol"), ValueError, "must be 'c' or 'json'"),
    "unknown name in the package": (lambda: fathom.DeepGP, AttributeError, "has no attribute 'DeepGP'"),
}


@pytest.mark.parametrize("use", WRONG)
@pytest.mark.filterwarnings("ignore::fathom.DataWarning", "ignore:divide by zero")
def test_says_what_is_wrong(use):
    call, error, message = WRONG[use]
    with pytest.raises(error, match=f"(?s){message}"):
        call()


def test_numbers_that_give_out_are_a_numerical_error():
    model = regressor(kernel="linear_ard").fit(X, Y)
    with pytest.raises(fathom.NumericalError, match="X: a prediction is not a finite number"):
        model.predict(np.full((1, 3), 1e200))
    assert issubclass(fathom.NumericalError, ArithmeticError)
