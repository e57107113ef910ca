"""What this broker is set to, and who follows it when that changes (DynamicBrokerConfig).

What ZooKeeper holds counts as far as it makes sense; what does not is told in the journal. A
change that cannot be made as a whole leaves the broker as it is, though it is told to whoever asks
what is set, as with Kafka.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from logquake.controller.rules.config_def import InvalidValue
from logquake.node.configs.broker_keys import is_password, key_of
from logquake.node.configs.layers import Layers, Properties
from logquake.node.configs.passwords import Passwords
from logquake.node.configs.rules import check_change, without_invalid
from logquake.node.configs.steps import check_step
from logquake.node.configs.together import check_together
from logquake.node.journal_events import BROKER_CONFIG_CHANGED, BROKER_CONFIG_IGNORED
from logquake.seams.journal import Event, Journal
from logquake.zk.znodes.configs import DEFAULT_ENTITY

S = TypeVar("S")


class BrokerConfig(Generic[S]):
    """``parse`` makes settings of all that is set, and raises InvalidValue.

    ``layers`` are what is set, ``applied`` and ``settings`` what the broker obeys.
    """

    def __init__(
        self,
        broker_id: int,
        static: Properties,
        parse: Callable[[Properties], S],
        passwords: Passwords,
        journal: Journal,
    ) -> None:
        self.broker_id = broker_id
        self.passwords = passwords
        self.layers = Layers.starting(static)
        self.applied: Properties = self.layers.originals()
        self.settings = parse(self.applied)
        self._parse = parse
        self._journal = journal
        self._followers: list[Callable[[S, S], None]] = []
        self._readers_of_files: list[Callable[[S], None]] = []

    def follow(self, follower: Callable[[S, S], None]) -> None:
        """It is called with the settings before and after each change."""
        self._followers.append(follower)

    def follow_files(self, reader: Callable[[S], None]) -> None:
        """It reads files again that the settings name as before. It may raise InvalidValue."""
        self._readers_of_files.append(reader)

    def read_files_again(self, props: Properties) -> None:
        """This broker is set to these, the same or not: files may hold something else by now.

        DynamicBrokerConfig.reloadUpdatedFilesWithoutConfigChange. Raises InvalidValue.
        """
        settings = self._parse(self.layers.with_own(props).originals())
        for reader in self._readers_of_files:
            reader(settings)

    def begin_with(self, of_all: Properties, own: Properties) -> None:
        """What ZooKeeper holds at the start: no step, since nothing runs yet."""
        self._take(of_all, own=False)
        self._take(own, own=True)
        self._obey(lambda _originals: None)

    def take_in(self, props: Properties, *, own: bool) -> None:
        """ZooKeeper holds something else for this broker, or for all by default."""
        self._take(props, own=own)

        def check(originals: Properties) -> None:
            check_together(originals)
            check_step(self.applied, originals)

        self._obey(check)

    def readable(self, props: Properties, *, own: bool) -> Mapping[str, str]:
        """What of it may count, passwords as they are."""
        return self._read(props, own=own)[0]

    def check(self, props: Properties, *, own: bool) -> None:
        """Whether this could be taken in. Raises InvalidValue."""
        check_change(self.layers, self.applied, props, own=own)
        changed = self.layers.with_own(props) if own else self.layers.with_default(props)
        self._parse(changed.originals())

    def _take(self, props: Properties, *, own: bool) -> None:
        good, faults = self._read(props, own=own)
        for name, fault in sorted(faults.items()):
            self._ignore(name, fault)
        self.layers = self.layers.with_own(good) if own else self.layers.with_default(good)

    def _read(self, props: Properties, *, own: bool) -> tuple[dict[str, str], dict[str, str]]:
        good, faults = without_invalid(props, own=own)
        known, secret = self.passwords.decoded(good)
        return known, faults | secret

    def _obey(self, check: Callable[[Properties], None]) -> None:
        originals = self.layers.originals()
        try:
            check(originals)
            settings = self._parse(originals)
        except InvalidValue as invalid:
            self._ignore("all that is set while it runs", str(invalid))
            return
        before, self.settings = self.settings, settings
        changed = _changed(self.applied, originals)
        self.applied = originals
        if changed:
            self._record_change(changed)
            for follower in self._followers:
                follower(before, settings)

    def _record_change(self, changed: Mapping[str, str | None]) -> None:
        subject = f"broker-{self.broker_id}"
        self._journal.record(
            Event(BROKER_CONFIG_CHANGED, subject, ", ".join(changed), after=_shown(changed))
        )

    def _ignore(self, what: str, why: str) -> None:
        self._journal.record(Event(BROKER_CONFIG_IGNORED, what, why))


def _changed(before: Properties, after: Properties) -> dict[str, str | None]:
    """New values by key; None for what is set no more."""
    names = sorted(before.keys() | after.keys())
    return {name: after.get(name) for name in names if before.get(name) != after.get(name)}


def _shown(changed: Mapping[str, str | None]) -> dict[str, str | None]:
    """Without secrets, which keys that nobody knows may hold as well."""
    return {
        name: value
        for name, value in changed.items()
        if key_of(name) is not None and not is_password(name)
    }


class BrokerConfigHandler:
    """A broker's configuration has changed in ZooKeeper, this one's, another's or all brokers'."""

    def __init__(self, config: BrokerConfig[Any]) -> None:
        self._config = config

    def __call__(self, name: str, props: Mapping[str, str]) -> None:
        if name == DEFAULT_ENTITY:
            self._config.take_in(props, own=False)
        elif name == str(self._config.broker_id):
            self._config.take_in(props, own=True)
