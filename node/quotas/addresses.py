"""How fast connections may come from one address (KIP-612, IpConfigHandler)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from ipaddress import IPv4Address

from logquake.node.journal_events import QUOTA_IGNORED
from logquake.node.quotas.alteration import CONNECTION_CREATION_RATE
from logquake.node.quotas.client_quotas import RateQuota
from logquake.node.quotas.entities import DEFAULT, Client, ClientEntity
from logquake.seams.journal import Event, Journal
from logquake.seams.workers import Workers

AddressOf = Callable[[str], str | None]
"""The IPv4 address of a host; it may take long."""


def is_address(name: str) -> bool:
    try:
        IPv4Address(name)
    except ValueError:
        return False
    return True


def at_address(ip: str) -> Client:
    """Who comes from there, whose quota it is."""
    return Client(ip, "")


class AddressHandler:
    """Told of each address, or host, whose limit has changed."""

    def __init__(
        self, quota: RateQuota, workers: Workers, address_of: AddressOf, journal: Journal
    ) -> None:
        self._limits = quota.limits
        self._workers = workers
        self._address_of = address_of
        self._journal = journal

    def __call__(self, name: str, config: Mapping[str, str]) -> None:
        text = config.get(CONNECTION_CREATION_RATE)
        try:
            limit = None if text is None else int(text)
        except ValueError as error:
            self._ignore(name, str(error))
            return
        if name == DEFAULT or is_address(name):
            self._limits.set(ClientEntity(name), limit)
        else:
            self._set_of_host(name, limit)

    def _set_of_host(self, name: str, limit: int | None) -> None:
        def found(address: Future[str | None]) -> None:
            ip = address.result()
            if ip is None:
                self._ignore(name, f"Unable to resolve address {name}")
            else:
                self._limits.set(ClientEntity(ip), limit)

        self._workers.run_in_worker(lambda: self._address_of(name), found)

    def _ignore(self, name: str, why: str) -> None:
        self._journal.record(Event(QUOTA_IGNORED, f"ips/{name}", why))
