"""The public names of a package, each loaded when it is first used (PEP 562).

Brokers and tools that use one module of a package then load no others.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazily(
    package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The package's ``__getattr__`` and ``__dir__``; ``modules`` has the module of each name."""

    def load(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"{package} has no {name}", name=name, obj=sys.modules[package])
        return getattr(import_module(modules[name]), name)

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *modules})

    return load, names
