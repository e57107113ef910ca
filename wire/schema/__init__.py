"""Kafka's message schemas as typed Python classes, and the codec compiled from them.

``fields`` are what a class body is written with, ``message`` makes classes of it, ``decoder``
and ``encoder`` compile one function per class and version, ``codec`` is the door to them, and
``faults`` finds the field of a message that could not be written.
Unknown tagged fields are skipped and not kept; a struct's default is shared and read-only. Text
that is not UTF-8 reads with replacement characters, as in Java.
"""

from logquake.wire.schema.codec import (
    MAX_DECODED_BYTES,
    NotInVersionError,
    decode,
    encode,
    encode_parts,
)
from logquake.wire.schema.fields import (
    Records,
    SizedRecords,
    array,
    binary,
    boolean,
    float64,
    int8,
    int16,
    int32,
    int64,
    record_data,
    string,
    struct,
    uint16,
    uuid,
)
from logquake.wire.schema.message import Message, Struct
from logquake.wire.schema.primitives import Part

__all__ = [
    "MAX_DECODED_BYTES",
    "Message",
    "NotInVersionError",
    "Part",
    "Records",
    "SizedRecords",
    "Struct",
    "array",
    "binary",
    "boolean",
    "decode",
    "encode",
    "encode_parts",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "record_data",
    "string",
    "struct",
    "uint16",
    "uuid",
]
