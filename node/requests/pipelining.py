"""Whether a connection's next Produce is appended while the last one waits for its answer.

Kafka never does: SocketServer mutes a connection until the answer is sent, so that with acks=all
one request a connection and replication round trip gets through. What that buys is that at most
one request of a connection is in the log without an answer. A producer that is not idempotent
sends again whatever had no answer when the leader changed, and all of it that was in the log is
then there twice. An idempotent one's sequence numbers tell the leader what it has already.

What waits for nobody (acks 0 and 1, a partition without followers) is written and answered at the
end of the pass that read it. There the next one need not wait for another pass.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from logquake.node.replication.values import ProduceEntry


class ProducePipelining(Enum):
    """logquake.produce.pipelining: after which requests the next one may follow at once."""

    ALL = "all"  # as fast as can be; doubles up to all that a producer has in flight
    IDEMPOTENT = "idempotent"  # of others at most one is in the log without an answer, as in Kafka
    NONE = "none"  # Kafka's way

    def lets_follow(self, appended: Iterable[ProduceEntry], *, waits: bool) -> bool:
        """Whether the next request may follow one that brought these records.

        ``waits``: for followers. Otherwise it is answered at the end of the pass that read it.
        """
        if self is ProducePipelining.IDEMPOTENT:
            return not waits or all(
                entry.header is not None and entry.header.has_producer_id for entry in appended
            )
        return self is ProducePipelining.ALL
