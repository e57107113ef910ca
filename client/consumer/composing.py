"""Makes a consumer's parts from its configuration; a driver comes later."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from logquake.client.clock import Clock
from logquake.client.consumer.assignors.assignor import Assignor
from logquake.client.consumer.assignors.cooperative_sticky import CooperativeStickyAssignor
from logquake.client.consumer.assignors.range import RangeAssignor
from logquake.client.consumer.assignors.round_robin import RoundRobinAssignor
from logquake.client.consumer.assignors.sticky import StickyAssignor
from logquake.client.consumer.callers import Callers
from logquake.client.consumer.calls import Calls
from logquake.client.consumer.committing import Committing
from logquake.client.consumer.consuming import Consuming
from logquake.client.consumer.core import ConsumerCore, Parts
from logquake.client.consumer.deserializing import Deserializers
from logquake.client.consumer.failures import Failures
from logquake.client.consumer.fetch.fetch_requests import FetchRequests
from logquake.client.consumer.fetch.fetching import Fetcher
from logquake.client.consumer.group.coordination import Coordination
from logquake.client.consumer.group.errands import Beside
from logquake.client.consumer.group.statistics import GroupEvent
from logquake.client.consumer.handing_out import HandingOut
from logquake.client.consumer.interceptors import Interceptors
from logquake.client.consumer.lookups import Lookups
from logquake.client.consumer.one_by_one import OneByOne
from logquake.client.consumer.positions.leader_requests import LeaderRequests
from logquake.client.consumer.positions.position_requests import PositionRequests
from logquake.client.consumer.positions.resets import Resets
from logquake.client.consumer.positions.validations import Validations
from logquake.client.consumer.questions import ProgramQuestions
from logquake.client.consumer.seeking import Seeking
from logquake.client.consumer.subscription import Subscriptions
from logquake.client.consumer.topics import SubscribedTopics
from logquake.client.consumer.ungrouped import Ungrouped
from logquake.client.network.metadata import Metadata
from logquake.client.network.metadata_updates import MetadataUpdates
from logquake.client.network.network_client import NetworkClient
from logquake.client.settings.consumer import ConsumerConfig

_ASSIGNORS: dict[str, Callable[[], Assignor]] = {
    "range": RangeAssignor,
    "roundrobin": RoundRobinAssignor,
    "sticky": StickyAssignor,
    "cooperative-sticky": CooperativeStickyAssignor,
}


class ConsumerParts:
    """``topics`` comes first, since `Metadata` is made with it."""

    def __init__(self, config: ConsumerConfig) -> None:
        self._config = config
        self._subscriptions = Subscriptions(config.auto_offset_reset)
        self.topics = SubscribedTopics(
            self._subscriptions, excludes_internal=config.exclude_internal_topics
        )

    def consuming(
        self,
        network: NetworkClient,
        metadata: Metadata,
        updates: MetadataUpdates,
        clock: Clock,
        random: Random,
        *,
        callers: Callers,
        beside: Beside,
        on_event: Callable[[GroupEvent], None] = lambda _: None,
    ) -> Consuming:
        """``beside`` and ``on_event`` as `Coordination` has them."""
        config, subscriptions = self._config, self._subscriptions
        failures, questions = Failures(), ProgramQuestions()
        asks, reads = config.asking(), config.fetching()
        interceptors = Interceptors(config.interceptor_classes)
        deserializers = Deserializers(config.key_deserializer, config.value_deserializer)
        calls = Calls(clock, failures, callers)
        leaders = LeaderRequests(network, metadata)
        asking = asks, subscriptions, metadata, leaders, failures
        fetcher = Fetcher(reads, subscriptions, metadata)
        fetches = FetchRequests(reads, fetcher, network, failures)
        group = self._group(network, metadata, interceptors, beside, on_event, clock, random)
        parts = Parts(
            updates,
            Validations(subscriptions, leaders, failures, PositionRequests(*asking)),
            Resets(asks.isolation, subscriptions, metadata, PositionRequests(*asking)),
            group,
            fetches,
            questions,
        )
        return Consuming(
            core=ConsumerCore(parts, subscriptions, network, metadata, failures),
            calls=calls,
            subscriptions=subscriptions,
            metadata=metadata,
            fetcher=fetcher,
            fetches=fetches,
            group=group,
            one_by_one=OneByOne(subscriptions),
            handing_out=HandingOut(subscriptions, deserializers, interceptors),
            committing=Committing(calls, metadata, group),
            seeking=Seeking(calls, subscriptions, metadata, group, network.trouble),
            lookups=Lookups(
                asks,
                calls,
                subscriptions,
                self.topics,
                network,
                metadata,
                leaders,
                questions,
                random,
            ),
            network=network,
            isolation=reads.isolation,
            request_timeout_ms=config.request_timeout_ms,
        )

    def _group(
        self,
        network: NetworkClient,
        metadata: Metadata,
        interceptors: Interceptors,
        beside: Beside,
        on_event: Callable[[GroupEvent], None],
        clock: Clock,
        random: Random,
    ) -> Coordination | Ungrouped:
        settings = self._config.membership()
        if settings is None:
            return Ungrouped(self._subscriptions)
        return Coordination(
            settings,
            network,
            metadata,
            self._subscriptions,
            _assignors(self._config.partition_assignment_strategy),
            clock,
            random,
            beside=beside,
            on_commit=interceptors.on_commit,
            on_event=on_event,
        )


def _assignors(strategy: Sequence[Assignor | str]) -> list[Assignor]:
    return [_ASSIGNORS[each]() if isinstance(each, str) else each for each in strategy]
