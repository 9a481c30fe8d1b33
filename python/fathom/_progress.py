"""Progress of a training on the screen."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from fathom import _core

Callback = Callable[[_core.Progress], Any]


class ProgressBar:
    """Shows how far a training has come: by tqdm in terminals and notebooks, or in plain lines without it."""

    def __init__(self, inner: Callback | None) -> None:
        self._inner = inner
        self._last = 0.0
        try:
            from tqdm.auto import tqdm

            layout = "{l_bar}{bar}| {elapsed}<{remaining}{postfix}"
            self._bar: Any = tqdm(total=100, desc="fit", unit="%", bar_format=layout)
        except ImportError:
            self._bar = None

    def __call__(self, progress: _core.Progress) -> Any:
        now = time.monotonic()
        if now - self._last >= 0.1 or progress.fraction >= 1:
            self._last = now
            self._show(progress)
        return None if self._inner is None else self._inner(progress)

    def _show(self, progress: _core.Progress) -> None:
        energy = f"energy/row {progress.energy_per_row:.4f}"
        if self._bar is None:
            print(f"\rfit {100 * progress.fraction:3.0f} %  {energy}", end="", file=sys.stderr, flush=True)
            return
        self._bar.set_postfix_str(energy, refresh=False)
        self._bar.update(100 * progress.fraction - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        else:
            print(file=sys.stderr)
