"""What the demo reads back, held against its input line by line."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import Message

from logquake.chaos.demo.corpus import Corpus
from logquake.chaos.demo.reading import ReadBack
from logquake.chaos.history.numbers import to_headers
from logquake.chaos.history.rows import NOT_SENT

LINES = [b"import os", b"", b"1"]


@pytest.fixture
def read(tmp_path: Path) -> ReadBack:
    path = tmp_path / "a.py"
    path.write_bytes(b"\n".join(LINES))
    return ReadBack(Corpus.one_file(path))


def message(number: int | None, value: bytes, key: bytes = b"a.py") -> Message:
    headers = None if number is None else to_headers(number)
    return Message(topic="lines", key=key, value=value, headers=headers)


def test_every_line_is_known_by_the_number_in_its_header(read: ReadBack) -> None:
    numbers = [read.number(message(number, line)) for number, line in enumerate(LINES)]
    assert numbers == [0, 1, 2]
    assert (read.count, read.again, read.changed) == (3, 0, 0)


def test_a_line_that_comes_once_more_is_counted(read: ReadBack) -> None:
    for _ in range(3):
        read.number(message(0, LINES[0]))
    assert (read.count, read.again, read.changed) == (3, 2, 0)


@pytest.mark.parametrize(
    "wrong", [message(0, b"import sys"), message(0, LINES[0], b"b.py"), message(2, LINES[1])]
)
def test_another_key_or_line_than_was_sent_is_a_change(read: ReadBack, wrong: Message) -> None:
    read.number(wrong)
    assert (read.count, read.changed) == (1, 1)


@pytest.mark.parametrize("stray", [message(None, b"1"), message(3, b"1")])
def test_what_nobody_sent_has_no_number(read: ReadBack, stray: Message) -> None:
    assert read.number(stray) == NOT_SENT
    assert read.changed == 1
