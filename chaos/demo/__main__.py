"""The command behind ``make demo``."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path
from types import FrameType

from logquake.chaos.demo.corpus import Corpus
from logquake.chaos.demo.screen import Screen
from logquake.chaos.demo.tour import run_tour
from logquake.cluster.errors import ClusterError

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main() -> int:
    """Run the tour; the process's exit status."""
    for number in _ENDING:
        signal.signal(number, _end)
    parser = argparse.ArgumentParser(prog="logquake demo", description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, help="send the lines of this file instead")
    arguments = parser.parse_args()
    if arguments.file is not None and not arguments.file.is_file():
        parser.error(f"there is no file {arguments.file}")
    corpus = (
        Corpus.standard_library() if arguments.file is None else Corpus.one_file(arguments.file)
    )
    screen = Screen()
    try:
        opinions = run_tour(corpus, screen)
    except ClusterError as error:
        screen.say(f"[red]error:[/] {error}")
        return 2
    screen.close(opinions.lines())
    for remark in opinions.remarks():
        screen.say_as_is(remark)
    if not opinions.hold:
        screen.say_as_is(f"What was judged is kept: {opinions.history}, {opinions.cluster}")
    return 0 if opinions.hold else 1


def _end(number: int, _frame: FrameType | None) -> None:
    """Each step takes back what it made, and no further signal keeps it from that."""
    for each in _ENDING:
        signal.signal(each, signal.SIG_IGN)
    sys.exit(128 + number)  # as shells have it


if __name__ == "__main__":
    sys.exit(main())
