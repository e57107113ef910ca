"""The admin client whose calls block (org.apache.kafka.clients.admin.Admin)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import wraps
from types import TracebackType
from typing import Concatenate, ParamSpec, Self, TypeVar

from logquake.client.admin.administering import Administering
from logquake.client.arguments import check_time_or_none
from logquake.client.errors import ClosedError
from logquake.client.pending import Promise
from logquake.client.sync.futures import Future
from logquake.client.sync.threads import start_thread
from logquake.client.unclosed import tell_if_unclosed

P = ParamSpec("P")
K = TypeVar("K")
V = TypeVar("V")


def _one(
    method: Callable[Concatenate[Administering, P], Promise[V]],
) -> Callable[Concatenate[Admin, P], Future[V]]:
    """A future for this promise."""

    @wraps(method)
    def call(admin: Admin, /, *args: P.args, **kwargs: P.kwargs) -> Future[V]:
        return admin.future_of(admin.begin(lambda calls: method(calls, *args, **kwargs)))

    return call


def _each(
    method: Callable[Concatenate[Administering, P], Mapping[K, Promise[V]]],
) -> Callable[Concatenate[Admin, P], dict[K, Future[V]]]:
    """A future for each item."""

    @wraps(method)
    def call(admin: Admin, /, *args: P.args, **kwargs: P.kwargs) -> dict[K, Future[V]]:
        begun = admin.begin(lambda calls: method(calls, *args, **kwargs))
        return {key: admin.future_of(promise) for key, promise in begun.items()}

    return call


class Admin:
    """Asks a cluster about itself, and changes it, from any thread.

    ``config`` has Kafka's keys with dots or underscores, ``keys`` with underscores. A call returns
    at once: a future, or one for each item, whose result() raises the call's ClientError if it
    failed. `Administering`, in `logquake.client.admin.calls`, documents arguments and results;
    ``timeout_ms`` overrides default.api.timeout.ms. Raises SettingsError.

    A context manager: leaving it waits for all calls and closes the client; Ctrl-C closes it at
    once.
    """

    def __init__(self, config: Mapping[str, object] | None = None, /, **keys: object) -> None:
        self._administering = Administering(config, keys)
        self._driver = start_thread(
            self._administering.foundation,
            self._administering.core,
            self._administering.telling,
            self._administering.name,
        )
        tell_if_unclosed(self, self._driver, self._administering.settings.client_id)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close(self._administering.time_at_the_end_ms(error))

    def begin(self, call: Callable[[Administering], V]) -> V:
        """Begin the call. Raises ClosedError, and whatever the call itself raises."""
        return self._driver.call(lambda _: call(self._administering))

    def future_of(self, promise: Promise[V]) -> Future[V]:
        return Future(promise, self._driver)

    def metrics(self) -> dict[str, dict[str, float]]:
        """The client's metrics, by group and under Kafka's names."""
        with self._driver.lock:
            return self._administering.metrics()

    def close(self, timeout_ms: int | None = None) -> None:
        """Wait for pending calls, for ``timeout_ms`` or, by default, until each call's own timeout;
        calls that are not done then fail with ClosedError. Closing again does nothing.
        """
        check_time_or_none(timeout_ms)
        given_ms = 0 if self._driver.is_own_thread() else timeout_ms
        deadline_ms = self._driver.deadline_ms(given_ms)
        try:
            if not self._driver.is_closed:
                with suppress(ClosedError):  # by another thread, meanwhile
                    self._driver.run(self._administering.close(given_ms))
        finally:
            self._driver.close(deadline_ms)

    create_topics = _each(Administering.create_topics)
    delete_topics = _each(Administering.delete_topics)
    delete_topics_by_id = _each(Administering.delete_topics_by_id)
    create_partitions = _each(Administering.create_partitions)
    list_topics = _one(Administering.list_topics)
    describe_topics = _each(Administering.describe_topics)
    describe_topics_by_id = _each(Administering.describe_topics_by_id)
    describe_configs = _each(Administering.describe_configs)
    incremental_alter_configs = _each(Administering.incremental_alter_configs)
    alter_configs = _each(Administering.alter_configs)
    list_offsets = _each(Administering.list_offsets)
    delete_records = _each(Administering.delete_records)
    elect_leaders = _one(Administering.elect_leaders)
    alter_partition_reassignments = _each(Administering.alter_partition_reassignments)
    list_partition_reassignments = _one(Administering.list_partition_reassignments)
    describe_log_dirs = _each(Administering.describe_log_dirs)
    describe_replica_log_dirs = _each(Administering.describe_replica_log_dirs)
    alter_replica_log_dirs = _each(Administering.alter_replica_log_dirs)
    list_consumer_groups = _one(Administering.list_consumer_groups)
    describe_consumer_groups = _each(Administering.describe_consumer_groups)
    delete_consumer_groups = _each(Administering.delete_consumer_groups)
    remove_members_from_consumer_group = _each(Administering.remove_members_from_consumer_group)
    remove_all_members_from_consumer_group = _one(
        Administering.remove_all_members_from_consumer_group
    )
    list_consumer_group_offsets = _each(Administering.list_consumer_group_offsets)
    alter_consumer_group_offsets = _each(Administering.alter_consumer_group_offsets)
    delete_consumer_group_offsets = _each(Administering.delete_consumer_group_offsets)
    describe_producers = _each(Administering.describe_producers)
    describe_transactions = _each(Administering.describe_transactions)
    list_transactions = _one(Administering.list_transactions)
    abort_transaction = _one(Administering.abort_transaction)
    fence_producers = _each(Administering.fence_producers)
    describe_acls = _one(Administering.describe_acls)
    create_acls = _each(Administering.create_acls)
    delete_acls = _each(Administering.delete_acls)
    describe_client_quotas = _one(Administering.describe_client_quotas)
    alter_client_quotas = _each(Administering.alter_client_quotas)
    describe_user_scram_credentials = _one(Administering.describe_user_scram_credentials)
    alter_user_scram_credentials = _each(Administering.alter_user_scram_credentials)
    create_delegation_token = _one(Administering.create_delegation_token)
    renew_delegation_token = _one(Administering.renew_delegation_token)
    expire_delegation_token = _one(Administering.expire_delegation_token)
    describe_delegation_token = _one(Administering.describe_delegation_token)
    describe_cluster = _one(Administering.describe_cluster)
    describe_features = _one(Administering.describe_features)
    update_features = _each(Administering.update_features)
    describe_metadata_quorum = _one(Administering.describe_metadata_quorum)
    unregister_broker = _one(Administering.unregister_broker)
    list_client_metrics_resources = _one(Administering.list_client_metrics_resources)
    add_raft_voter = _one(Administering.add_raft_voter)
    remove_raft_voter = _one(Administering.remove_raft_voter)
    client_instance_id = _one(Administering.client_instance_id)
