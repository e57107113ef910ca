"""Clients' report cards, held against limits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path

from logquake.chaos.card.card import Card
from logquake.chaos.card.limits import exceeded, limit_of
from logquake.chaos.card.measuring import card_of
from logquake.chaos.card.table import as_table
from logquake.chaos.history.reader import read_history
from logquake.chaos.runs.folder import RunFolder
from logquake.cluster.errors import ClusterError


class CardStatus(IntEnum):
    """Of ``logquake chaos card``."""

    KEPT = 0
    EXCEEDED = 1


def show_card(folder: Path, limits: Sequence[str], *, as_json: bool) -> CardStatus:
    """Raises ClusterError for a limit that is none, and where no run was."""
    meant = [limit_of(text) for text in limits]
    card = card_in(RunFolder.at(folder))
    complaints = list(exceeded(card, meant))
    if as_json:
        told = {**card.to_json(), "limits": list(map(str, meant)), "exceeded": complaints}
        print(json.dumps(told, indent=2))
    else:
        print_card(card)
        print("\n".join(complaints) or f"{len(meant)} limits, none exceeded")
    return CardStatus.EXCEEDED if complaints else CardStatus.KEPT


def print_card(card: Card) -> None:
    print(as_table(card))


def card_in(folder: RunFolder) -> Card:
    """As it was kept, or of the rows of a run that was not judged. Raises ClusterError."""
    if folder.card.is_file():
        return Card.from_json(json.loads(folder.card.read_text()))
    if not folder.histories.is_dir():
        raise ClusterError(f"{folder.root} is no folder of a run: it has no histories")
    return card_of(read_history(folder.row_files()))
