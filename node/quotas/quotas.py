"""The quotas of a broker's clients, by what they limit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from logquake.node.journal_events import QUOTA_IGNORED
from logquake.node.quotas.client_quotas import Limits, MutationQuota, RateQuota
from logquake.node.quotas.entities import Client, client_entity
from logquake.node.quotas.measures import Windows
from logquake.node.quotas.usage import Resources, Usage
from logquake.seams.journal import Event, Journal
from logquake.seams.scheduler import Scheduler

PRODUCER_BYTE_RATE: Final = "producer_byte_rate"
CONSUMER_BYTE_RATE: Final = "consumer_byte_rate"
REQUEST_PERCENTAGE: Final = "request_percentage"
CONTROLLER_MUTATION_RATE: Final = "controller_mutation_rate"


@dataclass(frozen=True, slots=True)
class QuotaSettings:
    # quota.window.*: the more and longer, the larger the bursts that pass, and the later a client
    # is let go on again.
    windows: Windows = field(default_factory=Windows)
    # controller.quota.window.*: how many mutations a bucket holds.
    controller_windows: Windows = field(default_factory=Windows)
    # Of how many clients it is known what they used; of each resource. Fewer, and who uses many ids
    # uses more than he may.
    max_clients: int = 10_000


class Quotas:
    """Produced and fetched bytes a second, percent of a thread's time, mutations a second.

    ``are_set`` says whether there is any limit of these: a plain attribute, as each request looks.
    ``connections`` is how many come from an address a second.
    ``thread_time_ns`` is the loop's time on a processor.
    """

    def __init__(
        self,
        settings: QuotaSettings,
        scheduler: Scheduler,
        journal: Journal,
        thread_time_ns: Callable[[], int],
    ) -> None:
        windows, most = settings.windows, settings.max_clients
        self._journal = journal
        self._resources = resources = Resources(
            produce=RateQuota(windows, scheduler, most),
            fetch=RateQuota(windows, scheduler, most),
            request_time=RateQuota(windows, scheduler, most, windows.length_ms),
            mutations=MutationQuota(settings.controller_windows, scheduler, most),
            scheduler=scheduler,
            thread_time_ns=thread_time_ns,
        )
        self.connections = RateQuota(windows, scheduler, most, windows.length_ms)
        self.are_set = False
        self._limits: dict[str, tuple[Limits[Any], Callable[[str], float]]] = {
            PRODUCER_BYTE_RATE: (resources.produce.limits, int),
            CONSUMER_BYTE_RATE: (resources.fetch.limits, int),
            REQUEST_PERCENTAGE: (resources.request_time.limits, float),
            CONTROLLER_MUTATION_RATE: (resources.mutations.limits, float),
        }

    def usage(self, client: Client) -> Usage:
        """Of a request that begins to be handled now."""
        return Usage(self._resources, client)

    def handler(self, kind: str) -> Callable[[str, Mapping[str, str]], None]:
        """Of changes of users or clients (UserConfigHandler, ClientIdConfigHandler)."""
        return lambda name, config: self.set(f"{kind}/{name}", config)

    def set(self, entity: str, config: Mapping[str, str]) -> None:
        """Whatever an entity is limited to now; ``entity`` is its path below /config."""
        client = client_entity(entity)
        if client is None:
            return
        for key, (limits, parse) in self._limits.items():
            limits.set(client, self._limit(entity, config.get(key), parse))
        self.are_set = any(limits.are_set for limits, _ in self._limits.values())

    def _limit(self, entity: str, text: str | None, parse: Callable[[str], float]) -> float | None:
        try:
            return None if text is None else parse(text)
        except ValueError as error:
            self._journal.record(Event(QUOTA_IGNORED, entity, str(error)))
            return None
