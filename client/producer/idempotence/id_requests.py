"""Asking a broker for a producer id (TransactionManager.InitProducerIdHandler)."""

from __future__ import annotations

from collections.abc import Callable

from logquake.client.errors import (
    ClientError,
    ConnectionLostError,
    UnencodableError,
    UnsupportedVersionError,
    broker_error,
)
from logquake.client.network.link import Answer, ClientRequest
from logquake.client.network.network_client import NetworkClient
from logquake.client.producer.idempotence.idempotence import Idempotence
from logquake.client.producer.idempotence.identity import Broken, Identity, NoId
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.transactions import InitProducerIdRequest, InitProducerIdResponse

_NO_TIMEOUT_MS = 0x7FFFFFFF  # of transactions, which it does not have


class IdRequests:
    """``give_up`` is called if waiting batches cannot be sent: an id was denied, and has to be
    requested again, or the producer is broken.
    """

    def __init__(
        self,
        network: NetworkClient,
        idempotence: Idempotence,
        retry_backoff_ms: int,
        give_up: Callable[[ClientError], None],
    ) -> None:
        self._network = network
        self._idempotence = idempotence
        self._retry_backoff_ms = retry_backoff_ms
        self._give_up = give_up
        self._answer: Answer | None = None

    def poll(self, now_ms: int) -> bool:
        """Request an id if needed. Returns whether the producer may send records."""
        self._idempotence.mend()
        answer, self._answer = self._answer, None
        if answer is not None:
            self._take(answer, now_ms)
        standing = self._idempotence.standing
        if isinstance(standing, NoId) and standing.not_before_ms <= now_ms:
            self._ask(now_ms)
            standing = self._idempotence.standing
        if isinstance(standing, Broken):
            self._give_up(standing.error)
        return not isinstance(standing, Broken)

    def next_due_ms(self, now_ms: int) -> int | None:
        standing = self._idempotence.standing
        if isinstance(standing, NoId) and standing.not_before_ms > now_ms:
            return standing.not_before_ms
        return None  # the network knows when a broker is ready

    def _ask(self, now_ms: int) -> None:
        node = self._network.least_loaded(now_ms)
        if node is None or not self._network.ready(node.id, now_ms):
            return
        try:
            version = self._network.version_of(node.id, InitProducerIdRequest)
        except UnsupportedVersionError as error:
            self._idempotence.broke(error)
            return
        request = InitProducerIdRequest(
            transactional_id=None, transaction_timeout_ms=_NO_TIMEOUT_MS
        )
        asked = ClientRequest(request, version, InitProducerIdResponse, self._on_answer)
        self._idempotence.asked()
        self._network.send(node.id, asked, now_ms)

    def _on_answer(self, answer: Answer) -> None:
        """Keep the response for the next poll, which knows the time."""
        self._answer = answer

    def _take(self, answer: Answer, now_ms: int) -> None:
        retry_at_ms = now_ms + self._retry_backoff_ms
        if not isinstance(answer, InitProducerIdResponse):
            lost = answer if isinstance(answer, ClientError) else ConnectionLostError("no answer")
            if isinstance(lost, UnsupportedVersionError | UnencodableError):
                self._idempotence.broke(lost)
            else:
                self._idempotence.not_identified(retry_at_ms)
        elif answer.error_code == ErrorCode.NONE:
            self._idempotence.identified(Identity(answer.producer_id, answer.producer_epoch))
        else:
            self._refused(answer.error_code, retry_at_ms)

    def _refused(self, code: int, retry_at_ms: int) -> None:
        error = broker_error(code, "no producer id")
        is_denied = error.code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        if error.retriable or is_denied:
            self._idempotence.not_identified(retry_at_ms)
            if is_denied:
                self._give_up(error)
        else:
            self._idempotence.broke(error)
