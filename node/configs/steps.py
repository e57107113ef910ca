"""Which steps a running broker takes from one configuration to the next (BrokerReconfigurable)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from logquake.controller.rules.config_def import InvalidValue
from logquake.node.configs.broker_keys import synonyms, without_listener
from logquake.node.configs.layers import Properties, number_of, value_of
from logquake.node.configs.topic_settings import retention_ms
from logquake.zk.znodes.map_order import scala_set_text

_POOLS = (
    "num.io.threads",
    "num.replica.fetchers",
    "num.recovery.threads.per.data.dir",
    "background.threads",
)
_NETWORK_THREADS = "num.network.threads"
_CLEANER_THREADS = "log.cleaner.threads"
_LIMITS = ("max.connections", "max.connection.creation.rate")
_LISTENERS = ("listeners", "advertised.listeners", "listener.security.protocol.map")
_REPORTERS = "metric.reporters"
_KNOWN_REPORTERS = ("org.apache.kafka.common.metrics.JmxReporter",)
_LOCAL_RETENTION = (
    ("log.local.retention.ms", "log.retention.ms"),
    ("log.local.retention.bytes", "log.retention.bytes"),
)
_NOT_SET_LOCALLY = -2


def check_step(now: Properties, then: Properties) -> None:
    """Raises InvalidValue."""
    changed = {name for name in now.keys() | then.keys() if now.get(name) != then.get(name)}
    try:
        _check_reporters(changed, then)
        _check_limits(changed, then)
        for name in (_NETWORK_THREADS, *_POOLS):
            _check_pool(name, now, then)
        _check_local_retention(then)
        _check_listeners(changed)
        _check_cleaners(now, then)
    except InvalidValue as invalid:
        cause = f"org.apache.kafka.common.config.ConfigException: {invalid}"
        raise InvalidValue.of("Invalid dynamic configuration", cause) from invalid


def _check_reporters(changed: Iterable[str], then: Properties) -> None:
    classes = value_of(then, _REPORTERS)
    if _REPORTERS in changed and not set(_KNOWN_REPORTERS).issuperset(_names(classes)):
        names = scala_set_text(sorted(changed))
        raise InvalidValue(
            f"Validation of dynamic config update of {names} failed with class "
            "class kafka.server.DynamicMetricsReporters"
        )


def _names(value: object) -> list[str]:
    return value if isinstance(value, list) else []


def _check_limits(changed: Iterable[str], then: Properties) -> None:
    """Of all listeners, and of those that have limits of their own."""
    for name in sorted(each for each in changed if without_listener(each) in _LIMITS):
        limit = number_of_listener(then, name)
        if limit <= 0:
            raise InvalidValue(f"Invalid {without_listener(name)} {limit}")


def number_of_listener(originals: Properties, name: str) -> int:
    """A listener's own whole number, or that of all listeners, which have a default."""
    base = without_listener(name)
    text = next((originals[each] for each in synonyms(name) if each in originals), None)
    number = number_of({} if text is None else {base: text}, base)
    if number is None:
        raise TypeError(f"{base} has no default")
    return number


def _check_pool(name: str, now: Properties, then: Properties) -> None:
    """DynamicThreadPool.validateReconfiguration."""
    before, after = _count(now, name), _count(then, name)
    said = f"Dynamic thread count update validation failed for {name}={after}"
    if after == before:
        return
    if after <= 0:
        raise InvalidValue(f"{said}, value should be at least 1")
    if after < before // 2:
        raise InvalidValue(f"{said}, value should be at least half the current value {before}")
    if after > before * 2:
        raise InvalidValue(
            f"{said}, value should not be greater than double the current value {before}"
        )


def _check_cleaners(now: Properties, then: Properties) -> None:
    """LogCleaner.validateReconfiguration."""
    before, after = _count(now, _CLEANER_THREADS), _count(then, _CLEANER_THREADS)
    if after < before // 2:
        raise InvalidValue(
            f"Log cleaner threads cannot be reduced to less than half the current value {before}"
        )
    if after > before * 2:
        raise InvalidValue(
            "Log cleaner threads cannot be increased to more than double "
            f"the current value {before}"
        )


def _check_local_retention(then: Properties) -> None:
    """DynamicLogConfig: what is kept locally is no more than what is kept."""
    for name, kept, whole in _retentions(then):
        if whole <= -1 or kept == _NOT_SET_LOCALLY:
            continue
        if kept == -1:
            said = f"Value must not be -1 as {name[1]} value is set as {whole}."
            raise InvalidValue.of(name[0], kept, said)
        if kept > whole:
            said = f"Value must not be more than {name[1]} property value: {whole}"
            raise InvalidValue.of(name[0], kept, said)


def _retentions(then: Properties) -> Iterator[tuple[tuple[str, str], int, int]]:
    wholes = (retention_ms(then), _count(then, "log.retention.bytes"))
    for names, whole in zip(_LOCAL_RETENTION, wholes, strict=True):
        yield names, _count(then, names[0]), whole


def _check_listeners(changed: Iterable[str]) -> None:
    for name in _LISTENERS:
        if name in changed:
            raise InvalidValue(f"{name} cannot be changed while the broker runs")


def _count(originals: Properties, name: str) -> int:
    return number_of(originals, name) or 0
