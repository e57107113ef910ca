"""What cannot be meant is refused before anybody is asked, in one line."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from logquake.cluster.cli.app import app
from logquake.cluster.errors import ClusterError

RESET = ("group", "reset-offsets", "g")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("produce", "t", "--acks", "2"), "no acks '2': choose all, 1, 0"),
        (("produce", "t", "-z", "zip"), "no compression 'zip': choose none, gzip"),
        (("produce", "t", "--acks", "1", "--idempotent"), "--idempotent needs --acks all"),
        (("produce", "t", "-H", "=x"), "'=x' is no header"),
        (("consume", "t", "-o", "middle"), "'middle' is no place to begin"),
        (("consume", "t", "-f", "%y"), "'%y' is no field"),
        (("consume", "t", "-g", "g", "-p", "0"), "no --partition with it"),
        (RESET, "say where to: one of --to-earliest"),
        ((*RESET, "--to-earliest", "--to-latest"), "say where to: one of --to-earliest"),
        ((*RESET, "--to-datetime", "noon"), "'noon' is no time"),
        ((*RESET, "--by-duration", "a while"), "'a while' is no duration"),
        (("broker", "mislaid.properties"), "mislaid.properties is no file"),
        (("broker", "add", "--wait", "soon"), "'soon' is no time"),
        (("group", "list", "-o", "xml"), "no output 'xml': choose table or json"),
    ],
)
def test_bad_usage_is_told_in_a_line(command: tuple[str, ...], said: str) -> None:
    error = CliRunner().invoke(app, command).exception
    assert isinstance(error, ClusterError)
    assert said in str(error)
    assert "\n" not in str(error)
