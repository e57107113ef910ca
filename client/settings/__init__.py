"""A client's configuration under Kafka's own keys: a mapping or keywords in, frozen values out.

    reading.py    a mapping to a table; unknown keys are refused, and the nearest name suggested
    keys.py       what a table says of a key; following.py: defaults that depend on other keys
    kinds.py      the kinds of values
    common.py     the keys that every client has: CommonClientConfigs
    security.py   those of TLS and SASL
    producer.py, consumer.py, admin.py    the table of each client
    absent.py     Kafka's keys that have no meaning here, and why
    elsewhere.py  other clients' names for keys
    addresses.py  host:port

A field of a table is Kafka's key with underscores for its dots; callers may write either.
"""

from logquake.client.settings.addresses import Address

__all__ = ["Address"]
