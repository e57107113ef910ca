"""A log directory of Apache Kafka 3.9 opens here, and then there again.

As in test_directory_from_ours.py, with transactions and a group's offsets besides.
"""

from __future__ import annotations

import pytest

from tests.compat.directory_in_turns import DirectoryInTurns
from tests.compat.directory_of_records import grown, read_all, verify
from tests.compat.varied_records import VariedRecords

pytestmark = [pytest.mark.maven, pytest.mark.slow]


def test_ours_opens_what_kafka_wrote(turns: DirectoryInTurns) -> None:
    """Killed at first, when all is in segments that were never synced; stopped in order later."""
    strangers = [turns.data / "note.txt", turns.data / "none-0" / "unknown.file"]
    with turns.kafka() as servers:
        client = VariedRecords(servers)
        topics = [*client.write_topics(), client.write_compacted(), *client.write_transactions()]
        client.delete_before("none", 317)
        turns.wait_for_start("none", 317)
        client.commit_offset("group", "none", 400)
        written = read_all(servers, topics)
        turns.kill()
    for stranger in strangers:
        stranger.write_text("left alone")
    verify(turns.data)
    with turns.ours() as servers:
        written = grown(servers, topics, written)
    verify(turns.data)
    with turns.kafka() as servers:
        assert VariedRecords(servers).committed_offset("group", "none") == 400
        written = grown(servers, topics, written)
    assert turns.complaints_of_kafka() == ""
    verify(turns.data)
    with turns.ours() as servers:
        assert VariedRecords(servers).committed_offset("group", "none") == 400
        assert read_all(servers, topics) == written
    assert [stranger.read_text() for stranger in strangers] == ["left alone"] * 2
