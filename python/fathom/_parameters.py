"""The parameters of the estimators, made from the list of the recipe's fields in the C++ library.

``_parameters.pyi`` shows the same to type checkers and editors; ``python -m fathom._parameters`` prints it.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import textwrap
from typing import Any, NamedTuple

from fathom import _core


class Parameter(NamedTuple):
    """A parameter of an estimator."""

    name: str
    default: Any
    help: str
    type: str
    field: str | None = None  # of the recipe: "optimizer.learning_rate"


_TYPES = {
    "flag": "bool",
    "whole number": "int",
    "number": "float",
    "string": "str",
    "choice": "str",
    "list of whole numbers": "int | Sequence[int]",
}


def _recipe_parameters() -> list[Parameter]:
    parameters = []
    for field in json.loads(_core.recipe_fields()):
        default = field["default"]
        if isinstance(default, list):
            default = tuple(default)
        text = field["help"]
        if field["kind"] == "choice":
            text += " (" + ", ".join(f"'{choice}'" for choice in field["choices"]) + ")"
        elif "allowed" in field:
            text += " (" + field["allowed"] + ")"
        if "unit" in field:
            text += f", in {field['unit']}"
        name = field["name"].rsplit(".", 1)[-1]
        parameters.append(Parameter(name, default, text, _TYPES[field["kind"]], field["name"]))
    return parameters


# Those that are not fields of the recipe.
_OWN = [
    Parameter("quality", "default", "Time against accuracy, as defaults of the other parameters: 'fast' trains one "
              "small network, 'best' always a stack, 'paper' the network of the paper by its recipe ('fast', "
              "'default', 'best', 'paper')", "str"),
    Parameter("categorical", None, "Columns whose numbers are names of categories, by name or number from 0; "
              "strings are categories anyway", "Sequence[str | int] | None"),
    Parameter("bits", None, "Columns of hexadecimal digits, such as fingerprints of molecules, by name or number from "
              "0: each digit is four inputs of 0 or 1", "Sequence[str | int] | None"),
    Parameter("warm_start", False, "fit continues from the network that is there, for `steps` steps", "bool"),
    Parameter("random_state", None, "What scikit-learn calls `seed`, and wins over it if it is not None",
              "int | np.random.RandomState | None"),
    Parameter("n_jobs", None, "What scikit-learn calls `threads`, and wins over it if it is not None; -1 means all "
              "cores", "int | None"),
    Parameter("verbose", 0, "1 shows a progress bar", "int"),
]

PARAMETERS = {parameter.name: parameter for parameter in [*_recipe_parameters(), *_OWN]}


def describe_parameters() -> str:
    """The "Parameters" of a docstring."""
    lines = []
    for parameter in PARAMETERS.values():
        lines.append(f"{parameter.name} : {parameter.type}, default={parameter.default!r}")
        lines += textwrap.wrap(parameter.help + ".", 110, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


def _plain(value: Any) -> Any:
    """A value as JSON has it: NumPy's numbers become Python's, and what JSON lacks becomes a word."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and value - value != 0:
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    return value


class RecipeParameters:
    """Has every field of the recipe as a parameter, as scikit-learn wants them: stored untouched."""

    def __init__(self, **parameters: Any) -> None:
        for name, parameter in PARAMETERS.items():
            setattr(self, name, parameters.pop(name, parameter.default))
        for name in parameters:
            raise TypeError(f"{type(self).__name__} has no parameter '{name}'; they are {', '.join(PARAMETERS)}")

    def _recipe(self) -> _core.Recipe:
        """The recipe that the parameters describe, checked."""
        recipe: dict[str, Any] = {}
        given = set()
        for name, parameter in PARAMETERS.items():
            if parameter.field is None:
                continue
            value = _plain(self._value_of(name))
            if parameter.type.startswith("int | Sequence") and not isinstance(value, list):
                value = [] if value == 0 else [value]
            if value != _plain(parameter.default):
                given.add(parameter.field)
            *groups, last = parameter.field.split(".")
            place = recipe
            for group in groups:
                place = place.setdefault(group, {})
            place[last] = value
        try:
            text = json.dumps(recipe, allow_nan=False)
        except TypeError:
            self._refuse_odd_values()
            raise
        try:
            return _core.Recipe(text, str(self.quality), given)  # type: ignore[attr-defined]
        except ValueError as error:  # which calls a parameter a field, and quotes its value as JSON
            told = re.sub(r"^recipe field (\w+\.)*", "", str(error))
            raise ValueError(re.sub(r"""'"(.*)"'""", r"'\1'", told)) from None

    def _value_of(self, name: str) -> Any:
        value = getattr(self, name)
        if name == "seed" and self.random_state is not None:  # type: ignore[attr-defined]
            return self._seed_of(self.random_state)  # type: ignore[attr-defined]
        if name == "threads":
            return self._threads()
        return value

    @staticmethod
    def _seed_of(random_state: Any) -> Any:
        if hasattr(random_state, "randint"):
            return int(random_state.randint(2**31))
        return random_state

    def _threads(self) -> Any:
        """Threads to use. joblib tells its workers by OMP_NUM_THREADS how many each may have."""
        jobs = self.n_jobs  # type: ignore[attr-defined]
        if jobs is None:
            threads = self.threads  # type: ignore[attr-defined]
            limit = os.environ.get("OMP_NUM_THREADS", "")
            return int(limit) if threads == 0 and limit.isdigit() else threads
        return max(1, (os.cpu_count() or 1) + 1 + jobs) if jobs < 0 else jobs

    def _refuse_odd_values(self) -> None:
        for name in PARAMETERS:
            value = getattr(self, name)
            try:
                json.dumps(_plain(value))
            except TypeError:
                kind = PARAMETERS[name].type
                raise ValueError(f"{name} must be {kind}, not {value!r}") from None


RecipeParameters.__init__.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    + [inspect.Parameter(p.name, inspect.Parameter.KEYWORD_ONLY, default=p.default) for p in PARAMETERS.values()]
)


def stub() -> str:
    """The text of _parameters.pyi."""
    arguments = "".join(f"        {p.name}: {p.type} = ...,\n" for p in PARAMETERS.values())
    fields = "".join(f"    {p.name}: {p.type}\n" for p in PARAMETERS.values())
    return f'''# Written by `python -m fathom._parameters` from the fields of the recipe.
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
{fields}
    def __init__(
        self,
        *,
{arguments}    ) -> None: ...
    def _recipe(self) -> _core.Recipe: ...
    def _threads(self) -> int: ...
'''


if __name__ == "__main__":
    print(stub(), end="")
