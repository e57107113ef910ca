"""``log dump`` and ``log verify`` on the command line: what is shown, and the status."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from logquake.cluster.cli.app import app
from logquake.cluster.errors import ClusterError
from logquake.wire.records import Record, encode_batch


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["log", *map(str, arguments)])


@pytest.fixture
def partition(tmp_path: Path) -> Path:
    """A folder with one sound segment, in a directory that was stopped in order."""
    folder = tmp_path / "t-0"
    folder.mkdir()
    batch = encode_batch([Record(0, 5, b"k", b"v")], leader_epoch=0)
    (folder / f"{0:020d}.log").write_bytes(batch)
    (folder / f"{0:020d}.index").touch()
    (folder / f"{0:020d}.timeindex").write_bytes(b"\0" * 7 + b"\5" + b"\0" * 4)
    (folder / "leader-epoch-checkpoint").write_text("0\n1\n0 0\n")
    (folder / "partition.metadata").write_text(f"version: 0\ntopic_id: {'A' * 21}Q")
    (tmp_path / "meta.properties").write_text("broker.id=1\nversion=0\ncluster.id=c\n")
    (tmp_path / ".kafka_cleanshutdown").touch()
    return folder


def damage(partition: Path) -> Path:
    log = partition / f"{0:020d}.log"
    log.write_bytes(log.read_bytes()[:-1] + b"!")
    return log


def test_dump_shows_and_succeeds(partition: Path) -> None:
    log = partition / f"{0:020d}.log"
    result = run("dump", "--value-decoder", "hex", log)
    assert result.exit_code == 0
    assert result.stdout.endswith("headerKeys: [] key: k payload: 76\n")


def test_dump_of_a_damaged_file_fails_with_1(partition: Path) -> None:
    result = run("dump", damage(partition))
    assert result.exit_code == 1
    assert "isvalid: false" in result.stdout


@pytest.mark.parametrize("name", ["5.log", "whatever"])
def test_dump_of_no_file_is_bad_usage(tmp_path: Path, name: str) -> None:
    error = run("dump", tmp_path / name).exception
    assert isinstance(error, ClusterError)  # main() makes one line and status 2 of it
    assert str(error) == f"{tmp_path}/{name}: no such file"


def test_dump_of_a_directory_is_bad_usage(partition: Path) -> None:
    error = run("dump", partition).exception
    assert isinstance(error, ClusterError)
    assert str(error) == f"{partition} is a directory: name its files, or use `log verify`"


def test_dump_with_an_unknown_decoder_is_bad_usage(partition: Path) -> None:
    error = run("dump", "--key-decoder", "morse", partition / f"{0:020d}.log").exception
    assert isinstance(error, ClusterError)
    assert str(error) == "no decoder 'morse': choose string, integer, long, hex"


def test_verify_of_a_sound_directory(partition: Path) -> None:
    result = run("verify", partition.parent)
    assert result.exit_code == 0
    assert result.stdout == (
        f"{partition.parent}: stopped in order; 1 partition, 1 segment, 1 record, 70 bytes\nsound\n"
    )


def test_verify_of_a_damaged_directory_fails_with_1(partition: Path) -> None:
    log = damage(partition)
    result = run("verify", partition)
    assert result.exit_code == 1
    summary, found, verdict = result.stdout.splitlines()
    assert summary.endswith("1 partition, 1 segment, 0 records, 70 bytes")
    assert found.startswith(f"damage (checksum): {log}: batch at byte 0, offset 0: stored crc ")
    assert verdict == "not sound: 1 damage"


def test_verify_for_programs(partition: Path) -> None:
    damage(partition)
    result = run("verify", "--json", partition.parent)
    document = json.loads(result.stdout)
    assert (document["sound"], document["damages"]) == (False, 1)
    assert document["directories"][0]["state"] == "clean"
    assert document["directories"][0]["partitions"][0]["end_offset"] == 1
    assert document["findings"][0]["kind"] == "checksum"
    assert document["findings"][0]["severity"] == "damage"


def test_verify_of_no_directory_is_bad_usage(tmp_path: Path) -> None:
    error = run("verify", tmp_path / "none").exception
    assert isinstance(error, ClusterError)
    assert str(error) == f"{tmp_path}/none: No such file or directory"


def test_help_loads_no_broker() -> None:
    program = (
        "import sys, logquake.cluster.cli.app as app\n"
        "heavy = {'kazoo', 'aiokafka', 'crc32c', 'rich', 'logquake.node', 'logquake.storage'}\n"
        "print(sorted(heavy.intersection(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
