"""Runs the generators of calls, each until it waits for a response."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

from logquake.client.admin.asking.asks import Also, Ask, Asks, Reply
from logquake.client.admin.asking.enquiry import Call, Enquiry, Waiting
from logquake.client.errors import CallFailedError, ClientError

_LOG = logging.getLogger(__name__)


class Generators:
    """An unexpected exception in a generator fails only its own call."""

    def __init__(self) -> None:
        self._enquiries: dict[Enquiry, None] = {}  # oldest first

    def __len__(self) -> int:
        return len(self._enquiries)

    def __iter__(self) -> Iterator[Enquiry]:
        return iter(self._enquiries)

    def __contains__(self, enquiry: Enquiry) -> bool:
        return enquiry in self._enquiries

    def start(self, name: str, call: Call, asks: Asks, now_ms: int) -> None:
        call.running += 1
        self._advance(name, call, asks, lambda: next(asks), now_ms)

    def answer(self, enquiry: Enquiry, reply: Reply[Any], now_ms: int) -> None:
        self._go_on(enquiry, lambda: enquiry.asks.send(reply), now_ms)

    def throw(self, enquiry: Enquiry, error: ClientError, now_ms: int) -> None:
        self._go_on(enquiry, lambda: enquiry.asks.throw(error), now_ms)

    def fail(self, enquiry: Enquiry, error: Exception) -> None:
        """Its request cannot be made."""
        del self._enquiries[enquiry]
        enquiry.asks.close()
        self._failed(enquiry.name, enquiry.call, error)

    def abandon(self, why: ClientError) -> None:
        """Fail all running calls."""
        for enquiry in self._enquiries:
            enquiry.asks.close()
            enquiry.call.results.fail_rest(why)
        self._enquiries.clear()

    def _go_on(self, enquiry: Enquiry, take: Callable[[], Ask[Any] | Also], now_ms: int) -> None:
        del self._enquiries[enquiry]
        self._advance(enquiry.name, enquiry.call, enquiry.asks, take, now_ms)

    def _advance(
        self,
        name: str,
        call: Call,
        asks: Asks,
        take: Callable[[], Ask[Any] | Also],
        now_ms: int,
    ) -> None:
        """Run it until its next request, or its end."""
        try:
            wish = take()
            while isinstance(wish, Also):
                self.start(wish.name, call, wish.asks, now_ms)
                wish = next(asks)
        except StopIteration:
            self._ended(call)
        except ClientError as error:
            call.results.fail_rest(error)
            self._ended(call)
        except Exception as error:  # noqa: BLE001 - most likely due to the arguments
            self._failed(name, call, error)
        else:
            stage = Waiting(now_ms + wish.delay_ms)
            self._enquiries[Enquiry(name, call, asks, wish, stage, wish.tries)] = None

    def _failed(self, name: str, call: Call, error: Exception) -> None:
        _LOG.warning("%s fails", name, exc_info=error)
        told = f"{type(error).__name__}: {error}"
        why = CallFailedError(f"{name} fails, of what it was given most likely: {told}")
        why.__cause__ = error
        call.results.fail_rest(why)
        self._ended(call)

    def _ended(self, call: Call) -> None:
        call.running -= 1
        if not call.running:
            call.results.end()
