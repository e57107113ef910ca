"""Where a diverged log is cut."""

from __future__ import annotations

import pytest

from logquake.node.replication.fetcher.truncation import truncation_offset
from logquake.storage.log.leader_epochs import LeaderEpochs

EPOCHS = ((2, 0), (4, 10), (7, 20))  # the log ends at 30, its mark is 8


@pytest.mark.parametrize(
    ("leader_epoch", "leader_end", "cut"),
    [
        pytest.param(4, 15, 15, id="the leader's part of a shared epoch is shorter"),
        pytest.param(4, 25, 20, id="our part of a shared epoch is shorter"),
        pytest.param(7, 99, 30, id="never beyond our own end"),
        pytest.param(5, 18, 20, id="an epoch unknown here: cut to the next lower one, ask again"),
        pytest.param(1, 6, 0, id="an epoch before all of ours"),
        pytest.param(9, 22, 22, id="an epoch after all of ours"),
        pytest.param(-1, 12, 12, id="a leader that names no epoch"),
        pytest.param(-1, -1, 8, id="a leader that knows nothing: back to the high watermark"),
    ],
)
def test_cut(leader_epoch: int, leader_end: int, cut: int) -> None:
    assert truncation_offset(leader_epoch, leader_end, LeaderEpochs(EPOCHS), 30, 8) == cut


def test_a_log_without_epochs_follows_the_leader() -> None:
    assert truncation_offset(3, 12, LeaderEpochs(), 30, 8) == 12
