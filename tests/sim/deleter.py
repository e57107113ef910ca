"""A client that deletes records, at offsets that lie anywhere within batches (KIP-107)."""

from __future__ import annotations

from logquake.seams.network import Disconnected
from logquake.wire.messages.offsets import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from logquake.wire.schema import Message
from tests.sim.clients import Client
from tests.sim.history import Deleted

DELETE_RECORDS_VERSION = 2
DELETE_TIMEOUT_MS = 700
BEYOND = 2  # offsets past what is committed are tried too


class Deleter(Client):
    """Asks once in a while; what becomes of it is told where it succeeded."""

    def start(self) -> None:
        if self.is_stopped:
            return
        self.later(200, 1_500, self._delete)

    def _delete(self) -> None:
        committed = self.world.committed.get(self.partition)
        if committed is not None and not self.is_stopped:
            self._delete_before(self.rng.randint(0, committed.end + BEYOND))
        self.start()

    def _delete_before(self, offset: int) -> None:
        broker = self.likely_leader()
        topic, index = self.partition
        members = self.world.members(self.partition)
        asked = DeleteRecordsPartition(partition_index=index, offset=offset)
        request = DeleteRecordsRequest(
            topics=[DeleteRecordsTopic(name=topic, partitions=[asked])],
            timeout_ms=DELETE_TIMEOUT_MS,
        )

        def answered(response: Message | Disconnected) -> None:
            if isinstance(response, DeleteRecordsResponse):
                result = response.topics[0].partitions[0]
                if not result.error_code:
                    low_watermark = result.low_watermark
                    self.world.tell(Deleted(self.partition, broker, offset, low_watermark, members))

        self.world.ask_start(self.partition, offset)
        self.ask(broker, request, DELETE_RECORDS_VERSION, answered)
