"""What Kafka 3.9 and a log of ours make of the same transactions, to the byte."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.compat.directory_in_turns import DirectoryInTurns
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.transactional_log import TOPIC, TransactionalLog
from tests.storage.kafka_wrote import (
    OF_PRODUCERS,
    TRANSACTIONAL,
    files,
    open_log,
    opened_and_closed,
    recovered,
    replicated,
)

pytestmark = pytest.mark.maven

DUMP = "kafka.tools.DumpLogSegments"


def test_what_a_broker_wrote_is_made_again(turns: DirectoryInTurns, tmp_path: Path) -> None:
    with turns.kafka() as servers:
        log = TransactionalLog(servers)
        log.write()
        stable_end = log.stable_end()
    written = turns.data / f"{TOPIC}-0"
    kept = opened_and_closed(written, tmp_path / "kept-0")
    assert files(kept) == files(written)
    assert files(recovered(written, tmp_path / "recovered-0")) == files(written)
    ours = open_log(kept)
    assert ours.first_unstable_offset == stable_end
    ours.close(clean=False)


def test_a_broker_takes_what_was_recovered_here(turns: DirectoryInTurns, tmp_path: Path) -> None:
    with turns.kafka() as servers:
        log = TransactionalLog(servers)
        log.write()
        stable_end = log.stable_end()
    written = turns.data / f"{TOPIC}-0"
    ours = recovered(written, tmp_path / "recovered-0")
    for name, content in files(ours).items():
        (written / name).write_bytes(content)
    with turns.kafka() as servers:
        assert TransactionalLog(servers).stable_end() == stable_end
        assert files(written, *OF_PRODUCERS) == files(ours, *OF_PRODUCERS)


@pytest.mark.parametrize("suffix", OF_PRODUCERS)
def test_dumplogsegments_reads_ours_as_kafkas(
    kafka_programs: KafkaPrograms, tmp_path: Path, suffix: str
) -> None:
    copy = opened_and_closed(TRANSACTIONAL, tmp_path / "copy-0")
    ours = replicated(copy, tmp_path / "ours-0")

    def dump(folder: Path) -> str:
        paths = ",".join(str(folder / name) for name in files(folder, suffix))
        return kafka_programs.run(DUMP, "--files", paths).replace(str(folder), "")

    said = dump(ours)
    assert said == dump(TRANSACTIONAL)
    entry = r"lastStableOffset: \d+" if suffix == ".txnindex" else r"producerEpoch: \d+"
    assert len(re.findall(entry, said)) >= 8
