"""The load generator: librdkafka, called so that no Python runs per message.

It is the library inside confluent-kafka's wheel, over ctypes: ``rd_kafka_produce_batch`` takes
thousands of messages a call without copying them, and ``rd_kafka_consume_callback_queue`` with a
C function as its callback drains a queue. kcat is a C client as well, but it copies each
message from a file, shows no CPU or request figures, and is not to be had from PyPI.

No delivery callback is set: who wants to know what arrived compares log end offsets.
"""

from __future__ import annotations

import ctypes
import json
import time
from collections.abc import Mapping
from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_size_t, c_void_p
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from confluent_kafka import cimpl

from benchmarks.errors import BenchmarkError

PRODUCER, CONSUMER = 0, 1
OFFSET_BEGINNING = -2

_CONF_OK = 0
_ERROR_SIZE = 512
_POLL_MS = 1
_WAIT_MS = 100
_STATISTICS_INTERVAL_MS = 200

_StatisticsCallback = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t, c_void_p)


class _Message(ctypes.Structure):
    """rd_kafka_message_t."""

    _fields_ = (
        ("err", c_int),
        ("topic", c_void_p),
        ("partition", c_int32),
        ("payload", c_void_p),
        ("len", c_size_t),
        ("key", c_void_p),
        ("key_len", c_size_t),
        ("offset", c_int64),
        ("private", c_void_p),
    )


# Function: result, arguments.
_SIGNATURES: Mapping[str, tuple[Any, tuple[Any, ...]]] = {
    "rd_kafka_conf_new": (c_void_p, ()),
    "rd_kafka_conf_set": (c_int, (c_void_p, c_char_p, c_char_p, c_char_p, c_size_t)),
    "rd_kafka_conf_set_stats_cb": (None, (c_void_p, _StatisticsCallback)),
    "rd_kafka_new": (c_void_p, (c_int, c_void_p, c_char_p, c_size_t)),
    "rd_kafka_destroy": (None, (c_void_p,)),
    "rd_kafka_topic_new": (c_void_p, (c_void_p, c_char_p, c_void_p)),
    "rd_kafka_topic_destroy": (None, (c_void_p,)),
    "rd_kafka_produce_batch": (c_int, (c_void_p, c_int32, c_int, POINTER(_Message), c_int)),
    "rd_kafka_outq_len": (c_int, (c_void_p,)),
    "rd_kafka_poll": (c_int, (c_void_p, c_int)),
    "rd_kafka_queue_new": (c_void_p, (c_void_p,)),
    "rd_kafka_queue_destroy": (None, (c_void_p,)),
    "rd_kafka_consume_start_queue": (c_int, (c_void_p, c_int32, c_int64, c_void_p)),
    "rd_kafka_consume_stop": (c_int, (c_void_p, c_int32)),
    "rd_kafka_consume_callback_queue": (c_int, (c_void_p, c_int, c_void_p, c_void_p)),
}


def _load() -> ctypes.CDLL:
    """The library that confluent-kafka is linked with: its symbols are found through it."""
    library = ctypes.CDLL(cimpl.__file__)
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


_library = _load()


@dataclass(frozen=True, slots=True)
class Sent:
    """What a producer's own statistics say, retries included."""

    messages: int
    requests: int


