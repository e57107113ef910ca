"""OffsetDelete (47), version 0: forget what a group committed for partitions (KIP-496).

Of topics that its members consume nothing is forgotten.
"""

from __future__ import annotations

from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.coordinators.groups.offset_removal import OffsetRemoval
from logquake.node.metadata.cache import MetadataCache
from logquake.node.requests.handler import Handler
from logquake.node.requests.known_partitions import by_topic, sort_out
from logquake.node.requests.request import Request
from logquake.wire.acls import AclOperation, ResourceType
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.group_offsets import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)


class OffsetDelete(Handler[OffsetDeleteRequest]):
    key = ApiKey.OFFSET_DELETE
    versions = range(1)

    def __init__(
        self, removal: OffsetRemoval, cache: MetadataCache, authorizer: Authorizer
    ) -> None:
        self._removal = removal
        self._authorizer = authorizer
        self._cache = cache

    def handle(self, request: Request, body: OffsetDeleteRequest) -> None:
        names = (topic.name for topic in body.topics)
        denied = self._authorizer.denied(request, AclOperation.READ, ResourceType.TOPIC, names)
        known, unknown = sort_out(body.topics, self._cache, denied)
        deleted = self._removal.delete(body.group_id, list(known))
        if isinstance(deleted, ErrorCode):
            request.reply(OffsetDeleteResponse(error_code=deleted, topics=[]))
            return
        request.reply(
            OffsetDeleteResponse(
                topics=[
                    OffsetDeleteResponseTopic(
                        name=topic,
                        partitions=[
                            OffsetDeleteResponsePartition(partition_index=index, error_code=error)
                            for index, error in partitions
                        ],
                    )
                    for topic, partitions in by_topic(unknown | {**deleted})
                ]
            )
        )
