"""Settings of librdkafka's under the names that Kafka's client, and ours, have for them."""

from __future__ import annotations

from collections.abc import Mapping

from logquake.chaos.workloads.plan import Option

# What both have, by librdkafka's names. The last is how long a client waits for an answer: what
# librdkafka calls request.timeout.ms a broker is asked to keep to.
_NAMES = {
    "message.send.max.retries": "retries",
    "message.timeout.ms": "delivery.timeout.ms",
    "socket.timeout.ms": "request.timeout.ms",
}


def kafkas_settings(settings: Mapping[str, Option]) -> dict[str, Option]:
    renamed = {_NAMES[name]: value for name, value in settings.items() if name in _NAMES}
    return {name: value for name, value in settings.items() if name not in _NAMES} | renamed
