"""Message sets that Apache Kafka wrote, magic 0 and 1, are opened here, and there again.

Meanwhile batches are added behind them.
"""

from __future__ import annotations

import pytest

from tests.compat.directory_in_turns import DirectoryInTurns
from tests.compat.directory_of_records import grown, read_all, verify
from tests.compat.varied_records import VariedRecords

pytestmark = [pytest.mark.maven, pytest.mark.slow]


@pytest.mark.parametrize(
    ("message_format", "killed"), [("0.10.0", False), ("0.9.0", True)], ids=["magic 1", "magic 0"]
)
def test_ours_opens_message_sets_and_adds_batches(
    turns: DirectoryInTurns, message_format: str, killed: bool
) -> None:
    old = {
        "inter_broker_protocol_version": "2.8",  # the last that lets a topic have an older format
        "log_message_format_version": message_format,
    }
    with turns.kafka(**old) as servers:
        client = VariedRecords(servers)
        topics = [*client.write_plain_topics(), client.write_compacted()]
        written = read_all(servers, topics)
        if killed:
            turns.kill()
    verify(turns.data)
    with turns.ours() as servers:
        written = grown(servers, topics, written)
        if killed:
            turns.kill()
    verify(turns.data)
    with turns.kafka(**old) as servers:
        assert read_all(servers, topics) == written
    verify(turns.data)
