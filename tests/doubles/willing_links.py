"""A network on which every host is found, and every connection made."""

from __future__ import annotations

from collections.abc import Callable

from logquake.client.network.effects import Close, Connect, Effect, LogIn, Resolve, Write
from logquake.client.network.links import Links


def carry_out(
    effect: Effect,
    links: Links,
    now_ms: int,
    write: Callable[[Write], None],
    close: Callable[[Close], None],
) -> None:
    """What is written, and the end of a connection, are told to whoever plays the brokers."""
    if isinstance(effect, Resolve):
        links.resolved(effect.link, [effect.host], now_ms)
    elif isinstance(effect, Connect):
        links.connected(effect.link, now_ms)
    elif isinstance(effect, LogIn):
        links.login_began(effect.link, effect.first_frame(), now_ms)
    elif isinstance(effect, Write):
        write(effect)
    else:
        close(effect)
