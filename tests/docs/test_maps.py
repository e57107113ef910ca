"""What the proof of maps finds in small trees, and that it finds nothing in ours."""

from __future__ import annotations

from pathlib import Path

from tests.docs.__main__ import ROOT
from tests.docs.maps import unmapped
from tests.docs.tree import Tree


def faults(root: Path, docstring: str) -> list[str]:
    for path in ("client/connection.py", "client/network/__init__.py", "client/network/links.py"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("")
    (root / "client/__init__.py").write_text(f'"""{docstring}"""')
    return list(unmapped(Tree(root)))


def test_a_map_names_each_module_and_package(tmp_path: Path) -> None:
    assert faults(tmp_path, "network/ has links; connection.py stands on them") == []
    assert faults(tmp_path, "connection.py  one broker") == [
        "client/__init__.py:1: network/ is missing in the map"
    ]
    assert faults(tmp_path, "network/  all of it; network/connection.py") == [
        "client/__init__.py:1: connection.py is missing in the map"
    ]


def test_a_package_needs_no_map(tmp_path: Path) -> None:
    assert faults(tmp_path, "One broker, and `client/network/links.py`.") == []


def test_our_maps_leave_out_nothing() -> None:
    assert list(unmapped(Tree(ROOT))) == []
