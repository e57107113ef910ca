"""``logquake log dump`` and Kafka's DumpLogSegments print the same of the same files.

Of what Kafka wrote and of what ours wrote, sound and damaged, in both cases the whole text.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from logquake.storage.dump.group_text import GROUP_RECORDS
from logquake.wire.records import Codec, Record, encode_batch, encode_message_set
from logquake.wire.versioned import encode_versioned
from tests.compat.directory_in_turns import directory_in_turns
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.varied_records import VariedRecords
from tests.wire.samples import Manner, Samples

pytestmark = [pytest.mark.maven, pytest.mark.slow]

LOGQUAKE = str(Path(sys.executable).parent / "logquake")
INDEXES = ("index", "timeindex")
EVERYTHING = ("log", *INDEXES, "txnindex", "snapshot")
OPTIONS = [
    (EVERYTHING, ()),
    (EVERYTHING, ("--deep-iteration",)),
    (("log",), ("--print-data-log",)),
    (("log",), ("--print-data-log", "--skip-record-metadata")),
    (("log",), ("--max-bytes", "1000")),
    (INDEXES, ("--verify-index-only",)),
]
SANITY = (INDEXES, ("--index-sanity-check",))  # fails on what a killed broker leaves, as it should

Same = Callable[..., None]
Chosen = tuple[tuple[str, ...], tuple[str, ...]]


@pytest.fixture(scope="module")
def same_text(kafka_programs: KafkaPrograms) -> Same:
    def check(files: list[Path], *options: str, status: int = 0) -> None:
        assert files
        theirs = kafka_programs.complete(
            "kafka.tools.DumpLogSegments", *options, "--files", ",".join(map(str, files))
        )
        ours = subprocess.run(
            [LOGQUAKE, "log", "dump", *options, *map(str, files)],
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert theirs.returncode == 0, theirs.stderr
        assert (ours.stdout, ours.stderr) == (theirs.stdout, theirs.stderr)
        assert ours.returncode == status

    return check


@pytest.fixture(scope="module")
def written_by_kafka(
    kafka_programs: KafkaPrograms, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    with directory_in_turns(kafka_programs, tmp_path_factory.mktemp("kafka-wrote")) as turns:
        with turns.kafka() as servers:
            client = VariedRecords(servers)
            client.write_topics()
            client.write_compacted()
            client.write_transactions()
            client.commit_offset("group", "none", 77)
            client.join("members", "none")
        yield turns.data


@pytest.fixture(scope="module", params=["stopped", "killed and recovered"])
def written_by_ours(
    kafka_programs: KafkaPrograms,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> Iterator[Path]:
    with directory_in_turns(kafka_programs, tmp_path_factory.mktemp("ours-wrote")) as turns:
        with turns.ours() as servers:
            topics = VariedRecords(servers).write_topics()
            if request.param != "stopped":
                turns.kill()
        if request.param != "stopped":
            with turns.ours() as servers:
                for topic in topics:
                    VariedRecords(servers).append(topic)
        yield turns.data


def files(directory: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """Of the topics that hold somebody's data."""
    found = (path for suffix in suffixes for path in directory.glob(f"*-*/*.{suffix}"))
    return sorted(path for path in found if not path.parent.name.startswith("__"))


@pytest.mark.parametrize("chosen", [*OPTIONS, SANITY])
def test_of_what_kafka_wrote(same_text: Same, written_by_kafka: Path, chosen: Chosen) -> None:
    suffixes, options = chosen
    same_text(files(written_by_kafka, suffixes), *options)


@pytest.mark.parametrize("chosen", [*OPTIONS, SANITY])
def test_of_what_ours_wrote(same_text: Same, written_by_ours: Path, chosen: Chosen) -> None:
    suffixes, options = chosen
    suffixes = tuple(suffix for suffix in suffixes if suffix != "txnindex")
    same_text(files(written_by_ours, suffixes), *options)


@pytest.mark.parametrize(
    ("topic", "option"),
    [
        ("__consumer_offsets", "--offsets-decoder"),
        ("__transaction_state", "--transaction-log-decoder"),
    ],
)
def test_of_the_coordinators_records(
    same_text: Same, written_by_kafka: Path, topic: str, option: str
) -> None:
    same_text(sorted(written_by_kafka.glob(f"{topic}-*/*.log")), option)


def test_of_the_records_of_every_kind_of_group(same_text: Same, tmp_path: Path) -> None:
    samples = Samples("groups")
    records = [
        (encode_versioned(samples.message(key, kind, Manner.FILLED), kind), value)
        for kind, (key, value_class) in GROUP_RECORDS.items()
        for version in value_class.__schema__.versions
        for value in (
            None,
            *(encode_versioned(each, version) for each in samples.of(value_class, version)),
        )
    ]
    log = tmp_path / f"{0:020d}.log"
    log.write_bytes(encode_batch([Record(i, 5, *each) for i, each in enumerate(records)]))
    same_text([log], "--offsets-decoder")


def test_of_damaged_indexes_and_snapshots(
    same_text: Same, written_by_kafka: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "none-0"
    shutil.copytree(written_by_kafka / "none-0", folder)
    for path in files(tmp_path, ("index", "timeindex")):
        content = bytearray(path.read_bytes())
        for byte in (11, 18, 19):
            if byte < len(content):
                content[byte] ^= 1
        path.write_bytes(content)
    snapshot = files(tmp_path, ("snapshot",))[0]
    snapshot.write_bytes(snapshot.read_bytes()[:-1] + b"\xff")
    same_text(files(tmp_path, (*INDEXES, "snapshot")), status=1)


def test_of_damaged_batches(same_text: Same, tmp_path: Path) -> None:
    sound = encode_batch([Record(0, 5, b"k", b"\xed\xa0\x80\xf0\x80"), Record(1, 6, None, None)])
    late = encode_batch(
        [Record(7, 1, b"k", b"v", (("one", b""), ("two", None))), Record(9, 2, None, b"")],
        base_offset=7,
        codec=Codec.GZIP,
        producer_id=1,
        producer_epoch=0,
        base_sequence=2**31 - 2,
    )
    late[17] ^= 1
    log = tmp_path / f"{0:020d}.log"
    log.write_bytes(sound + late + bytes(9))
    same_text([log], "--print-data-log", status=1)


@pytest.mark.parametrize("magic", [0, 1])
def test_of_message_sets(same_text: Same, tmp_path: Path, magic: int) -> None:
    log = tmp_path / f"{100:020d}.log"
    sets = [
        encode_message_set(
            [Record(first + index, 9, b"k" if index else None, b"v") for index in range(3)],
            magic,
            codec=codec,
        )
        for first, codec in ((100, Codec.NONE), (103, Codec.GZIP), (106, Codec.SNAPPY))
    ]
    log.write_bytes(b"".join(sets))
    same_text([log], "--print-data-log")
