"""Which rows of a history are meant."""

from __future__ import annotations

import re
from typing import Any

from pydantic import BaseModel, ConfigDict

from logquake.chaos.history.rows import Row


class RowPattern(BaseModel):
    """Rows of this ``what``; the other fields are patterns of the whole text, where they are said.

    ``after`` and ``before`` name fields of the row's documents, a dot for one inside another, and
    what their text has to be: ``{leader: "2"}``. ``reaches`` is the least offset that the row's
    last record may have.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", coerce_numbers_to_str=True)

    what: str
    process: str | None = None
    subject: str | None = None
    why: str | None = None
    key: str | None = None
    before: str | dict[str, str] | None = None
    after: str | dict[str, str] | None = None
    reaches: int | None = None

    def matches(self, row: Row) -> bool:
        return (
            row.what == self.what
            and _fits(self.process, row.process)
            and _fits(self.subject, row.subject)
            and _fits(self.why, row.why)
            and _fits(self.key, row.key)
            and _document_fits(self.before, row.before)
            and _document_fits(self.after, row.after)
            and (self.reaches is None or _end(row) > self.reaches)
        )

    def __str__(self) -> str:
        said = self.model_dump(exclude={"what"}, exclude_none=True)
        return " ".join([self.what, *(f"{name}={value}" for name, value in said.items())])


def _end(row: Row) -> int:
    """Behind its last record; 0 where it names none."""
    return 0 if row.offset is None else row.offset + len(row.values or (row.offset,))


def _fits(pattern: str | None, text: str | None) -> bool:
    return pattern is None or (text is not None and re.fullmatch(pattern, text) is not None)


def _document_fits(pattern: str | dict[str, str] | None, document: Any) -> bool:
    if not isinstance(pattern, dict):
        return _fits(pattern, None if document is None else str(document))
    return all(_fits(text, _field(document, path)) for path, text in pattern.items())


def _field(document: Any, path: str) -> str | None:
    for name in path.split("."):
        if not isinstance(document, dict) or name not in document:
            return None
        document = document[name]
    return str(document)
