from __future__ import annotations

from logquake.storage.log.leader_epochs import LeaderEpochs

# Epochs 1, 3 and 4 wrote from offsets 0, 10 and 25 on; the log ends at 40.
ENTRIES = [(1, 0), (3, 10), (4, 25)]


def test_the_latest_epoch_ends_at_the_log_end() -> None:
    assert LeaderEpochs(ENTRIES).end_offset_for(4, 40) == (4, 40)


def test_an_earlier_epoch_ends_where_the_next_begins() -> None:
    assert LeaderEpochs(ENTRIES).end_offset_for(3, 40) == (3, 25)


def test_an_epoch_that_wrote_nothing_is_answered_with_the_one_before() -> None:
    assert LeaderEpochs(ENTRIES).end_offset_for(2, 40) == (1, 10)


def test_an_epoch_older_than_the_log_ends_where_the_log_begins() -> None:
    assert LeaderEpochs([(3, 10), (4, 25)]).end_offset_for(2, 40) == (2, 10)


def test_unknown_epochs_are_undefined() -> None:
    assert LeaderEpochs(ENTRIES).end_offset_for(5, 40) == (-1, -1)
    assert LeaderEpochs(ENTRIES).end_offset_for(-1, 40) == (-1, -1)
    assert LeaderEpochs().end_offset_for(0, 40) == (-1, -1)


def test_assigning_the_current_epoch_again_changes_nothing() -> None:
    epochs = LeaderEpochs(ENTRIES)
    epochs.assign(4, 30)
    assert list(epochs.entries) == ENTRIES
    assert not epochs.changed


def test_a_new_epoch_replaces_entries_that_begin_no_earlier() -> None:
    epochs = LeaderEpochs(ENTRIES)
    epochs.assign(6, 25)
    assert list(epochs.entries) == [(1, 0), (3, 10), (6, 25)]
    assert epochs.changed


def test_an_older_epoch_replaces_the_newer_ones() -> None:
    epochs = LeaderEpochs(ENTRIES)
    epochs.assign(2, 50)
    assert list(epochs.entries) == [(1, 0), (2, 50)]


def test_truncating_the_end_drops_epochs_that_begin_there_or_later() -> None:
    epochs = LeaderEpochs(ENTRIES)
    epochs.truncate_from_end(25)
    assert list(epochs.entries) == [(1, 0), (3, 10)]
    epochs.changed = False
    epochs.truncate_from_end(11)
    assert list(epochs.entries) == [(1, 0), (3, 10)]
    assert not epochs.changed


def test_truncating_the_start_moves_the_epoch_that_it_falls_into() -> None:
    epochs = LeaderEpochs(ENTRIES)
    epochs.truncate_from_start(12)
    assert list(epochs.entries) == [(3, 12), (4, 25)]
    epochs.truncate_from_start(25)
    assert list(epochs.entries) == [(4, 25)]
    epochs.truncate_from_start(20)
    assert list(epochs.entries) == [(4, 25)]


def test_the_epoch_of_an_offset() -> None:
    epochs = LeaderEpochs([(3, 10), (4, 25)])
    found = [epochs.epoch_for(offset) for offset in (9, 10, 24, 25, 99)]
    assert found == [None, 3, 3, 4, 4]
