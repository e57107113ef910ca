"""A run's topics that nobody can read when it has ended."""

from __future__ import annotations

import socket
from pathlib import Path

from logquake.chaos.card.stored import write_stored


def test_what_nobody_could_read_is_told_and_nothing_is_written(tmp_path: Path) -> None:
    links = tmp_path / "links.jsonl"
    links.touch()
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # and it does not listen
        config = {
            "bootstrap.servers": f"127.0.0.1:{nobody.getsockname()[1]}",
            "default.api.timeout.ms": 100,
        }
        complaint = write_stored(config, ["orders"], links, tmp_path)
    assert complaint is not None
    assert complaint.startswith("what is stored twice nobody could say: ")
    assert not (tmp_path / "stored.jsonl").exists()
