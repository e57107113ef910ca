"""A client's configuration under Kafka's own keys: a mapping or keywords in, frozen values out.

    reading.py    a mapping to a table; unknown keys are refused with the nearest name
    keys.py       what a table says of a key; following.py: defaults that follow from others
    kinds.py      what a value may be
    common.py     the keys that every client has: CommonClientConfigs
    security.py   those of TLS and SASL
    producer.py, consumer.py, admin.py    one table a client, which is all it has
    elsewhere.py  what other clients' keys are called here
    absent.py     Kafka's keys that have no meaning here, and why
    addresses.py  host:port

A field of a table is Kafka's key with underscores for its dots, and so may callers write it.
"""

from logquake.client.settings.addresses import Address

__all__ = ["Address"]
