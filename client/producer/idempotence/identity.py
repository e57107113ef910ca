"""A producer's id and epoch, and whether it has them (ProducerIdAndEpoch)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from logquake.client.errors import ClientError

LAST_EPOCH = 0x7FFF


class Identity(NamedTuple):
    producer_id: int
    epoch: int


@dataclass(frozen=True, slots=True)
class NoId:
    """A broker has to be asked for an id, not before ``not_before_ms``."""

    not_before_ms: int = 0


@dataclass(frozen=True, slots=True)
class AskingForId:
    """A broker was asked."""


@dataclass(frozen=True, slots=True)
class Identified:
    identity: Identity


@dataclass(frozen=True, slots=True)
class Broken:
    """Nothing can be sent any more."""

    error: ClientError


Standing = NoId | AskingForId | Identified | Broken
