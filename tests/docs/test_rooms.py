"""What the proof of the drawing finds in a tree of three rooms, and that ours is as it is drawn."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.__main__ import ROOT
from tests.docs.rooms import DRAWN_IN, drawing, false_arrows
from tests.docs.tree import Tree

DRAWING = """\
```
node      one broker   -> storage, wire
storage   a log        -> wire
wire      bytes
```
"""
CODE = {
    "node/broker.py": "import logquake.wire.frame\nfrom logquake.storage.log import Log, Sync\n",
    "storage/log.py": "def f():\n    from logquake.wire import frame\nclass Log: ...\n"
    "class Sync(Protocol): ...\n",
    "wire/frame.py": "import os\nfrom logquake.wire import other\n",
}


def faults(root: Path, drawn: str = DRAWING, **changed: str) -> list[str]:
    """What is found in that tree; `node="..."` is another text of that room's one file."""
    for path, code in CODE.items():
        room = path.partition("/")[0]
        (root / path).parent.mkdir(parents=True)
        (root / path).write_text(changed.get(room, code))
        (root / "src/logquake").mkdir(parents=True, exist_ok=True)
        (root / "src/logquake" / room).symlink_to(f"../../{room}")
    (root / DRAWN_IN).parent.mkdir(parents=True)
    (root / DRAWN_IN).write_text(drawn)
    return list(false_arrows(Tree(root)))


def test_a_drawing_of_the_imports_is_true(tmp_path: Path) -> None:
    assert faults(tmp_path) == []


def test_an_arrow_needs_an_import(tmp_path: Path) -> None:
    assert faults(tmp_path, storage="class Log: ...\n") == [
        f"{DRAWN_IN}:3: storage -> wire: no file of storage imports wire"
    ]


def test_an_import_needs_an_arrow(tmp_path: Path) -> None:
    assert faults(tmp_path, DRAWING.replace("storage, wire", "wire")) == [
        f"node/broker.py:2: node -> storage: no such arrow in {DRAWN_IN}"
    ]


def test_a_room_is_not_imported_for_its_protocols_alone(tmp_path: Path) -> None:
    node = "import logquake.wire.frame\nfrom logquake.storage.log import Sync\n"
    assert faults(tmp_path, node=node) == [
        f"{DRAWN_IN}:2: node -> storage: nothing but protocols is imported"
    ]


@pytest.mark.parametrize(
    ("drawn", "fault"),
    [
        (DRAWING.replace("wire      bytes\n", ""), "1: wire: the drawing lacks this room"),
        (
            DRAWING.replace("wire      bytes\n", "wire bytes\ndust x\n"),
            "5: dust: there is no such room",
        ),
    ],
)
def test_the_drawing_has_every_room(tmp_path: Path, drawn: str, fault: str) -> None:
    assert faults(tmp_path, drawn) == [f"{DRAWN_IN}:{fault}"]


def test_arrows_go_down(tmp_path: Path) -> None:
    lines = DRAWING.splitlines(keepends=True)
    assert faults(tmp_path, "".join([lines[0], lines[2], lines[1], *lines[3:]])) == [
        f"{DRAWN_IN}:3: node -> storage: imports go down only"
    ]


def test_our_drawing_is_our_imports() -> None:
    tree = Tree(ROOT)
    assert list(false_arrows(tree)) == []
    assert len(drawing(tree)) >= 10
