"""Topics, and the configurations of topics and brokers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from logquake.client.admin import configs, described_topics, topics
from logquake.client.admin.calls.calling import Calling, without_name
from logquake.client.admin.configs import AlterConfigOp, Config, ConfigResource, knowing
from logquake.client.admin.described_topics import TopicDescription, TopicListing
from logquake.client.admin.topics import CreatedTopic, NewPartitions, NewTopic
from logquake.client.errors import ClientError, UnencodableError, broker_error
from logquake.client.pending import Promise
from logquake.wire.errors import ErrorCode
from logquake.wire.uuids import ZERO_UUID

_NO_ID = broker_error(ErrorCode.INVALID_TOPIC_EXCEPTION, "no topic has the id of zeros")
_ID_BYTES = len(ZERO_UUID)


class TopicCalls(Calling):
    def create_topics(
        self,
        new_topics: Iterable[NewTopic],
        *,
        validate_only: bool = False,
        retry_on_quota_violation: bool = True,
        timeout_ms: int | None = None,
    ) -> dict[str, Promise[CreatedTopic]]:
        """By name. It takes a moment until all brokers know the new topics."""
        wanted: dict[str, NewTopic] = {}
        for each in new_topics:
            wanted.setdefault(each.name, each)
        return self._each(
            "createTopics",
            wanted,
            lambda names, results: topics.create_topics(
                {name: wanted[name] for name in names},
                results,
                validate_only=validate_only,
                retry_on_quota_violation=retry_on_quota_violation,
            ),
            timeout_ms,
            without_name(wanted),
        )

    def delete_topics(
        self,
        names: Iterable[str],
        *,
        retry_on_quota_violation: bool = True,
        timeout_ms: int | None = None,
    ) -> dict[str, Promise[None]]:
        """By name. They are marked for deletion, and disappear from lists after a moment."""
        wanted = list(names)
        return self._each(
            "deleteTopics",
            wanted,
            lambda left, results: topics.delete_topics(
                left, results, retry_on_quota_violation=retry_on_quota_violation
            ),
            timeout_ms,
            without_name(wanted),
        )

    def delete_topics_by_id(
        self,
        topic_ids: Iterable[bytes],
        *,
        retry_on_quota_violation: bool = True,
        timeout_ms: int | None = None,
    ) -> dict[bytes, Promise[None]]:
        """By id, of 16 bytes: a topic created again with the same name has another id."""
        wanted = list(topic_ids)
        return self._each(
            "deleteTopics",
            wanted,
            lambda left, results: topics.delete_topics_by_id(
                left, results, retry_on_quota_violation=retry_on_quota_violation
            ),
            timeout_ms,
            _without_id(wanted),
        )

    def create_partitions(
        self,
        new_partitions: Mapping[str, NewPartitions],
        *,
        validate_only: bool = False,
        retry_on_quota_violation: bool = True,
        timeout_ms: int | None = None,
    ) -> dict[str, Promise[None]]:
        """By topic. Afterwards keys map to other partitions."""
        return self._each(
            "createPartitions",
            new_partitions,
            lambda _, results: topics.create_partitions(
                new_partitions,
                results,
                validate_only=validate_only,
                retry_on_quota_violation=retry_on_quota_violation,
            ),
            timeout_ms,
        )

    def list_topics(
        self, *, list_internal: bool = False, timeout_ms: int | None = None
    ) -> Promise[Mapping[str, TopicListing]]:
        """By name, those that the caller may describe."""
        return self._one(
            "listTopics",
            lambda results: described_topics.list_topics(results, list_internal=list_internal),
            timeout_ms,
        )

    def describe_topics(
        self,
        names: Iterable[str],
        *,
        include_authorized_operations: bool = False,
        timeout_ms: int | None = None,
    ) -> dict[str, Promise[TopicDescription]]:
        """By name."""
        wanted = list(names)
        return self._each(
            "describeTopics",
            wanted,
            lambda left, results: described_topics.describe_topics(
                left, results, include_authorized_operations=include_authorized_operations
            ),
            timeout_ms,
            without_name(wanted),
        )

    def describe_topics_by_id(
        self,
        topic_ids: Iterable[bytes],
        *,
        include_authorized_operations: bool = False,
        timeout_ms: int | None = None,
    ) -> dict[bytes, Promise[TopicDescription]]:
        """By id, of 16 bytes."""
        wanted = list(topic_ids)
        return self._each(
            "describeTopicsWithIds",
            wanted,
            lambda left, results: described_topics.describe_topics_by_id(
                left, results, include_authorized_operations=include_authorized_operations
            ),
            timeout_ms,
            _without_id(wanted),
        )

    # Configurations

    def describe_configs(
        self,
        resources: Iterable[ConfigResource],
        *,
        include_synonyms: bool = False,
        include_documentation: bool = False,
        timeout_ms: int | None = None,
    ) -> dict[ConfigResource, Promise[Config]]:
        """By resource. Raises ValueError for a broker whose name is not an id."""
        return self._by_whom(
            "describeConfigs",
            knowing(resources),
            lambda whom, left, results: configs.describe_configs(
                whom,
                left,
                results,
                include_synonyms=include_synonyms,
                include_documentation=include_documentation,
            ),
            timeout_ms,
        )

    def incremental_alter_configs(
        self,
        changes: Mapping[ConfigResource, Sequence[AlterConfigOp]],
        *,
        validate_only: bool = False,
        timeout_ms: int | None = None,
    ) -> dict[ConfigResource, Promise[None]]:
        """By resource: single keys. Raises ValueError for a broker whose name is not an id."""
        return self._by_whom(
            "incrementalAlterConfigs",
            knowing(changes),
            lambda whom, left, results: configs.incremental_alter_configs(
                whom,
                {each: changes[each] for each in left},
                results,
                validate_only=validate_only,
            ),
            timeout_ms,
        )

    def alter_configs(
        self,
        wanted: Mapping[ConfigResource, Mapping[str, str | None]],
        *,
        validate_only: bool = False,
        timeout_ms: int | None = None,
    ) -> dict[ConfigResource, Promise[None]]:
        """By resource: all of its settings. Keys that are not named revert to their defaults, so
        prefer incremental_alter_configs() (KIP-339).

        Raises ValueError for a broker whose name is not an id.
        """
        return self._by_whom(
            "alterConfigs",
            knowing(wanted),
            lambda whom, left, results: configs.alter_configs(
                whom,
                {each: wanted[each] for each in left},
                results,
                validate_only=validate_only,
            ),
            timeout_ms,
        )


def _without_id(topic_ids: Iterable[bytes]) -> dict[bytes, ClientError]:
    """Errors for ids that no request can name, or no topic has."""
    refused: dict[bytes, ClientError] = {}
    for topic_id in topic_ids:
        if len(topic_id) != _ID_BYTES:
            why = f"topic_ids: {topic_id!r:.100} has {len(topic_id)} bytes, an id has {_ID_BYTES}"
            refused[topic_id] = UnencodableError(why)
        elif topic_id == ZERO_UUID:
            refused[topic_id] = _NO_ID
    return refused
