"""What the proof of names finds in small trees, and that it finds nothing in ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.__main__ import ROOT
from tests.docs.names import unknown_names
from tests.docs.tree import Tree

CODE = '''\
"""A log, see {prose}."""
LIMIT = 3


class Base:
    def close(self) -> None:
        self.is_closed = True


class Log(Base):
    end: int = 0


def stage() -> None: ...
'''


def faults(root: Path, document: str, prose: str = "commit.py") -> list[str]:
    """What is found in a tree of two files of one room, a test, and one document."""
    contents = {
        "storage/log/log.py": CODE.replace("{prose}", prose),
        "storage/log/commit.py": "",
        "wire/commit.py": "",
        "tests/golden/append.txt": "",
        "docs/storage.md": document,
    }
    for path, text in contents.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return list(unknown_names(Tree(root)))


@pytest.mark.parametrize(
    "name",
    [
        "storage/log/log.py",
        "log/log.py:Log",
        "log.py:Log.end",
        "log.py:LIMIT",
        "Log",
        "Log.end",
        "Log.close",
        "Base.is_closed",
        "stage()",
        "log.close()",
        "ValueError",
        "storage/log/",
        "tests/golden/*.txt",
        "org.apache.Other",
        "log.dirs",
        "events/broker-1.jsonl",
    ],
)
def test_what_exists_may_be_named(tmp_path: Path, name: str) -> None:
    assert faults(tmp_path, f"See `{name}`.") == []


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("storage/log.py", "there is no such file"),
        ("commit.py", "may be any of storage/log/commit.py, wire/commit.py"),
        ("log.py:Logs", "storage/log/log.py does not define Logs"),
        ("log.py:Log.start", "Log has no member start"),
        ("Logs", "there is no such class"),
        ("Log.start", "Log has no member start"),
        ("unstage()", "there is no such function"),
        ("storage/dirs", "there is no such file or folder"),
        ("tests/golden/*.xml", "there is no such file or folder"),
    ],
)
def test_what_does_not_exist_is_told_by_its_line(tmp_path: Path, name: str, fault: str) -> None:
    assert faults(tmp_path, f"# Log\n\nSee `{name}`.") == [f"docs/storage.md:3: {name}: {fault}"]


def test_a_drawing_names_things_without_backticks(tmp_path: Path) -> None:
    document = "```\n log   storage/log/log.py   Log.begin\n```\n```python\nLog.begin\n```\n"
    assert faults(tmp_path, document) == ["docs/storage.md:2: Log.begin: Log has no member begin"]


def test_a_drawing_names_what_is_in_the_file(tmp_path: Path) -> None:
    document = "```\n log   log/log.py   stage, Log.end, unstage, other: a remark, x\n```\n"
    fault = "storage/log/log.py does not define unstage"
    assert faults(tmp_path, document) == [f"docs/storage.md:2: unstage: {fault}"]


def test_code_may_name_what_lies_beside_it(tmp_path: Path) -> None:
    assert faults(tmp_path, "", prose="commit.py") == []
    assert faults(tmp_path, "", prose="cuts.py") == [
        "storage/log/log.py:1: cuts.py: there is no such file"
    ]


def test_whatever_our_prose_names_exists() -> None:
    assert list(unknown_names(Tree(ROOT))) == []
