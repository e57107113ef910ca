"""Listener names and security protocols, as registrations and UpdateMetadata spell them.

A listener is one of a broker's addresses under a name (KIP-103): clients that come in by it are
told the addresses that other brokers have under the same name.
"""

from __future__ import annotations

from typing import NewType

ListenerName = NewType("ListenerName", str)

PLAINTEXT = ListenerName("PLAINTEXT")  # a security protocol, and the listener of its name

# org.apache.kafka.common.security.auth.SecurityProtocol
SECURITY_PROTOCOL_IDS = {PLAINTEXT: 0, "SSL": 1, "SASL_PLAINTEXT": 2, "SASL_SSL": 3}
_NAMES = {number: ListenerName(name) for name, number in SECURITY_PROTOCOL_IDS.items()}


def listener_of_protocol(security_protocol_id: int) -> ListenerName | None:
    """A listener before KIP-103 had its security protocol's name; None where there is none."""
    return _NAMES.get(security_protocol_id)
