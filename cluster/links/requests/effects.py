"""What comes out of a conversation: to be done to its connection, in this order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from logquake.cluster.links.interception import Way


@dataclass(frozen=True, slots=True)
class Forward:
    """These bytes go on."""

    way: Way
    data: bytes


@dataclass(frozen=True, slots=True)
class End:
    """No more come that way."""

    way: Way


@dataclass(frozen=True, slots=True)
class Reset:
    """The connection is over."""


Effect: TypeAlias = Forward | End | Reset
