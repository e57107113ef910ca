"""How a driver ends: because it is closed, or because its core has failed."""

from __future__ import annotations

import logging

from logquake.client.driving.driven import LastingCore
from logquake.client.errors import ClosedError

_LOG = logging.getLogger(__name__)


def why_closed(name: str, failure: BaseException | None) -> ClosedError:
    """The error that calls of an ended client raise."""
    if failure is None:
        return ClosedError(f"{name} is closed")
    why = ClosedError(f"{name} has failed: {failure!r}")
    why.__cause__ = failure
    return why


def abandon(core: LastingCore, why: ClosedError) -> None:
    """Best effort: a core that has failed may fail again."""
    try:
        core.abandon(why)
    except Exception:  # noqa: BLE001 - the driver ends anyway
        _LOG.exception("what was left over could not be told that %s", why)
