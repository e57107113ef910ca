"""A job's file of Kafka's keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from logquake.pipeline.__main__ import _parser
from logquake.pipeline.jobs.topic_arguments import reading_options
from logquake.pipeline.jobs.writing_arguments import target_keys, writing_options

MIRROR = ["mirror", "a:1", "b:1", "checkpoint", "--topics", "t"]


def test_each_side_of_a_mirror_has_its_own(tmp_path: Path) -> None:
    source, target = tmp_path / "from.properties", tmp_path / "to.properties"
    source.write_text("security.protocol=SSL\nbootstrap.servers=elsewhere:1\nclient.rack=r\n")
    target.write_text("security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nlinger.ms=5\n")
    files = ["--from-config", str(source), "--to-config", str(target)]
    arguments = _parser().parse_args([*MIRROR, *files])
    read = reading_options(arguments)
    assert read["kafka.security.protocol"] == "SSL"
    assert (read["kafka.client.rack"], read["kafka.bootstrap.servers"]) == ("r", "a:1")
    written = writing_options(arguments)
    assert written["kafka.security.protocol"] == "SASL_SSL"
    assert (written["kafka.linger.ms"], written["kafka.bootstrap.servers"]) == ("5", "b:1")
    assert "linger.ms" not in target_keys(_parser().parse_args(MIRROR))


def test_a_file_that_is_not_there_is_said_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        _parser().parse_args([*MIRROR, "--from-config", "/no/such/file"])
    assert ended.value.code == 2
    assert "cannot read /no/such/file" in capsys.readouterr().err
