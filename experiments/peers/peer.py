"""What the peers share: reading the two tables, writing the predictions, and leaving where a package is missing."""

import csv
import importlib
import sys
from pathlib import Path

NOT_INSTALLED = 77  # the exit code by which 'fathom bench' knows that a peer was skipped


def need(*names):
    """The modules of those names; ends the program with one line if one is not installed."""
    modules = []
    for name in names:
        try:
            modules.append(importlib.import_module(name))
        except ImportError:
            print(f"the Python package {name.split('.')[0]} is not installed", file=sys.stderr)
            sys.exit(NOT_INSTALLED)
    return modules[0] if len(modules) == 1 else modules


def tables():
    """X [N, D], y [N] and the test inputs, as numpy arrays; a missing cell is NaN."""
    numpy = need("numpy")
    folder = Path(sys.argv[1])

    def read(name):
        with open(folder / name, newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))[1:]
        return numpy.array([[float(cell) if cell else float("nan") for cell in row] for row in rows])

    train = read("train.csv")
    return train[:, :-1], train[:, -1], read("test.csv")


def write(columns, values):
    """One row for each row of test.csv: mean and std, quantiles (q05, q5, ...) or samples."""
    with open(Path(sys.argv[1]) / "predictions.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows([repr(float(cell)) for cell in row] for row in values)


def write_gaussian(mean, std):
    write(["mean", "std"], zip(mean, std))


def write_student(mean, scale, freedom):
    """A Student t around each mean, as quantiles."""
    stats = need("scipy.stats")
    levels = ["001", "005", "01", "025", "05"] + [f"{k}" for k in range(10, 100, 5) if k % 10] + [f"{k}" for k in range(1, 10)]
    levels = sorted(set(levels) | {"95", "975", "99", "995", "999"}, key=lambda name: float("0." + name))
    quantiles = [stats.t.ppf(float("0." + name), freedom) for name in levels]
    write(["q" + name for name in levels], ([m + s * q for q in quantiles] for m, s in zip(mean, scale)))


def log_sizes(residuals):
    """What a scale model learns."""
    numpy = need("numpy")
    return numpy.log(numpy.abs(residuals) + 1e-3 * numpy.std(residuals))


def write_scaled(mean, residuals, log_scale, log_scale_test):
    """A Student t around each mean, fitted to residuals of rows that were not learnt from, each over its scale."""
    numpy, stats = need("numpy", "scipy.stats")
    freedom, _, width = stats.t.fit(residuals / numpy.exp(log_scale), floc=0)
    write_student(mean, width * numpy.exp(log_scale_test), max(freedom, 2.1))


def boosted_with_scale(fit, X, y, X_test):
    """Five-fold early stopping, the mean of the five; a second booster on the log of the out-of-fold absolute
    residuals as the scale; a Student t fitted to the scaled out-of-fold residuals.

    fit(X, y, X_held_out, y_held_out) returns a function that predicts."""
    numpy, selection = need("numpy", "sklearn.model_selection")
    folds = list(selection.KFold(5, shuffle=True, random_state=1).split(X))

    def cross_fit(target):
        out_of_fold, test = numpy.zeros(len(target)), numpy.zeros(len(X_test))
        for train, held_out in folds:
            predict = fit(X[train], target[train], X[held_out], target[held_out])
            out_of_fold[held_out] = predict(X[held_out])
            test += predict(X_test) / len(folds)
        return out_of_fold, test

    out_of_fold, mean = cross_fit(y)
    residuals = y - out_of_fold
    write_scaled(mean, residuals, *cross_fit(log_sizes(residuals)))
