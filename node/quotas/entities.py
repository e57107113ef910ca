"""Whom a limit is for: a user, a client id, a user's client id, or the default of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

DEFAULT: Final = "<default>"
"""ConfigEntityName's name of whoever has no limit of his own."""


@dataclass(frozen=True, slots=True)
class Client:
    """Who asks: the principal's name and the client id, both sanitized."""

    user: str
    client_id: str


@dataclass(frozen=True, slots=True)
class ClientEntity:
    """Names are sanitized, as those of znodes are. None: a limit for any, not for each."""

    user: str | None = None
    client_id: str | None = None


def precedence(client: Client) -> Iterator[tuple[ClientEntity, ClientEntity]]:
    """Whose limit holds for a client, first to last: with whoever shares what the limit allows.

    Of a limit that is a default everybody has his own share. Limits of client ids are not for
    those who have none.
    """
    user, client_id = client.user, client.client_id
    if not client_id:
        yield ClientEntity(user), ClientEntity(user)
        yield ClientEntity(DEFAULT), ClientEntity(user)
        return
    for_both = ClientEntity(user, client_id)
    yield for_both, for_both
    yield ClientEntity(user, DEFAULT), for_both
    yield ClientEntity(user), ClientEntity(user)
    yield ClientEntity(DEFAULT, client_id), for_both
    yield ClientEntity(DEFAULT, DEFAULT), for_both
    yield ClientEntity(DEFAULT), ClientEntity(user)
    yield ClientEntity(None, client_id), ClientEntity(None, client_id)
    yield ClientEntity(None, DEFAULT), ClientEntity(None, client_id)


def client_entity(entity: str) -> ClientEntity | None:
    """Of the path below /config; None for whatever is of no clients."""
    match entity.split("/"):
        case ["users", user, "clients", client_id]:
            return ClientEntity(user, client_id)
        case ["users", user]:
            return ClientEntity(user)
        case ["clients", client_id]:
            return ClientEntity(None, client_id)
    return None
