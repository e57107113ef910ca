"""The scripted workload: one step a behaviour, in an order that lets each meet the others' files.

A step is a few calls of a Life. STEPS run one after the other on one disk; a crash comes at every
call and every page of each of them.
"""

from __future__ import annotations

from collections.abc import Callable

from logquake.wire.compression import Codec
from logquake.wire.records import ControlType
from tests.doubles.memory_disk import Unsynced
from tests.storage.crash.life import EVENTS, PASSING, SAFE, TABLE, Life, Producer

IDEMPOTENT = Producer(7, 0)
NEWER = Producer(7, 1)
COMMITS = Producer(21, 0, transactional=True)
ABORTS = Producer(22, 0, transactional=True)
LASTS = Producer(23, 0, transactional=True)

Step = Callable[[Life], None]


def first_start(life: Life) -> None:
    life.open()
    for topic in (EVENTS, TABLE, SAFE, PASSING):
        life.create(topic)
    for topic in (EVENTS, TABLE):  # of the others the id comes with their first records
        life.write_topic_id(topic)


def append_every_codec(life: Life) -> None:
    for codec in Codec:
        life.append(EVENTS, life.batch(EVENTS, codec=codec), life.batch(EVENTS, codec=codec))


def append_idempotently(life: Life) -> None:
    for topic in (EVENTS, SAFE):
        life.append(topic, *(life.batch(topic, IDEMPOTENT, after=before) for before in range(3)))
    life.append(EVENTS, life.batch(EVENTS, NEWER))


def flush(life: Life) -> None:
    life.sync(EVENTS)
    life.checkpoint()


def transactions(life: Life) -> None:
    for producer in (COMMITS, ABORTS):
        life.append(EVENTS, life.batch(EVENTS, producer))
    life.append(EVENTS, life.batch(EVENTS), life.batch(EVENTS, ABORTS))
    life.mark(EVENTS, COMMITS, ControlType.COMMIT)
    life.mark(EVENTS, ABORTS, ControlType.ABORT)
    life.append(EVENTS, life.batch(EVENTS, LASTS))


def roll(life: Life) -> None:
    for _ in range(3):
        life.append(EVENTS, *(life.batch(EVENTS, count=4) for _ in range(5)))


def sync_what_was_rolled(life: Life) -> None:
    life.sync_rolled(EVENTS)
    life.checkpoint()


def next_leader_epoch(life: Life) -> None:
    life.lead_anew()
    life.append(EVENTS, life.batch(EVENTS, NEWER))
    life.append(SAFE, life.batch(SAFE))


def truncate_within_the_active_segment(life: Life) -> None:
    life.truncate(EVENTS, 1)
    life.append(EVENTS, life.batch(EVENTS))


def truncate_over_segments(life: Life) -> None:
    life.truncate(EVENTS, 9)
    life.append(EVENTS, *(life.batch(EVENTS) for _ in range(3)))


def truncate_two_logs_together(life: Life) -> None:
    """Below what the checkpoint says of either, which is lowered once."""
    life.append(EVENTS, life.batch(EVENTS))
    life.append(SAFE, life.batch(SAFE))
    life.sync(EVENTS)
    life.checkpoint()
    life.truncate_together(EVENTS, SAFE)
    for topic in (EVENTS, SAFE):
        life.append(topic, life.batch(topic))


def abort_what_lasted(life: Life) -> None:
    life.mark(EVENTS, LASTS, ControlType.ABORT)


def clean_stop_and_start(life: Life) -> None:
    life.close()
    life.open()


def kill_and_start(life: Life) -> None:
    life.append(EVENTS, life.batch(EVENTS))
    life.disk.crash(Unsynced.KEPT)
    life.open()


def table_of_updates(life: Life) -> None:
    for _ in range(5):
        life.append(TABLE, *(life.batch(TABLE, count=4) for _ in range(3)))
    life.append(TABLE, life.batch(TABLE, keys="a", value=None))
    life.sync(TABLE)
    life.checkpoint()


def compact(life: Life) -> None:
    before = life.log(TABLE).size
    life.clean(TABLE)
    assert life.log(TABLE).size < before


def compact_again(life: Life) -> None:
    """Tombstones of the first time go, small segments become one."""
    for _ in range(3):
        life.append(TABLE, *(life.batch(TABLE, count=4) for _ in range(3)))
    life.now_ms += 100_000_000
    life.clean(TABLE)


def delete_records(life: Life) -> None:
    middle = life.stories[EVENTS].now.batches[4].header
    life.delete_records(EVENTS, middle.base_offset + 1)
    life.checkpoint()
    life.append(EVENTS, life.batch(EVENTS))
    life.retain(EVENTS)


def retain_by_size(life: Life) -> None:
    life.retain(EVENTS, retention_bytes=2_000)
    life.append(EVENTS, life.batch(EVENTS))


def retain_by_age(life: Life) -> None:
    """Everything goes, the offsets go on."""
    life.now_ms += 10_000
    life.retain(SAFE, retention_ms=5_000)
    life.append(SAFE, life.batch(SAFE, IDEMPOTENT))


def delete_topic(life: Life) -> None:
    life.append(PASSING, *(life.batch(PASSING) for _ in range(12)))
    life.sync(PASSING)
    life.delete_records(PASSING, 20)
    life.checkpoint()
    life.delete(PASSING)


def make_a_topic_of_the_same_name(life: Life) -> None:
    life.create(PASSING)
    life.append(PASSING, life.batch(PASSING))


def free_deleted_space(life: Life) -> None:
    for path in life.log_dir.deleted.paths():
        life.log_dir.deleted.remove(path)


def start_over_as_a_follower(life: Life) -> None:
    life.restart_at(SAFE, 500)
    life.append(SAFE, life.batch(SAFE))


def last_stop(life: Life) -> None:
    life.close()


STEPS: tuple[Step, ...] = (
    first_start,
    append_every_codec,
    append_idempotently,
    flush,
    transactions,
    roll,
    sync_what_was_rolled,
    next_leader_epoch,
    truncate_within_the_active_segment,
    truncate_over_segments,
    truncate_two_logs_together,
    abort_what_lasted,
    table_of_updates,
    compact,
    compact_again,
    delete_topic,
    make_a_topic_of_the_same_name,
    free_deleted_space,
    clean_stop_and_start,
    delete_records,
    retain_by_size,
    retain_by_age,
    start_over_as_a_follower,
    kill_and_start,
    last_stop,
)
