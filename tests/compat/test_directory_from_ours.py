"""A log directory of ours opens in Apache Kafka 3.9, and then here again.

After SIGKILL and after an orderly stop, with every codec, several segments, idempotent producers,
a compacted topic and deleted records; every record is served as it was written, ``log verify``
finds the files sound at every stage, and Kafka logs no warning.
"""

from __future__ import annotations

import pytest

from tests.compat.directory_in_turns import DirectoryInTurns
from tests.compat.directory_of_records import grown, read_all, verify
from tests.compat.varied_records import VariedRecords

pytestmark = [pytest.mark.maven, pytest.mark.slow]


def test_kafka_opens_what_ours_wrote(turns: DirectoryInTurns) -> None:
    """Killed at first, when all is in segments that were never synced; stopped in order later."""
    with turns.ours() as servers:
        client = VariedRecords(servers)
        topics = [*client.write_topics(), client.write_compacted()]
        client.delete_before("none", 317)
        turns.wait_for_start("none", 317)
        written = read_all(servers, topics)
        verify(turns.data)
        turns.kill()
    verify(turns.data)
    with turns.kafka() as servers:
        written = grown(servers, topics, written)
        verify(turns.data)
    verify(turns.data)
    with turns.ours() as servers:
        written = grown(servers, topics, written)
    verify(turns.data)
    with turns.kafka() as servers:
        assert read_all(servers, topics) == written
    assert turns.complaints_of_kafka() == ""
