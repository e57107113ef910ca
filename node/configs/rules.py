"""Which changes of a broker's configuration are taken (DynamicBrokerConfig.validate).

Kafka looks at the names, then at each value, then at all that would be set together, then at the
step from what is set now. Each finds the first fault and words it in its own way, and so is it
here. Two things are refused that Kafka takes: another set of listeners, and classes that a Java
can load.
"""

from __future__ import annotations

from logquake.controller.rules.config_def import ConfigType, InvalidValue
from logquake.node.configs.broker_keys import (
    BROKER_KEYS,
    DYNAMIC,
    DYNAMIC_ONLY,
    NOT_DYNAMIC,
    SECURITY,
    is_of_one_broker,
    without_listener,
)
from logquake.node.configs.layers import Layers, Properties
from logquake.node.configs.steps import check_step
from logquake.node.configs.together import check_together
from logquake.zk.znodes.map_order import properties_order, scala_order, scala_set_text

_NOT_DYNAMIC = "Cannot update these configs dynamically"
_ONLY_PER_LISTENER = (
    "These security configs can be dynamically updated only per-listener using the listener prefix"
)
_ONLY_PER_BROKER = (
    "Cannot update these configs at default cluster level, broker id must be specified"
)
_TYPES_IN_ORDER = (
    *(name for name in BROKER_KEYS if name in DYNAMIC_ONLY),
    *scala_order(name for name in BROKER_KEYS if name in DYNAMIC),
)


def check_change(layers: Layers, applied: Properties, props: Properties, *, own: bool) -> None:
    """``props`` would be this broker's own layer, or the default of all brokers.

    ``applied`` is what the broker obeys now. Raises InvalidValue.
    """
    _check_names(props)
    _check_types(props)
    if not own:
        _check_level(props)
    changed = layers.with_own(props) if own else layers.with_default(props)
    originals = changed.originals()
    check_together(originals)
    check_step(applied, originals)


def without_invalid(props: Properties, *, own: bool) -> tuple[dict[str, str], dict[str, str]]:
    """Of what ZooKeeper holds: what may count, and why the rest does not, by key.

    DynamicBrokerConfig.fromPersistentProps.
    """
    found = {name: _fault(name, value, own=own) for name, value in props.items()}
    good = {name: value for name, value in props.items() if found[name] is None}
    return good, {name: fault for name, fault in found.items() if fault is not None}


def _fault(name: str, value: str, *, own: bool) -> str | None:
    if name in NOT_DYNAMIC:
        return "it cannot change while the broker runs"
    if name in SECURITY:
        return "it may only be set for a listener"
    if not own and is_of_one_broker(name):
        return "it may only be set for one broker"
    try:
        _check_types({name: value})
    except InvalidValue as invalid:
        return str(invalid)
    return None


def _check_names(props: Properties) -> None:
    fixed = [name for name in properties_order(props) if name in NOT_DYNAMIC]
    if fixed:
        raise InvalidValue(f"{_NOT_DYNAMIC}: {scala_set_text(fixed)}")
    security = scala_order(name for name in props if name in SECURITY)
    if security:
        raise InvalidValue(f"{_ONLY_PER_LISTENER}: HashSet({', '.join(security)})")


def _check_types(props: Properties) -> None:
    """A listener's own keys have the types of those without its prefix."""
    values = {without_listener(name): value for name, value in props.items()}
    for name in _TYPES_IN_ORDER:
        if name in values:
            key = BROKER_KEYS[name]
            value = key.parse(values[name])
            if key.type is ConfigType.CLASS and value != key.default:
                raise InvalidValue.of(name, value, f"Class {value} could not be found.")


def _check_level(props: Properties) -> None:
    per_broker = [name for name in properties_order(props) if is_of_one_broker(name)]
    if per_broker:
        raise InvalidValue(f"{_ONLY_PER_BROKER}: {scala_set_text(per_broker)}")
