"""Orders and their outbox: what has to be told is written in the transaction of the order itself.

So an order that was taken is told, sooner or later, whatever happens to Kafka or to this process:
that is the point of an outbox. relay.py tells it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_SCHEMA = """
CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, customer TEXT, amount INTEGER);
CREATE TABLE IF NOT EXISTS outbox (
    id INTEGER PRIMARY KEY, customer TEXT, message TEXT, told INTEGER DEFAULT 0
);
"""


@dataclass(frozen=True)
class Message:
    id: int
    key: str
    value: str


class Shop:
    def __init__(self, path: Path) -> None:
        self._database = sqlite3.connect(path)
        self._database.executescript(_SCHEMA)

    def order(self, customer: str, amount: int) -> int:
        """Take an order; its id."""
        with self._database:
            order_id = self._database.execute(
                "INSERT INTO orders (customer, amount) VALUES (?, ?)", (customer, amount)
            ).lastrowid
            message = json.dumps({"order": order_id, "customer": customer, "amount": amount})
            self._database.execute(
                "INSERT INTO outbox (customer, message) VALUES (?, ?)", (customer, message)
            )
        assert order_id is not None
        return order_id

    def untold(self, limit: int = 1000) -> list[Message]:
        """What Kafka has to be told still, oldest first."""
        rows = self._database.execute(
            "SELECT id, customer, message FROM outbox WHERE told = 0 ORDER BY id LIMIT ?", (limit,)
        )
        return [Message(*row) for row in rows]

    def mark_told(self, message_ids: Iterable[int]) -> None:
        with self._database:
            self._database.executemany(
                "UPDATE outbox SET told = 1 WHERE id = ?", [(each,) for each in message_ids]
            )

    def close(self) -> None:
        self._database.close()
