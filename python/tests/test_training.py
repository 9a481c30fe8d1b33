"""Watching, stopping and continuing a training; threads, processes and memory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import SMALL
from joblib import Parallel, delayed

from fathom import DeepGPRegressor


def test_a_callback_sees_every_step(sine):
    seen = []
    DeepGPRegressor(**SMALL).fit(*sine, callback=lambda progress: seen.append((progress.step, progress.fraction)))
    assert [step for step, _ in seen] == list(range(1, 41))
    assert seen[-1][1] > 0.9


def test_a_callback_may_stop(sine):
    X, y = sine
    model = DeepGPRegressor(**SMALL).fit(X, y, callback=lambda progress: progress.step < 7)
    assert model.summary_["steps"] == 7
    assert model.summary_["reason"] == "interrupted"
    assert np.isfinite(model.predict(X)).all()


def test_what_a_callback_throws_arrives_and_leaves_a_model(sine):
    X, y = sine

    def fail(progress):
        if progress.step == 5:
            raise KeyError("mine")

    model = DeepGPRegressor(**SMALL)
    with pytest.raises(KeyError, match="mine"):
        model.fit(X, y, callback=fail)
    assert model.summary_["steps"] == 5
    assert np.isfinite(model.predict(X)).all()


def test_ctrl_c_stops_and_leaves_a_model(sine):
    X, y = sine
    begun = threading.Event()

    def press():
        begun.wait()
        os.kill(os.getpid(), signal.SIGINT)

    presser = threading.Thread(target=press)
    presser.start()
    model = DeepGPRegressor(**{**SMALL, "steps": 10**9})  # ends by the signal alone
    # A shell starts what runs in its background with the signal ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y, callback=lambda progress: begun.set())
        presser.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert model.summary_["reason"] == "interrupted"
    assert np.isfinite(model.predict(X)).all()


def test_other_threads_run_during_a_training(sine):
    turns = []
    stop = threading.Event()

    def work():
        while not stop.is_set():
            turns.append(1)

    worker = threading.Thread(target=work)
    worker.start()
    before = len(turns)
    DeepGPRegressor(**{**SMALL, "steps": 300}).fit(*sine)
    stop.set()
    worker.join()
    assert len(turns) > before + 100


def test_resuming_ends_with_the_same_bits(sine, tmp_path):
    X, y = sine
    checkpoint = tmp_path / "run.checkpoint"
    model = DeepGPRegressor(**SMALL).fit(X, y, checkpoint=checkpoint, callback=lambda progress: progress.step < 17)
    assert checkpoint.exists()
    model.resume(X, y, checkpoint=checkpoint)
    assert not checkpoint.exists()
    np.testing.assert_array_equal(model.predict(X), DeepGPRegressor(**SMALL).fit(X, y).predict(X))
    with pytest.raises(ValueError, match="there is no such checkpoint"):
        model.resume(X, y, checkpoint=checkpoint)


def test_resuming_with_other_data_is_refused(sine, tmp_path):
    X, y = sine
    model = DeepGPRegressor(**SMALL).fit(X, y, checkpoint=tmp_path / "c", callback=lambda progress: progress.step < 9)
    with pytest.raises(ValueError, match="is not the table that the training began with"):
        model.resume(X, y + 1, checkpoint=tmp_path / "c")


def test_warm_start_trains_further(sine):
    X, y = sine
    model = DeepGPRegressor(**SMALL, warm_start=True).fit(X, y)
    first = model.summary_["energy_per_row"]
    model.set_params(steps=100).fit(X, y)
    assert model.summary_["steps"] == 140
    assert model.summary_["energy_per_row"] > first
    model.fit(X[:50] + 0.1, y[:50])  # new rows with the same columns
    assert model.summary_["rows"] == 50


def test_a_time_budget_ends_the_training(sine):
    model = DeepGPRegressor(**{**SMALL, "steps": 10**9}, time_budget=0.2).fit(*sine)
    assert model.summary_["reason"] == "time budget"


def test_a_progress_bar_is_shown(sine, capsys):
    DeepGPRegressor(**SMALL, verbose=1).fit(*sine)
    assert "energy/row" in capsys.readouterr().err


def test_ten_threads_predict_at_once(sine):
    X, y = sine
    model = DeepGPRegressor(**{**SMALL, "threads": 3}).fit(X, y)
    rows = np.tile(X, (40, 1))
    expected = model.predict(rows, return_std=True)
    with ThreadPoolExecutor(10) as pool:
        for mean, std in pool.map(lambda _: model.predict(rows, return_std=True), range(50)):
            np.testing.assert_array_equal(mean, expected[0])
            np.testing.assert_array_equal(std, expected[1])


def fit_and_predict(seed, X, y):
    return DeepGPRegressor(**{**SMALL, "threads": 2}, random_state=seed).fit(X, y).predict(X)


@pytest.mark.parametrize("prefer", ["threads", "processes"])
def test_joblib(prefer, sine):
    X, y = sine
    results = Parallel(n_jobs=2, prefer=prefer)(delayed(fit_and_predict)(seed, X, y) for seed in (1, 2, 1))
    np.testing.assert_array_equal(results[0], results[2])
    np.testing.assert_array_equal(results[1], fit_and_predict(2, X, y))
    assert (results[0] != results[1]).any()


def test_any_number_of_threads_gives_the_same_bits(sine):
    X, y = sine
    one, three = (DeepGPRegressor(**{**SMALL, "threads": threads}).fit(X, y).predict(X) for threads in (1, 3))
    np.testing.assert_array_equal(one, three)


def test_a_forked_process_predicts_and_fits(sine):
    X, y = sine
    rows = np.tile(X, (20, 1))
    model = DeepGPRegressor(**{**SMALL, "threads": 3}).fit(X, y)
    expected = model.predict(rows)
    child = os.fork()
    if child == 0:
        good = (model.predict(rows) == expected).all() and (fit_and_predict(1, X, y) == expected[:120]).all()
        os._exit(0 if good else 1)
    assert os.waitpid(child, 0)[1] == 0
    np.testing.assert_array_equal(model.predict(rows), expected)


def test_memory_does_not_grow():
    """1000 times fit, predict and delete, in a process of its own."""
    script = """
import numpy as np, resource
from fathom import DeepGPRegressor
X = np.random.default_rng(0).normal(size=(20, 2))
def cycle(times):
    for _ in range(times):
        DeepGPRegressor(hidden=1, inducing=3, steps=1, threads=2).fit(X, X[:, 0]).predict(X)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
first = cycle(100)
print(cycle(900) - first)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 4096  # KB


@pytest.mark.parametrize("variable", ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"])
def test_mpirun_is_told_that_it_trains_several_models(variable, sine, monkeypatch):
    monkeypatch.setenv(variable, "4")
    with pytest.warns(RuntimeWarning, match="each of them trains a whole model by itself.*mpirun -n 4 fathom fit"):
        DeepGPRegressor(**SMALL).fit(*sine)
    monkeypatch.setenv(variable, "1")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DeepGPRegressor(**SMALL).fit(*sine)


def test_checkpoints_are_written_as_often_as_asked(sine, tmp_path):
    X, y = sine
    seen = []
    DeepGPRegressor(**SMALL).fit(X, y, checkpoint=tmp_path / "c", checkpoint_every=0,
                                 callback=lambda progress: seen.append((tmp_path / "c").exists()))
    assert any(seen)
    seen.clear()
    DeepGPRegressor(**SMALL).fit(X, y, checkpoint=tmp_path / "c", checkpoint_every=1000,
                                 callback=lambda progress: seen.append((tmp_path / "c").exists()))
    assert not any(seen)
