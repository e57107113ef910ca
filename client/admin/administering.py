"""The admin client as a program uses it, without I/O (KafkaAdminClient)."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from random import Random

from logquake.client.admin.asking.enquiries import Enquiries, EnquirySettings
from logquake.client.admin.calls.calling import Makings
from logquake.client.admin.calls.of_brokers import BrokerCalls
from logquake.client.admin.calls.of_clients import ClientCalls
from logquake.client.admin.calls.of_groups import GroupCalls
from logquake.client.admin.calls.of_partitions import PartitionCalls
from logquake.client.admin.calls.of_quorums import QuorumCalls
from logquake.client.admin.calls.of_topics import TopicCalls
from logquake.client.admin.calls.of_transactions import TransactionCalls
from logquake.client.assembling import Foundation, lay_foundation
from logquake.client.clock import Clock
from logquake.client.driving.steps import Steps, Wait
from logquake.client.errors import ClosedError
from logquake.client.network.backoff import ExponentialBackoff
from logquake.client.settings.admin import AdminConfig
from logquake.client.settings.kinds import LONG_MAX
from logquake.client.settings.reading import merged, read
from logquake.client.telling import Telling

_SALT_BYTES = 20


class Administering(
    TopicCalls,
    PartitionCalls,
    GroupCalls,
    TransactionCalls,
    ClientCalls,
    BrokerCalls,
    QuorumCalls,
):
    """The driver polls ``core``; these methods need exclusive access to it.

    Each call raises ClosedError once the client is closing.
    """

    def __init__(
        self,
        config: Mapping[str, object] | None,
        keys: Mapping[str, object],
        *,
        clock: Clock | None = None,
        random: Random | None = None,
    ) -> None:
        """Clock and random generator default to the system's. Raises SettingsError."""
        self.settings = read(AdminConfig, merged(config, keys))
        self.name = f"kafka-admin-client-thread | {self.settings.client_id}"  # like a Java client's
        self.foundation = lay_foundation(self.settings, clock=clock, random=random)
        self.telling = Telling()
        self.core = _enquiries(self.settings, self.foundation)
        backoff = ExponentialBackoff(
            self.settings.retry_backoff_ms,
            self.settings.retry_backoff_max_ms,
            self.foundation.random,
        )
        super().__init__(
            Makings(
                self.core,
                self.telling,
                self.foundation.clock,
                backoff,
                self.settings.default_api_timeout_ms,
                self.settings.request_timeout_ms,
                lambda: secrets.token_bytes(_SALT_BYTES),
            )
        )

    def metrics(self) -> dict[str, dict[str, float]]:
        """Current values, by group and under Kafka's names."""
        foundation, now_ms = self.foundation, self.foundation.clock.now_ms()
        return {
            "admin-client-metrics": {
                **self.core.metrics(now_ms),
                "requests-in-flight": foundation.links.in_flight,
                "connection-count": foundation.links.count,
                "metadata-age": (now_ms - foundation.metadata.updated_ms) / 1000,
            }
        }

    def time_at_the_end_ms(self, error: BaseException | None) -> int | None:
        """How long `close` waits at the end of a `with`: not at all after Ctrl-C or the task's
        cancellation, but until calls are done in all other cases, sys.exit() included.
        """
        return None if error is None or isinstance(error, Exception | SystemExit) else 0

    def close(self, timeout_ms: int | None) -> Steps[None]:
        """Accept no more calls, and wait for running ones until the timeout, if there is one."""
        deadline_ms = LONG_MAX
        if timeout_ms is not None:
            deadline_ms = self.foundation.clock.now_ms() + timeout_ms
        self.core.close()
        yield Wait(lambda: self.core.is_idle, deadline_ms)
        self.core.abandon(ClosedError("the admin client was closed before it was done"))


def _enquiries(settings: AdminConfig, foundation: Foundation) -> Enquiries:
    return Enquiries(
        EnquirySettings(
            settings.request_timeout_ms,
            settings.retries,
            settings.retry_backoff_ms,
            settings.retry_backoff_max_ms,
        ),
        foundation.network,
        foundation.metadata,
        foundation.updates,
        foundation.random,
    )
