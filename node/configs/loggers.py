"""The log levels of a broker, as Kafka's tools see them (KIP-412, RuntimeLoggerManager).

There is one logger here, root. Its level can be set and is told, and changes nothing: what a broker
has to say stands in its journal. As in Kafka it is forgotten at the end of the process.
"""

from __future__ import annotations

from logquake.controller.rules.config_def import parse_whole
from logquake.node.configs.alteration import Operation, ResourceChange
from logquake.node.configs.describing import ConfigSource, Entries
from logquake.wire.errors import ErrorCode, Refused
from logquake.wire.messages.configs import DescribeConfigsResourceResult

ROOT = "root"
_LEVELS = ("DEBUG", "ERROR", "FATAL", "INFO", "TRACE", "WARN")


class Loggers:
    def __init__(self, broker_id: int) -> None:
        self._broker_id = broker_id
        self._level = "INFO"

    def describe(self) -> Entries:
        return [
            DescribeConfigsResourceResult(
                name=ROOT, value=self._level, config_source=ConfigSource.DYNAMIC_BROKER_LOGGER
            )
        ]

    def alter(self, change: ResourceChange, *, only_check: bool) -> None:
        """Raises Refused."""
        self._check_broker(change.name)
        for each in change.alterations:
            _check(each.name, each.operation, each.value)
        for each in change.alterations:
            if not only_check and each.value is not None:
                self._level = each.value

    def _check_broker(self, name: str) -> None:
        """Kafka names its own id twice."""
        number = parse_whole(name)
        if number is None:
            said = f"Node id must be an integer, but it is: {name}"
        elif number != self._broker_id:
            said = f"Unexpected node id. Expected {self._broker_id}, but received {self._broker_id}"
        else:
            return
        raise Refused(ErrorCode.INVALID_REQUEST, said)


def _check(name: str, operation: int, value: str | None) -> None:
    match operation:
        case Operation.SET:
            _check_exists(name)
            if value not in _LEVELS:
                said = (
                    f"Cannot set the log level of {name} to {value} as it is not a supported log "
                    f"level. Valid log levels are {', '.join(_LEVELS)}"
                )
                raise Refused(ErrorCode.INVALID_CONFIG, said)
        case Operation.DELETE:
            _check_exists(name)
            said = f"Removing the log level of the {ROOT} logger is not allowed"
            raise Refused(ErrorCode.INVALID_REQUEST, said)
        case Operation.APPEND | Operation.SUBTRACT:
            said = (
                f"{Operation(operation).name} operation is not allowed "
                "for the BROKER_LOGGER resource"
            )
            raise Refused(ErrorCode.INVALID_REQUEST, said)
        case _:
            raise Refused(ErrorCode.UNKNOWN_SERVER_ERROR, None)


def _check_exists(name: str) -> None:
    if name != ROOT:
        raise Refused(ErrorCode.INVALID_CONFIG, f"Logger {name} does not exist!")
