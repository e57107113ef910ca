"""Clients are quiet until a program wants to hear them."""

from __future__ import annotations

import logging

from logquake.client.driving import thread


def test_what_is_logged_goes_nowhere_by_default() -> None:
    quiet = logging.getLogger("logquake.client")
    assert any(isinstance(each, logging.NullHandler) for each in quiet.handlers)
    assert thread.__name__.startswith(f"{quiet.name}.")
