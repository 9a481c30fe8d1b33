# Written by `python -m fathom._parameters` from the fields of the recipe.
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fathom import _core

class Parameter(NamedTuple):
    name: str
    default: Any
    help: str
    type: str
    field: str | None = ...

PARAMETERS: dict[str, Parameter]

def describe_parameters() -> str: ...
def stub() -> str: ...

class RecipeParameters:
    hidden: int | Sequence[int]
    inducing: int | Sequence[int]
    kernel: str
    likelihood: str
    propagation: str
    paths: int
    full_covariance: bool
    linear_mean: bool
    skip_links: bool
    shared: bool
    site_form: bool
    stack: str
    local: str
    target_kind: str
    inference: str
    alpha: float
    mixture: bool
    effort: float
    low_noise_steps: int
    lengthscale_prior: float
    noise_floor: float
    whitening: str
    warping: str
    precision: str
    seed: int
    threads: int
    steps: int
    time_budget: float
    batch_size: int
    learning_rate: float
    warm_up: int
    decay: bool
    patience: int
    tolerance: float
    cool_down: int
    max_recoveries: int
    beta1: float
    beta2: float
    epsilon: float
    start: str
    lengthscale: float
    upper_lengthscale: float
    hidden_noise: float
    output_noise: float
    hidden_posterior_var: float
    sample_rows: int
    quality: str
    categorical: Sequence[str | int] | None
    bits: Sequence[str | int] | None
    warm_start: bool
    random_state: int | np.random.RandomState | None
    n_jobs: int | None
    verbose: int

    def __init__(
        self,
        *,
        hidden: int | Sequence[int] = ...,
        inducing: int | Sequence[int] = ...,
        kernel: str = ...,
        likelihood: str = ...,
        propagation: str = ...,
        paths: int = ...,
        full_covariance: bool = ...,
        linear_mean: bool = ...,
        skip_links: bool = ...,
        shared: bool = ...,
        site_form: bool = ...,
        stack: str = ...,
        local: str = ...,
        target_kind: str = ...,
        inference: str = ...,
        alpha: float = ...,
        mixture: bool = ...,
        effort: float = ...,
        low_noise_steps: int = ...,
        lengthscale_prior: float = ...,
        noise_floor: float = ...,
        whitening: str = ...,
        warping: str = ...,
        precision: str = ...,
        seed: int = ...,
        threads: int = ...,
        steps: int = ...,
        time_budget: float = ...,
        batch_size: int = ...,
        learning_rate: float = ...,
        warm_up: int = ...,
        decay: bool = ...,
        patience: int = ...,
        tolerance: float = ...,
        cool_down: int = ...,
        max_recoveries: int = ...,
        beta1: float = ...,
        beta2: float = ...,
        epsilon: float = ...,
        start: str = ...,
        lengthscale: float = ...,
        upper_lengthscale: float = ...,
        hidden_noise: float = ...,
        output_noise: float = ...,
        hidden_posterior_var: float = ...,
        sample_rows: int = ...,
        quality: str = ...,
        categorical: Sequence[str | int] | None = ...,
        bits: Sequence[str | int] | None = ...,
        warm_start: bool = ...,
        random_state: int | np.random.RandomState | None = ...,
        n_jobs: int | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def _recipe(self) -> _core.Recipe: ...
    def _threads(self) -> int: ...
