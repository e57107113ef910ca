"""Lives that nobody wrote down: what the workload's steps do, in any order, told by a seed."""

from __future__ import annotations

import random
from collections.abc import Callable

from logquake.wire.records import Codec
from tests.doubles.memory_disk import Unsynced
from tests.storage.crash.life import EVENTS, SAFE, TABLE, Life, Producer

Action = Callable[[Life, random.Random], None]


def _append(life: Life, rng: random.Random) -> None:
    topic = rng.choice((EVENTS, EVENTS, TABLE, SAFE))
    codec = rng.choice(list(Codec))
    size = rng.randint(1, 7)
    by_writer = Producer(7, life.epoch) if rng.random() < 0.5 else Producer()
    life.append(
        topic,
        *(life.batch(topic, by_writer, codec=codec, after=before) for before in range(size)),
    )


def _sync(life: Life, rng: random.Random) -> None:
    life.sync(rng.choice((EVENTS, TABLE, SAFE)))
    life.checkpoint()


def _sync_rolled(life: Life, rng: random.Random) -> None:
    life.sync_rolled(rng.choice((EVENTS, TABLE, SAFE)))


def _truncate(life: Life, rng: random.Random) -> None:
    """As a follower does: what is not committed goes, and the next leader's epoch begins."""
    topic = rng.choice((EVENTS, SAFE))
    now = life.stories[topic].now
    droppable = sum(batch.header.base_offset >= now.start for batch in now.batches)
    if droppable:
        life.truncate(topic, rng.randint(1, min(droppable, 12)))


def _delete_records(life: Life, rng: random.Random) -> None:
    now = life.stories[EVENTS].now
    life.delete_records(EVENTS, rng.randint(now.start, now.end))
    life.retain(EVENTS)


def _retain(life: Life, rng: random.Random) -> None:
    life.retain(rng.choice((EVENTS, SAFE)), retention_bytes=rng.choice((0, 1_500, 4_000)))


def _clean(life: Life, _rng: random.Random) -> None:
    life.clean(TABLE)


def _stop_in_order(life: Life, _rng: random.Random) -> None:
    life.close()
    life.open()


def _die(life: Life, _rng: random.Random) -> None:
    life.disk.crash(Unsynced.KEPT)
    life.open()


_ACTIONS: dict[Action, int] = {
    _append: 12,
    _sync: 2,
    _sync_rolled: 2,
    _truncate: 2,
    _delete_records: 1,
    _retain: 1,
    _clean: 2,
    _stop_in_order: 1,
    _die: 1,
}


def live_at_random(life: Life, rng: random.Random, actions: int = 30) -> None:
    """Go on with a life that has begun."""
    for action in rng.choices(list(_ACTIONS), list(_ACTIONS.values()), k=actions):
        if rng.random() < 0.1:
            life.lead_anew()
        action(life, rng)
