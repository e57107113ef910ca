"""Field specifiers: what a message class assigns to each of its fields.

A specifier is a wire type that, when called, makes the description of one field. To the type
checker the call returns the field's Python type, so that ``acks: int = int16()`` is checked,
and so that every constructor argument is optional with Kafka's own default.

The first argument is always the version range of the field. ``nullable`` is the range in which
null may be written, ``tag`` puts the field among the tagged fields (KIP-482), and ``ignorable``
lets a value be dropped when the version written does not know the field; without it, writing
anything but the default there is an error, as in Kafka.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, cast, overload

from logquake.wire.schema.versions import NO_VERSIONS, Versions
from logquake.wire.uuids import ZERO_UUID

T = TypeVar("T")


class SizedRecords(Protocol):
    """Record bytes that are somewhere else, such as a slice of a log file for sendfile."""

    def __len__(self) -> int: ...


Records: TypeAlias = bytes | bytearray | memoryview | SizedRecords


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a struct. ``default`` of an array is None or an empty tuple."""

    type: FieldType
    versions: Versions
    nullable: Versions
    default: Any
    tag: int | None
    ignorable: bool


def _field(
    kind: FieldType,
    versions: str,
    default: Any,
    *,
    nullable: str | None = None,
    tag: int | None = None,
    ignorable: bool = False,
) -> Any:
    null_range = NO_VERSIONS if nullable is None else Versions.parse(nullable)
    return Field(kind, Versions.parse(versions), null_range, default, tag, ignorable)


@dataclass(frozen=True, slots=True)
class Scalar(Generic[T]):
    """A type of fixed width; ``code`` is its struct format character."""

    code: str
    size: int
    zero: T

    def __call__(
        self,
        versions: str = "0+",
        *,
        default: T | None = None,
        tag: int | None = None,
        ignorable: bool = False,
    ) -> T:
        value = self.zero if default is None else default
        return cast(T, _field(self, versions, value, tag=tag, ignorable=ignorable))


@dataclass(frozen=True, slots=True)
class Text:
    """A UTF-8 string of at most 32767 bytes."""

    @overload
    def __call__(
        self,
        versions: str = "0+",
        *,
        default: str = "",
        tag: int | None = None,
        ignorable: bool = False,
    ) -> str: ...
    @overload
    def __call__(
        self,
        versions: str = "0+",
        *,
        nullable: str,
        default: str | None = "",
        tag: int | None = None,
        ignorable: bool = False,
    ) -> str | None: ...
    def __call__(
        self, versions: str = "0+", *, default: str | None = "", **options: Any
    ) -> str | None:
        return cast("str | None", _field(self, versions, default, **options))


@dataclass(frozen=True, slots=True)
class Binary:
    """Opaque bytes, copied out of the buffer."""

    @overload
    def __call__(
        self, versions: str = "0+", *, tag: int | None = None, ignorable: bool = False
    ) -> bytes: ...
    @overload
    def __call__(
        self,
        versions: str = "0+",
        *,
        nullable: str,
        default: bytes | None = b"",
        tag: int | None = None,
        ignorable: bool = False,
    ) -> bytes | None: ...
    def __call__(
        self, versions: str = "0+", *, default: bytes | None = b"", **options: Any
    ) -> bytes | None:
        return cast("bytes | None", _field(self, versions, default, **options))


@dataclass(frozen=True, slots=True)
class RecordData:
    """Record batches: decoded to a memoryview of the buffer, written as a part of their own."""

    def __call__(self, versions: str = "0+", *, nullable: str = "none") -> Records | None:
        return cast("Records | None", _field(self, versions, None, nullable=nullable))


@dataclass(frozen=True, slots=True)
class ArrayOf:
    element: FieldType


@dataclass(frozen=True, slots=True)
class StructOf:
    struct: type[Any]


FieldType: TypeAlias = Scalar[Any] | Text | Binary | RecordData | ArrayOf | StructOf

boolean: Scalar[bool] = Scalar("?", 1, False)
int8: Scalar[int] = Scalar("b", 1, 0)
int16: Scalar[int] = Scalar("h", 2, 0)
uint16: Scalar[int] = Scalar("H", 2, 0)
int32: Scalar[int] = Scalar("i", 4, 0)
int64: Scalar[int] = Scalar("q", 8, 0)
float64: Scalar[float] = Scalar("d", 8, 0.0)
uuid: Scalar[bytes] = Scalar("16s", 16, ZERO_UUID)
string = Text()
binary = Binary()
record_data = RecordData()


@overload
def array(
    element: Callable[..., T],
    versions: str = "0+",
    *,
    tag: int | None = None,
    ignorable: bool = False,
) -> list[T]: ...
@overload
def array(
    element: Callable[..., T],
    versions: str = "0+",
    *,
    nullable: str,
    default: tuple[()] | None = (),
    tag: int | None = None,
    ignorable: bool = False,
) -> list[T] | None: ...
def array(element: Any, versions: str = "0+", *, default: Any = (), **options: Any) -> Any:
    """A list of scalars, strings or structs: ``array(int32)``, ``array(TopicData)``."""
    return _field(ArrayOf(_element_type(element)), versions, default, **options)


@overload
def struct(
    kind: Callable[..., T],
    versions: str = "0+",
    *,
    tag: int | None = None,
    ignorable: bool = False,
) -> T: ...
@overload
def struct(
    kind: Callable[..., T],
    versions: str = "0+",
    *,
    nullable: str,
    default: None = ...,
    tag: int | None = None,
    ignorable: bool = False,
) -> T | None: ...
def struct(kind: Any, versions: str = "0+", **options: Any) -> Any:
    """One nested struct. Without ``default=None`` its default is a struct of defaults."""
    default = options.pop("default", kind)
    return _field(StructOf(kind), versions, default, **options)


def _element_type(element: Any) -> FieldType:
    return StructOf(element) if isinstance(element, type) else element