class Client:
    """A handle and one topic. Raises BenchmarkError for settings that the library refuses."""

    def __init__(self, kind: int, topic: str, settings: Mapping[str, object]) -> None:
        self._statistics: list[bytes] = []
        self._on_statistics = _StatisticsCallback(self._keep_statistics)
        self._handle = self._new(kind, settings)
        self._topic = _library.rd_kafka_topic_new(self._handle, topic.encode(), None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _library.rd_kafka_topic_destroy(self._topic)
        _library.rd_kafka_destroy(self._handle)

    def _new(self, kind: int, settings: Mapping[str, object]) -> int:
        error = ctypes.create_string_buffer(_ERROR_SIZE)
        configuration = _library.rd_kafka_conf_new()
        for key, value in settings.items():
            arguments = (key.encode(), str(value).encode(), error, _ERROR_SIZE)
            if _library.rd_kafka_conf_set(configuration, *arguments) != _CONF_OK:
                raise BenchmarkError(f"librdkafka: {error.value.decode()}")
        _library.rd_kafka_conf_set_stats_cb(configuration, self._on_statistics)
        handle = _library.rd_kafka_new(kind, configuration, error, _ERROR_SIZE)
        if not handle:
            raise BenchmarkError(f"librdkafka: {error.value.decode()}")
        return int(handle)

    def _keep_statistics(self, _handle: int, text: int, size: int, _opaque: int) -> int:
        self._statistics.append(ctypes.string_at(text, size))
        return 0


class BatchProducer(Client):
    """Hands the same ``count`` messages of ``message_bytes`` over again and again."""

    def __init__(
        self, topic: str, settings: Mapping[str, object], *, message_bytes: int, count: int
    ) -> None:
        every = {"statistics.interval.ms": _STATISTICS_INTERVAL_MS}
        super().__init__(PRODUCER, topic, {**settings, **every})
        # Sent in place, so it must live as long as the messages that point at it.
        self._payload = ctypes.create_string_buffer(_text(message_bytes), message_bytes)
        self._messages = (_Message * count)()
        for message in self._messages:
            message.payload = ctypes.addressof(self._payload)
            message.len = message_bytes

    def send(self, partition: int) -> int:
        """Queue the messages, as many as there is room for; waits a little when it was not enough.

        Never blocks in the library: its wait for room is not always told that there is some.
        """
        count = len(self._messages)
        taken = _library.rd_kafka_produce_batch(self._topic, partition, 0, self._messages, count)
        if taken < count:
            _library.rd_kafka_poll(self._handle, _POLL_MS)
        return int(taken)

    def wait_until_sent(self, timeout_s: float) -> None:
        """Until every message was answered, or given up. Raises BenchmarkError after that time.

        rd_kafka_flush would look only every 100 ms when no delivery callback is set.
        """
        deadline = time.monotonic() + timeout_s
        while waiting := _library.rd_kafka_outq_len(self._handle):
            if time.monotonic() > deadline:
                raise BenchmarkError(f"{waiting} messages without an answer after {timeout_s:g} s")
            _library.rd_kafka_poll(self._handle, _POLL_MS)

    def sent(self) -> Sent:
        """Ask the library: waits for its next statistics."""
        self._statistics.clear()
        while not self._statistics:
            _library.rd_kafka_poll(self._handle, _STATISTICS_INTERVAL_MS)
        return _sent(json.loads(self._statistics[-1]))


class Drain(Client):
    """Takes whole partitions and throws them away."""

    def __init__(self, topic: str, settings: Mapping[str, object], partitions: int) -> None:
        super().__init__(CONSUMER, topic, settings)
        self._partitions = partitions
        self._queue = _library.rd_kafka_queue_new(self._handle)
        for partition in range(partitions):
            _library.rd_kafka_consume_start_queue(
                self._topic, partition, OFFSET_BEGINNING, self._queue
            )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for partition in range(self._partitions):
            _library.rd_kafka_consume_stop(self._topic, partition)
        _library.rd_kafka_queue_destroy(self._queue)
        super().__exit__(kind, error, trace)

    def take(self, messages: int, timeout_s: float) -> None:
        """Until that many messages came. Raises BenchmarkError when they do not."""
        deadline = time.monotonic() + timeout_s
        # Any harmless function of a message does: the library frees the message after it.
        callback = ctypes.cast(_library.rd_kafka_message_broker_id, c_void_p)
        while messages > 0:
            if time.monotonic() > deadline:
                raise BenchmarkError(f"{messages} messages still missing after {timeout_s:g} s")
            messages -= _library.rd_kafka_consume_callback_queue(
                self._queue, _WAIT_MS, callback, None
            )


def _text(size: int) -> bytes:
    """Bytes that are not all alike; no codec is in use, but a broker may look."""
    return bytes(index * 31 % 251 for index in range(size))


def _sent(statistics: dict[str, Any]) -> Sent:
    partitions = [
        partition
        for topic in statistics["topics"].values()
        for partition in topic["partitions"].values()
    ]
    return Sent(
        messages=sum(partition["txmsgs"] for partition in partitions),
        requests=sum(broker["req"]["Produce"] for broker in statistics["brokers"].values()),
    )
