"""What the proof of the journal's page finds in a small tree, and that our page is of our code."""

from __future__ import annotations

from pathlib import Path

from tests.docs.__main__ import ROOT
from tests.docs.journal import PAGE, journal_faults, page
from tests.docs.tree import Tree

DECLARED = """\
READY = EventKind("ready", cause="It is " "told.", remedy="Nothing.")
"""
RECORDED = """\
from logquake.node.journal_events import READY
"""


def tree_of(root: Path, *, declared: str = DECLARED, recorded: str = RECORDED) -> Tree:
    contents = {
        "controller/journal_events.py": "",
        "planted/journal_events.py": "",
        "node/journal_events.py": declared,
        "node/broker.py": recorded,
    }
    for path, text in contents.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)
    (root / PAGE).parent.mkdir(parents=True)
    (root / PAGE).write_text(page(Tree(root)))
    return Tree(root)


def test_the_page_shows_what_is_declared(tmp_path: Path) -> None:
    tree = tree_of(tmp_path)
    assert "| `ready` | It is told. | Nothing. |" in tree.text(PAGE)
    assert list(journal_faults(tree)) == []


def test_a_page_of_other_code_is_a_fault(tmp_path: Path) -> None:
    tree_of(tmp_path)
    (tmp_path / PAGE).write_text("# The journal\n")
    assert list(journal_faults(Tree(tmp_path))) == [
        f"{PAGE}:1: it is not what the code declares: make docs"
    ]


def test_what_is_declared_is_recorded(tmp_path: Path) -> None:
    tree = tree_of(tmp_path, recorded="")
    assert list(journal_faults(tree)) == [
        "node/journal_events.py:1: ready: nothing records it",
    ]


def test_a_kind_is_declared_in_its_rooms_table(tmp_path: Path) -> None:
    recorded = f'{RECORDED}from logquake.seams.journal import EventKind\nX = EventKind("x")\n'
    assert list(journal_faults(tree_of(tmp_path, recorded=recorded))) == [
        "node/broker.py:3: EventKind: it is declared in node/journal_events.py"
    ]


def test_our_page_is_of_our_code() -> None:
    tree = Tree(ROOT)
    assert list(journal_faults(tree)) == []
    assert tree.text(PAGE).count("\n| `") > 80
