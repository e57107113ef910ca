"""Envelope (58), version 0: a client's request that another broker forwards to the controller.

KIP-590. Brokers of Kafka's forward since 3.4, in ZooKeeper mode those with
zookeeper.metadata.migration.enable; ours send their clients to the controller instead. Served on
the listener between brokers alone, and by the controller alone; elsewhere the connection ends, or
the sender is told NOT_CONTROLLER and looks for the controller anew (KafkaApis.handleEnvelope).

What is wrong with the envelope is the envelope's error, what is wrong with the request the answer's
in it (EnvelopeUtils): a principal or an address that is none, a request that may not be forwarded,
which an envelope is, and one that cannot be read or is not served.
The forwarded request is the client's, whose principal the envelope names.
"""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address
from typing import cast

from logquake.controller.controller import Controller
from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.requests.api_table import ApiTable
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.acls import AclOperation
from logquake.wire.api import FORWARDABLE, ApiKey, request_type
from logquake.wire.error_codes import error_codes
from logquake.wire.errors import ErrorCode, ProtocolError, Refused
from logquake.wire.header import (
    LENGTH_BYTES,
    RequestHeader,
    UnsupportedVersion,
    decode_request_header,
    encode_response,
)
from logquake.wire.listeners import ListenerName
from logquake.wire.messages.envelope import (
    DefaultPrincipalData,
    EnvelopeRequest,
    EnvelopeResponse,
)
from logquake.wire.principals import KafkaPrincipal
from logquake.wire.schema import Message, decode

_PRINCIPAL_VERSION = (0).to_bytes(2)


class Envelope(Handler[EnvelopeRequest]):
    key = ApiKey.ENVELOPE
    versions = range(1)

    def __init__(
        self,
        table: ApiTable,
        controller: Controller,
        authorizer: Authorizer,
        *,
        is_enabled: bool,
        privileged: ListenerName,
    ) -> None:
        """privileged: the listener between brokers."""
        self._table = table
        self._controller = controller
        self._authorizer = authorizer
        self._is_enabled = is_enabled
        self._privileged = privileged

    def handle(self, request: Request, body: EnvelopeRequest) -> None:
        if not self._is_enabled:
            request.close("an envelope, and logquake.forwarding.enable is off")
        elif request.listener != self._privileged:
            request.close(f"an envelope on {request.listener}: {self._privileged} takes them")
        elif not self._authorizer.allows_on_cluster(request, AclOperation.CLUSTER_ACTION):
            request.reply(EnvelopeResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED))
        elif not self._controller.is_active:
            request.reply(EnvelopeResponse(error_code=ErrorCode.NOT_CONTROLLER))
        else:
            self._pass_on(request, body)

    def _pass_on(self, request: Request, body: EnvelopeRequest) -> None:
        try:
            forwarded = self._unpack(request, body)
        except Refused as refused:
            request.reply(EnvelopeResponse(error_code=refused.code))
        else:
            self._table.handle(forwarded)

    def _unpack(self, request: Request, body: EnvelopeRequest) -> Request:
        """Raises Refused; for the first of several faults that Kafka finds."""
        principal = _read_principal(body.request_principal)
        client_host = _client_host(body.client_host_address)
        header, start = _read_header(body.request_data)
        if header.api_key not in FORWARDABLE:
            raise Refused(ErrorCode.INVALID_REQUEST)
        inner = self._read_body(header, body.request_data, start)

        def reply(answer: Message | None) -> None:
            _reply(request, header, answer)

        def close(_why: str) -> None:
            # The sender ends its client's connection on it, as it would have been ended here.
            request.reply(EnvelopeResponse(error_code=ErrorCode.UNSUPPORTED_VERSION))

        return replace(
            request,
            header=header,
            body=inner,
            client_host=client_host,
            principal=principal,
            reply=reply,
            close=close,
            throttle=lambda _ms: None,  # the forwarding broker's connection is no client's
        )

    def _read_body(self, header: RequestHeader, data: bytes, start: int) -> Message:
        """As UNSUPPORTED_VERSION the sender ends its client's connection, which then learns anew
        what is served.
        """
        if header.api_version not in self._table.served.get(header.api_key, ()):
            raise Refused(ErrorCode.UNSUPPORTED_VERSION)
        try:
            return decode(_type_of(header), header.api_version, data, start)
        except ProtocolError:
            raise Refused(ErrorCode.UNSUPPORTED_VERSION) from None


def _read_principal(principal: bytes | None) -> KafkaPrincipal:
    """DefaultKafkaPrincipalBuilder.deserialize: a version, and a message of that version."""
    try:
        if principal is None or bytes(principal[:2]) != _PRINCIPAL_VERSION:
            raise ProtocolError("a principal of no known version")
        told = decode(DefaultPrincipalData, 0, principal, len(_PRINCIPAL_VERSION))
    except ProtocolError:
        raise Refused(ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE) from None
    return KafkaPrincipal(told.type, told.name, told.token_authenticated)


def _client_host(address: bytes) -> str:
    try:
        return str(ip_address(bytes(address)))
    except ValueError:
        raise Refused(ErrorCode.INVALID_REQUEST) from None


def _read_header(data: bytes) -> tuple[RequestHeader, int]:
    """The header, also of a version that nobody serves, and where the body starts."""
    try:
        return decode_request_header(data)
    except UnsupportedVersion as unsupported:
        if request_type(unsupported.header.api_key) is None:
            raise Refused(ErrorCode.UNSUPPORTED_VERSION) from None
        return unsupported.header, len(data)
    except ProtocolError:
        raise Refused(ErrorCode.UNSUPPORTED_VERSION) from None


def _type_of(header: RequestHeader) -> type[Message]:
    return cast(type[Message], request_type(header.api_key))


def _reply(envelope: Request, header: RequestHeader, answer: Message | None) -> None:
    """RequestChannel.Request.buildResponseSend: the sender alone can find the controller."""
    if answer is None:
        envelope.close(f"no answer is due to the forwarded {ApiKey(header.api_key).name}")
        return
    if ErrorCode.NOT_CONTROLLER in error_codes(answer):
        envelope.reply(EnvelopeResponse(error_code=ErrorCode.NOT_CONTROLLER))
        return
    try:
        parts = encode_response(header.correlation_id, answer, header.api_version)
    except ValueError as error:
        envelope.close(f"an answer that cannot be written: {error}")
        return
    # What is forwarded brings no records, so that every part is in memory.
    frame = b"".join(cast(list[bytes], parts))
    envelope.reply(EnvelopeResponse(response_data=frame[LENGTH_BYTES:]))
