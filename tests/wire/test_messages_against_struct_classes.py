"""The classes that two Python clients wrote by hand from Kafka's documentation, version by version.

aiokafka speaks with them today; kafka-python did before its third release, and keeps them. They
are the oldest descriptions of the protocol here: Produce 0, Fetch 0 and OffsetCommit 0 among them.
Their values come in the order of the wire; tagged fields they leave as bytes.
"""

from __future__ import annotations

import pkgutil
import re
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Any

import aiokafka.protocol
import pytest

from logquake.wire.schema import Struct, decode, encode
from tests.wire.samples import Chooser, Samples
from tests.wire.tables import MESSAGE_TYPES, PAIRS, Pair

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # importing kafka reads files the old way
    import kafka.protocol.old

# Kafka's names for what the two call otherwise.
NAMES = {
    "ApiVersionRequest": "ApiVersionsRequest",
    "ApiVersionResponse": "ApiVersionsResponse",
    "OffsetRequest": "ListOffsetsRequest",
    "OffsetResponse": "ListOffsetsResponse",
    "SaslHandShakeRequest": "SaslHandshakeRequest",
    "SaslHandShakeResponse": "SaslHandshakeResponse",
}

# Errors of these classes. DescribeAcls 2 is flexible and theirs is not; a leader epoch has four
# bytes, not eight; a request for the log directories of all topics is a null, which kafka-python's
# version 0 takes for something else.
WRONG: dict[str, set[Pair]] = {
    "aiokafka": {
        ("DescribeAclsRequest", 2),
        ("DescribeAclsResponse", 2),
        ("ListOffsetsRequest", 4),
        ("ListOffsetsRequest", 5),
    },
    "kafka-python": {
        ("DescribeAclsRequest", 2),
        ("DescribeAclsResponse", 2),
        ("DescribeLogDirsRequest", 0),
    },
}

NO_OPERATIONS = -(2**31)  # the authorized operations that were not asked for
PROVEN = f"of {len(PAIRS)} (message, version) pairs agree with the struct classes of"


def struct_classes(package: Any) -> dict[Pair, Any]:
    found = {}
    for module in pkgutil.iter_modules(package.__path__):
        for name, value in vars(import_module(f"{package.__name__}.{module.name}")).items():
            match = re.fullmatch(r"(\w+)_v(\d+)", name)
            if match is not None and hasattr(value, "SCHEMA"):
                found[NAMES.get(match[1], match[1]), int(match[2])] = value
    return {pair: value for pair, value in found.items() if pair in PAIRS}


CLASSES = {
    "aiokafka": struct_classes(aiokafka.protocol),
    "kafka-python": struct_classes(kafka.protocol.old),
}
CASES = [
    pytest.param(library, pair, id=f"{library}-{pair[0]}-{pair[1]}")
    for library, classes in CLASSES.items()
    for pair in sorted(classes.keys() - WRONG[library])
]


def values_they_take(message: str, name: str) -> Chooser | None:
    if message == "ApiVersionsResponse" and name == "error_code":
        return lambda _: 0  # with an error kafka-python reads version 0
    return None


@pytest.mark.parametrize(("library", "pair"), CASES)
def test_a_struct_class_reads_and_writes_the_same(
    library: str, pair: Pair, record_property: Callable[[str, object], None]
) -> None:
    name, version = pair
    cls, theirs = MESSAGE_TYPES[name], CLASSES[library][pair]
    for message in Samples(name, partial(values_they_take, name)).of(cls, version):
        written = encode(message, version)
        read = theirs.decode(written)
        assert list(leaves_of_theirs([getattr(read, n) for n in read.SCHEMA.names])) == list(
            leaves(message, version)
        )
        assert read.encode() == written
        assert decode(cls, version, read.encode()) == message
    record_property(f"{PROVEN} {library}", 1)


def test_the_struct_classes_are_those_that_were_there() -> None:
    """A new release that moved them would prove nothing without a word."""
    assert {library: len(classes) for library, classes in CLASSES.items()} == {
        "aiokafka": 206,
        "kafka-python": 274,
    }


@pytest.mark.parametrize(
    ("library", "pair"), [(library, pair) for library in WRONG for pair in sorted(WRONG[library])]
)
def test_what_is_left_out_is_still_wrong_there(library: str, pair: Pair) -> None:
    samples = Samples(pair[0]).of(MESSAGE_TYPES[pair[0]], pair[1])
    written = [encode(message, pair[1]) for message in samples]
    assert not all(comes_back(CLASSES[library][pair], data) for data in written)


def comes_back(theirs: Any, data: bytes) -> bool:
    try:
        return bool(theirs.decode(data).encode() == data)
    except ValueError:
        return False


def leaves(value: Any, version: int) -> Iterator[Any]:
    """The values in the order of the wire, without tagged fields."""
    match value:
        case Struct():
            for name, field in value.__schema__.fields.items():
                if version in field.versions and field.tag is None:
                    yield from leaves(getattr(value, name), version)
        case list():
            for item in value:
                yield from leaves(item, version)
        case _:
            yield None if value == NO_OPERATIONS else value


def leaves_of_theirs(value: Any) -> Iterator[Any]:
    match value:
        case list() | tuple():
            for item in value:
                yield from leaves_of_theirs(item)
        case dict():  # tagged fields
            return
        case set():  # of authorized operations
            bits = sum(1 << bit for bit in value).to_bytes(4, "big")
            yield int.from_bytes(bits, "big", signed=True)
        case _:
            yield None if value == NO_OPERATIONS else value
