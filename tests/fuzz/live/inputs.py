"""A valid request, damaged in some way or not, and what a broker has to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from random import Random
from typing import Any

from logquake.wire.api import ApiKey
from logquake.wire.header import decode_request_header
from tests.fuzz.damage import damaged
from tests.fuzz.live.contents import Contents, World
from tests.fuzz.live.fitness import is_fit, readable

DAMAGED_EACH = 12  # from one valid request
WHOLE_SHARE = 0.15  # of those, left as they are
UNREADABLE_SHARE = 0.3  # of those that cannot be read, sent: each costs its connection
# What Kafka's own classes refuse to be made of, and what cannot be authenticated, ends connections.
_MAY_END = (
    ApiKey.DESCRIBE_ACLS,
    ApiKey.CREATE_ACLS,
    ApiKey.DELETE_ACLS,
    ApiKey.SASL_HANDSHAKE,
    ApiKey.SASL_AUTHENTICATE,
    ApiKey.ENVELOPE,
)


class Expected(Enum):
    ANSWER = "an answer"
    EITHER = "an answer, or none and the end of the connection"
    END = "the end of the connection"
    NOTHING = "nothing, or the end of the connection"


@dataclass(frozen=True, slots=True)
class Input:
    """``content`` is a frame without its length; key and version are -1 where nobody can tell."""

    content: bytes
    key: int
    version: int
    expected: Expected

    @property
    def frame(self) -> bytes:
        return len(self.content).to_bytes(4) + self.content

    def __str__(self) -> str:
        name = ApiKey(self.key).name if self.key in ApiKey.__members__.values() else self.key
        return f"{name} {self.version}: {self.content.hex()}"


def inputs(random: Random, served: Sequence[tuple[int, int]], world: World) -> Iterator[Input]:
    """Without end: of each key and version in an order of its own."""
    contents = Contents(random, world)
    while True:
        for key, version in random.sample(served, len(served)):
            valid = contents.frame(key, version)
            for _ in range(DAMAGED_EACH):
                whole = random.random() < WHOLE_SHARE
                made = judged(valid if whole else damaged(valid, random), served, world)
                if made is None:
                    continue
                if made.expected is not Expected.END or random.random() < UNREADABLE_SHARE:
                    yield made


def judged(content: bytes, served: Sequence[tuple[int, int]], world: World) -> Input | None:
    """None for what is not fit to be sent."""
    read = readable(content)
    if read is None:
        # A later version of ApiVersions is answered, and so may be one that is wrong within.
        is_api_versions = content[:2] == ApiKey.API_VERSIONS.to_bytes(2)
        expected = Expected.EITHER if is_api_versions else Expected.END
        return Input(content, ApiKey.API_VERSIONS if is_api_versions else -1, 0, expected)
    key, request = read
    header, _ = decode_request_header(content)
    if (key, header.api_version) not in served:
        return Input(content, -1, -1, Expected.END)
    if not is_fit(key, request, world):
        return None
    return Input(content, key, header.api_version, _expected(key, request))


def _expected(key: int, request: Any) -> Expected:
    if key == ApiKey.PRODUCE and request.acks == 0:
        return Expected.NOTHING
    return Expected.EITHER if key in _MAY_END else Expected.ANSWER
