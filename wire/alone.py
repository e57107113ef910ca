"""A module out of another project's package, without the package.

Python runs a package before any of its modules, and some packages bring far more than is asked for:
aiokafka's its clients, its protocol and asyncio, a third of what a client of ours weighs. Here the
package is put in its place unrun. It runs when somebody asks for what it does not have yet, as for
a program that uses both.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from importlib.util import find_spec, module_from_spec
from itertools import accumulate
from types import ModuleType
from typing import cast


class _Unrun(ModuleType):
    """A package without a path: the import of another of its modules asks for that first."""

    def __getattr__(self, name: str) -> object:
        parent = self.__name__.rpartition(".")[0]
        if parent:
            iter(sys.modules[parent].__path__)  # runs that one first, which may run this one
        if type(self) is _Unrun:
            self.__class__ = cast("type[_Unrun]", ModuleType)
            importlib.reload(self)
        return getattr(self, name)


def import_alone(name: str) -> ModuleType:
    """Packages that have run stay as they are. Raises ImportError."""
    unrun = list(_put_in_place(name))
    try:
        module = importlib.import_module(name)
    except ImportError:
        for package in unrun:
            del sys.modules[package.__name__]
        raise
    for package in unrun:
        if type(package) is _Unrun:
            del package.__path__
    return module


def _put_in_place(name: str) -> Iterator[ModuleType]:
    """The packages around it that have not run, the outermost first."""
    *around, _ = accumulate(name.split("."), "{}.{}".format)
    for each in around:
        spec = None if each in sys.modules else find_spec(each)
        if spec is not None:
            package = module_from_spec(spec)
            package.__class__ = _Unrun
            sys.modules[each] = package
            outer, _, own = each.rpartition(".")
            if outer:
                setattr(sys.modules[outer], own, package)
            yield package
