"""Throughput over TLS: Produce and Fetch as ``produce`` and ``consume`` measure them, RF 1."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

from benchmarks.consume import consume_case
from benchmarks.produce import KIB, LARGE_BATCH, Bound, Load, produce_cases
from benchmarks.rounds import Case
from benchmarks.security.brokers import Listener, Secured
from benchmarks.target import Target

LOAD = Load(1, KIB, LARGE_BATCH)


def by_tls(secured: Secured) -> Target:
    """The same broker, whose load comes by TLS."""
    there = secured.listeners[Listener.TLS]
    client = {
        "bootstrap.servers": f"{there.host}:{there.port}",
        "security.protocol": "ssl",
        "ssl.ca.location": str(secured.authority),
    }
    return replace(secured.target, client=client)


@contextlib.contextmanager
def throughput_cases(targets: Sequence[Target], bound: Bound) -> Iterator[list[Case[Target]]]:
    """What is read is there for the length of the block."""
    with consume_case(targets, bound, LOAD) as consuming:
        yield [_titled(each) for each in (*produce_cases(bound, [LOAD]), consuming)]


def _titled(case: Case[Target]) -> Case[Target]:
    return replace(case, name=f"TLS, {case.name}")
