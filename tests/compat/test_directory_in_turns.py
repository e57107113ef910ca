"""A log directory of ours opens in Apache Kafka 3.9, one of Kafka's opens here, and back again.

After an orderly stop and after SIGKILL, with every codec, several segments, idempotent producers,
a compacted topic, deleted records, transactions and a group's offsets; every record is served as it
was written, ``log verify`` finds the files sound at every stage, and Kafka logs no warning.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.compat.directory_in_turns import DirectoryInTurns
from tests.compat.varied_records import COMPACTED, TRANSACTIONAL, VariedRecords

pytestmark = [pytest.mark.maven, pytest.mark.slow, pytest.mark.timeout(300)]

LOGQUAKE = str(Path(sys.executable).parent / "logquake")


def read_all(servers: str, topics: list[str]) -> dict[str, Any]:
    client = VariedRecords(servers)
    found: dict[str, Any] = {topic: client.read(topic) for topic in topics if topic != COMPACTED}
    if COMPACTED in topics:
        found[COMPACTED] = client.read_latest(COMPACTED)
    if TRANSACTIONAL in topics:
        found["committed"] = client.read(TRANSACTIONAL, isolation="read_committed")
    return found


def verify(directory: Path) -> None:
    said = subprocess.run(
        [LOGQUAKE, "log", "verify", str(directory)], capture_output=True, text=True, check=False
    )
    assert said.returncode == 0, said.stdout + said.stderr


def grown(servers: str, topics: list[str], written: dict[str, Any]) -> dict[str, Any]:
    """What is there once more is appended to what was written."""
    assert read_all(servers, topics) == written
    for topic in topics:
        VariedRecords(servers).append(topic)
    return read_all(servers, topics)


@pytest.mark.parametrize("killed", [False, True], ids=["stopped", "killed"])
def test_kafka_opens_what_ours_wrote(turns: DirectoryInTurns, killed: bool) -> None:
    with turns.ours() as servers:
        client = VariedRecords(servers)
        topics = [*client.write_topics(), client.write_compacted()]
        client.delete_before("none", 317)
        written = read_all(servers, topics)
        verify(turns.data)
        if killed:
            turns.kill()
    verify(turns.data)
    with turns.kafka() as servers:
        written = grown(servers, topics, written)
        verify(turns.data)
    assert turns.complaints_of_kafka() == ""
    verify(turns.data)
    with turns.ours() as servers:
        assert read_all(servers, topics) == written


@pytest.mark.parametrize("killed", [False, True], ids=["stopped", "killed"])
def test_ours_opens_what_kafka_wrote(turns: DirectoryInTurns, killed: bool) -> None:
    with turns.kafka() as servers:
        client = VariedRecords(servers)
        topics = [*client.write_topics(), client.write_compacted(), *client.write_transactions()]
        client.delete_before("none", 317)
        client.commit_offset("group", "none", 400)
        written = read_all(servers, topics)
        if killed:
            turns.kill()
    (turns.data / "none-0" / "unknown.file").write_text("left alone")
    (turns.data / "note.txt").write_text("left alone")
    verify(turns.data)
    with turns.ours() as servers:
        written = grown(servers, topics, written)
        if killed:
            turns.kill()
    assert (turns.data / "none-0" / "unknown.file").read_text() == "left alone"
    assert (turns.data / "note.txt").read_text() == "left alone"
    verify(turns.data)
    with turns.kafka() as servers:
        assert VariedRecords(servers).committed_offset("group", "none") == 400
        assert read_all(servers, topics) == written
    assert turns.complaints_of_kafka() == ""
    verify(turns.data)


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
