"""A broker's own passwords on their way to ZooKeeper and back (DynamicBrokerConfig).

Without password.encoder.secret none can be set, and none that is there counts.
"""

from __future__ import annotations

from collections.abc import Callable

from logquake.controller.rules.config_def import InvalidValue
from logquake.node.configs.broker_keys import is_password
from logquake.node.configs.layers import Properties
from logquake.node.configs.password_encoder import (
    PasswordEncoder,
    PasswordEncoderSettings,
    PasswordError,
)

_NO_SECRET = "Password encoder secret not configured"


class Passwords:
    """``new_bytes`` makes salts."""

    def __init__(
        self, settings: PasswordEncoderSettings, new_bytes: Callable[[int], bytes]
    ) -> None:
        self._now, self._old = (
            None if secret is None else PasswordEncoder(secret, settings, new_bytes)
            for secret in (settings.secret, settings.old_secret)
        )

    def encoded(self, props: Properties, *, own: bool) -> dict[str, str]:
        """As ZooKeeper shall hold them. Raises InvalidValue."""
        return {
            name: self._encoded(value, own=own) if is_password(name) else value
            for name, value in props.items()
        }

    def decoded(self, props: Properties) -> tuple[dict[str, str], dict[str, str]]:
        """What can be read, and why the rest cannot, by key."""
        good: dict[str, str] = {}
        faults: dict[str, str] = {}
        for name, value in props.items():
            try:
                good[name] = self._decoded(value) if is_password(name) else value
            except PasswordError as error:
                faults[name] = str(error)
        return good, faults

    def reencoded(self, props: Properties) -> dict[str, str] | None:
        """With the secret of now, what the old one can read; None where nothing is to be done."""
        if self._old is None or self._now is None or not any(map(is_password, props)):
            return None
        renewed = dict(props)
        for name in filter(is_password, props):
            try:
                renewed[name] = self._now.encode(self._old.decode(props[name]))
            except PasswordError:
                continue  # of the secret of now already
        return renewed

    def _encoded(self, value: str, *, own: bool) -> str:
        if not own:
            raise InvalidValue("Password config can be defined only at broker level")
        if self._now is None:
            raise InvalidValue(_NO_SECRET)
        return self._now.encode(value)

    def _decoded(self, value: str) -> str:
        if self._now is None:
            raise PasswordError("password.encoder.secret is not set")
        return self._now.decode(value)
