"""Kinds of journal events."""

from __future__ import annotations

import pickle

from logquake.seams.journal import EventKind


def test_a_kind_of_event_can_be_sent_to_another_process() -> None:
    kind = EventKind("broker-up", cause="A broker registered.", remedy="Nothing.")
    copy = pickle.loads(pickle.dumps(kind))
    assert (copy, copy.cause, copy.remedy) == (kind, kind.cause, kind.remedy)
