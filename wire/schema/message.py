"""Base classes of everything the codec reads and writes.

A class body of field specifiers becomes a slotted class with a keyword constructor, ``==`` and
a repr that shows what differs from the defaults. Instances are mutable while they are being
filled and treated as immutable afterwards. The default of a nested struct is one shared
instance that refuses assignment: a FetchResponse has three such fields per partition.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, NoReturn, TypeVar, dataclass_transform

from logquake.wire.schema.fields import ArrayOf, Field, StructOf
from logquake.wire.schema.versions import Versions

S = TypeVar("S", bound="Struct")

MISSING: Any = object()


@dataclass(slots=True, eq=False)
class Schema:
    """What a class body said, and the code compiled from it so far, by version."""

    name: str
    fields: dict[str, Field]
    versions: Versions
    flexible: Versions
    key: int | None
    default: Struct | None = None
    decoders: dict[int, Callable[..., Any]] = field(default_factory=dict)
    encoders: dict[int, Callable[..., None]] = field(default_factory=dict)


@dataclass_transform(kw_only_default=True)
class StructType(type):
    """Turns field specifiers into slots and a constructor."""

    def __new__(
        mcs,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        *,
        key: int | None = None,
        versions: str = "0+",
        flexible: str = "none",
    ) -> StructType:
        fields = {n: value for n, value in namespace.items() if isinstance(value, Field)}
        for field_name in fields:
            del namespace[field_name]
        namespace["__slots__"] = tuple(fields)
        if fields:
            namespace["__init__"] = _constructor(fields)
        namespace["__schema__"] = Schema(
            name, fields, Versions.parse(versions), Versions.parse(flexible), key
        )
        return super().__new__(mcs, name, bases, namespace)

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: Any, **_: object) -> None:
        super().__init__(name, bases, namespace)


class Struct(metaclass=StructType):
    """A struct nested in a message; its version ranges are those of the message."""

    __schema__: ClassVar[Schema]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Struct) or self.__schema__ is not other.__schema__:
            return NotImplemented
        return all(getattr(self, n) == getattr(other, n) for n in self.__schema__.fields)

    __hash__ = None  # type: ignore[assignment]  # compared by value and mutable

    def __repr__(self) -> str:
        shown = (
            f"{name}={getattr(self, name)!r}"
            for name, spec in self.__schema__.fields.items()
            if getattr(self, name) != default_value(spec)
        )
        return f"{self.__schema__.name}({', '.join(shown)})"


class Message(Struct):
    """A whole request, response or stored record.

    Class keywords: ``key`` (the API key, none for stored data), ``versions`` (the valid range)
    and ``flexible`` (the versions of compact lengths and tagged fields, KIP-482).
    """


def default_value(spec: Field) -> Any:
    """What a field holds when nothing was said: a fresh list, or the shared struct."""
    if isinstance(spec.type, ArrayOf) and spec.default is not None:
        return []
    if isinstance(spec.type, StructOf) and spec.default is not None:
        return shared_default(spec.type.struct)
    return spec.default


def shared_default(cls: type[S]) -> S:
    """The one instance of defaults of a struct class; assigning to it is an AttributeError."""
    schema = cls.__schema__
    if schema.default is None:
        instance: Struct = object.__new__(_frozen(cls))
        for name, spec in schema.fields.items():
            object.__setattr__(instance, name, default_value(spec))
        schema.default = instance
    return schema.default  # type: ignore[return-value]  # an instance of a subclass of cls


def _frozen(cls: type[Struct]) -> type[Struct]:
    def refuse(self: Struct, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{self!r} is a shared default; make a new one to set {name}={value}")

    namespace = {"__slots__": (), "__setattr__": refuse}
    return type.__new__(StructType, cls.__name__, (cls,), namespace)  # type: ignore[return-value]


def _constructor(fields: dict[str, Field]) -> Callable[..., None]:
    """``__init__`` of straight-line assignments; a list default is made anew each time."""
    env: dict[str, Any] = {"MISSING": MISSING}
    parameters, body = [], []
    for name, spec in fields.items():
        if isinstance(spec.type, ArrayOf) and spec.default is not None:
            parameters.append(f"{name}=MISSING")
            body.append(f"    self.{name} = [] if {name} is MISSING else {name}")
        else:
            env[f"default_{name}"] = default_value(spec)
            parameters.append(f"{name}=default_{name}")
            body.append(f"    self.{name} = {name}")
    source = f"def __init__(self, *, {', '.join(parameters)}):\n" + "\n".join(body)
    exec(source, env)
    constructor: Callable[..., None] = env["__init__"]
    return constructor
