"""What is shown, by the names of the tool's own options."""

from __future__ import annotations

from dataclasses import dataclass

from logquake.storage.dump.decoders import (
    RecordDecoder,
    bytes_decoder,
    decode_as_text,
    decode_with,
)
from logquake.storage.dump.group_text import decode_group_record
from logquake.storage.dump.transaction_text import decode_transaction_record

NO_LIMIT = 2**31 - 1


@dataclass(frozen=True, slots=True)
class DumpOptions:
    # Records too, not only batches.
    deep_iteration: bool = False
    # Keys and values too; implies deep_iteration.
    print_data_log: bool = False
    # Leave offsets, times and sizes of the records out.
    skip_record_metadata: bool = False
    # Only what a broker checks of an index at its start.
    index_sanity_check: bool = False
    # Hold the indexes against the log without listing their entries.
    verify_index_only: bool = False
    # Bytes; a larger batch that an index points at is not looked into.
    max_message_size: int = 5 * 1024 * 1024
    # Bytes of a .log file that are read.
    max_bytes: int = NO_LIMIT
    # A record of so many bytes once decompressed is damage: it could fill the memory.
    max_decompressed_bytes: int = 1 << 30
    decoder: RecordDecoder = decode_as_text


def choose_decoder(
    key: str | None, value: str | None, *, offsets: bool, transaction_log: bool
) -> RecordDecoder | None:
    """None when nothing was asked for. Raises ValueError, in a line for the user."""
    if offsets:
        return decode_group_record
    if transaction_log:
        return decode_transaction_record
    if key is None and value is None:
        return None
    return decode_with(bytes_decoder(key), bytes_decoder(value))
