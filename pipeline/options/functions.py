"""Functions among Kafka's keys, where an option can only be text: named as `module:function`.

They are looked for wherever a client is made: in the driver, and on the executors, whose Python has
to have the module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from logquake.pipeline.options.values import OptionError

_FUNCTIONS = ("sasl.login.callback.handler.class",)


def with_functions(keys: Mapping[str, str]) -> dict[str, Any]:
    """What a client is set to. Raises OptionError."""
    found = {name: _named(name, keys[name]) for name in _FUNCTIONS if name in keys}
    return {**keys, **found}


def _named(key: str, text: str) -> Callable[..., Any]:
    module, _, name = text.partition(":")
    if not (module and name):
        raise OptionError(f"kafka.{key} is no function's name, module:function: {text}")
    try:
        function = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise OptionError(f"kafka.{key}={text} is not to be found: {error}") from error
    if not callable(function):
        raise OptionError(f"kafka.{key}={text} is no function")
    return function  # type: ignore[no-any-return]
