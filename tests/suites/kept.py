"""The list that is kept of a suite: what each test does, and why where it does not pass.

A line a test, ``passed NAME`` or ``failed NAME  # why``. A test may do several things by chance on
a busy machine: ``passed|skipped NAME  # why``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.suites.suite import PASSED

LISTS = Path(__file__).parent / "lists"
UNEXPLAINED = "why?"
_REASON = "  # "


@dataclass(frozen=True)
class Expected:
    outcomes: frozenset[str]
    why: str

    @property
    def is_explained(self) -> bool:
        return self.outcomes == {PASSED} or self.why not in ("", UNEXPLAINED)

    def line(self, test: str) -> str:
        reason = f"{_REASON}{self.why}" if self.why else ""
        return f"{'|'.join(sorted(self.outcomes))} {test}{reason}"


@dataclass(frozen=True)
class KeptList:
    file: Path

    def read(self) -> dict[str, Expected]:
        if not self.file.exists():
            return {}
        lines = self.file.read_text().splitlines()
        return dict(map(_expected, filter(None, lines)))

    def write(self, expected: Mapping[str, Expected]) -> None:
        lines = [expected[test].line(test) for test in sorted(expected)]
        self.file.write_text("".join(f"{line}\n" for line in lines))


def kept_list(suite: str) -> KeptList:
    return KeptList(LISTS / f"{suite}.txt")


def differences(outcomes: Mapping[str, str], kept: Mapping[str, Expected]) -> Iterator[str]:
    """A line for each test that did something else than the list says, or that it does not name."""
    for test, outcome in sorted(outcomes.items()):
        if test not in kept:
            yield f"{test}: {outcome}, and not on the list"
        elif outcome not in kept[test].outcomes:
            yield f"{test}: {outcome}, {'|'.join(sorted(kept[test].outcomes))} on the list"
    yield from (f"{test}: did not run" for test in sorted(kept.keys() - outcomes.keys()))
    yield from (f"{test}: no reason given" for test, each in kept.items() if not each.is_explained)


def written(outcomes: Mapping[str, str], kept: KeptList) -> dict[str, Expected]:
    """The list of what a run did; reasons that were given for the same outcome stay."""
    before = kept.read()
    return {test: _renewed(outcome, before.get(test)) for test, outcome in outcomes.items()}


def without(some: Collection[str], kept: Mapping[str, Expected]) -> dict[str, Expected]:
    """The list of the other tests."""
    return {test: each for test, each in kept.items() if test not in some}


def _renewed(outcome: str, before: Expected | None) -> Expected:
    if before is not None and outcome in before.outcomes:
        return before
    return Expected(frozenset({outcome}), "" if outcome == PASSED else UNEXPLAINED)


def _expected(line: str) -> tuple[str, Expected]:
    entry, _, why = line.partition(_REASON)
    outcomes, test = entry.strip().split(" ", 1)
    return test.strip(), Expected(frozenset(outcomes.split("|")), why.strip())
