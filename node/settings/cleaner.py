"""The log.cleaner.* keys that concern the broker as a whole; the others are topics' defaults."""

from __future__ import annotations

from logquake.node.replication.settings import CleanerSettings
from logquake.node.settings.errors import SettingsError
from logquake.node.settings.reader import PropertyReader, refusal

_DEDUPE_SIZE = "log.cleaner.dedupe.buffer.size"
_IO_RATE = "log.cleaner.io.max.bytes.per.second"
_LOAD_FACTOR = "log.cleaner.io.buffer.load.factor"
_CPU_SHARE = "logquake.log.cleaner.cpu.share"
_MIN_DEDUPE_BYTES = 1024 * 1024


def read_cleaner(reader: PropertyReader) -> CleanerSettings:
    default = CleanerSettings()
    settings = CleanerSettings(
        enabled=reader.flag("log.cleaner.enable", default.enabled),
        threads=reader.integer("log.cleaner.threads", default.threads, minimum=1),
        backoff_ms=reader.long("log.cleaner.backoff.ms", default.backoff_ms, minimum=0),
        io_max_bytes_per_second=reader.decimal(_IO_RATE, default.io_max_bytes_per_second),
        dedupe_buffer_bytes=reader.long(_DEDUPE_SIZE, default.dedupe_buffer_bytes),
        io_buffer_bytes=reader.integer(
            "log.cleaner.io.buffer.size", default.io_buffer_bytes, minimum=0
        ),
        load_factor=reader.fraction(_LOAD_FACTOR, default.load_factor),
        cpu_share=reader.fraction(_CPU_SHARE, default.cpu_share),
    )
    _check_positive(settings)
    if settings.dedupe_buffer_bytes // settings.threads <= _MIN_DEDUPE_BYTES:
        size, allowed = str(settings.dedupe_buffer_bytes), "more than 1 MiB for each cleaner thread"
        raise SettingsError(refusal(_DEDUPE_SIZE, size, allowed))
    return settings


def _check_positive(settings: CleanerSettings) -> None:
    for key, value in (
        (_IO_RATE, settings.io_max_bytes_per_second),
        (_LOAD_FACTOR, settings.load_factor),
        (_CPU_SHARE, settings.cpu_share),
    ):
        if not value > 0:
            raise SettingsError(refusal(key, str(value), "a number above 0"))
