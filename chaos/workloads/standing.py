"""A workload whose client never returns from a call is let go, and says where it stands.

When a broker leaves the cluster, threads of librdkafka can come to wait for each other (its issue
5476); whatever that client is asked then, it never answers, and its process would never end. No
broker can bring that about: every request has a time-out, and so has a call that tries again. Who
stands in one call for longer than any of them may last waits for nobody.

Caveat: a call is told from the next by the frame that makes it. A loop asks the client through a
function, or all that it asks looks like one call.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from types import FrameType

# Above librdkafka's own: a commit without a coordinator is put off for a session's time, 45 s, and
# what a transaction asks for is given 60 s.
LONGEST_CALL_S = 90.0
LOOK_EVERY_S = 1.0

_Place = tuple[FrameType | None, int]  # a frame, and the instruction that it is at


class Stuck(Exception):  # noqa: N818 - the name says what happened
    """The message says where, and for how long. The client is not to be used any more."""


def run_watched(
    run: Callable[[], object],
    longest_call_s: float = LONGEST_CALL_S,
    look_every_s: float = LOOK_EVERY_S,
) -> None:
    """Run it on a thread that does not keep the process from ending.

    Raises what it raises, or Stuck. What passes while the process itself is paused does not count.
    """
    raised: list[BaseException] = []

    def keep_what_is_raised() -> None:
        try:
            run()
        except BaseException as error:  # noqa: BLE001 (raised again, below)
            raised.append(error)

    thread = Thread(target=keep_what_is_raised, name="workload", daemon=True)
    thread.start()
    place, stands_s = _place_of(thread), 0.0
    while thread.is_alive():
        thread.join(look_every_s)
        now = _place_of(thread)
        stands_s = stands_s + look_every_s if now == place else 0.0
        place = now
        if stands_s >= longest_call_s and thread.is_alive():
            raise Stuck(f"it has been in {_text(place)} for {stands_s:g} s")
    if raised:
        raise raised[0]


def _place_of(thread: Thread) -> _Place:
    frame = sys._current_frames().get(thread.ident or 0)
    return frame, frame.f_lasti if frame else 0


def _text(place: _Place) -> str:
    frame, _ = place
    if frame is None:
        return "no function"
    code = frame.f_code
    return f"{code.co_qualname} ({Path(code.co_filename).name}, line {frame.f_lineno})"
