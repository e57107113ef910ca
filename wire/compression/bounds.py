"""How a codec refuses: broken bytes and bytes past the bound."""

from __future__ import annotations

from logquake.wire.errors import ErrorCode, RecordError

Buffer = bytes | bytearray | memoryview


def broken(codec: str, why: object) -> RecordError:
    return RecordError(ErrorCode.CORRUPT_MESSAGE, f"{codec}: {why}")


def too_large(codec: str, limit: int) -> RecordError:
    return RecordError(
        ErrorCode.MESSAGE_TOO_LARGE, f"{codec}: decompresses to more than {limit} bytes"
    )
