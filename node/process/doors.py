"""The ways in: of clients at this broker's listeners, and of this broker at the others'.

Made of the settings in two steps, so that a key store that cannot be used ends a start before
anything else has begun.
"""

from __future__ import annotations

import secrets
import ssl
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from logquake.node.authentication.mechanisms import EnabledMechanism, SaslTools
from logquake.node.authentication.sasl_frames import VersionsAnswers
from logquake.node.authentication.sasl_server import SaslServerAuthenticator
from logquake.node.authentication.sasl_steps import Admission
from logquake.node.authentication.scram_server import CredentialStore
from logquake.node.journal_events import LINK_REFUSED
from logquake.node.net.admittance import Admittance
from logquake.node.net.faults import FaultReports
from logquake.node.net.links.entry import LinkEntry
from logquake.node.net.sasl_gate import SaslGate
from logquake.node.requests.api_table import advertised
from logquake.node.requests.api_versions import answer_versions, unsupported_version
from logquake.node.settings.security import SecuritySettings
from logquake.seams.journal import Journal
from logquake.seams.scheduler import Scheduler
from logquake.seams.tls.contexts import client_context, server_context
from logquake.wire.listeners import ListenerName
from logquake.wire.sasl.authenticator import SaslClientAuthenticator
from logquake.wire.sasl.logins import Login, begin_login

_NONCE_BYTES = 17  # 136 bits; Kafka's nonces have 130


@dataclass(frozen=True, slots=True)
class Doors:
    """Raises TlsError where it is made."""

    settings: SecuritySettings
    contexts: Mapping[ListenerName, ssl.SSLContext]
    link_context: ssl.SSLContext | None

    @classmethod
    def of(cls, settings: SecuritySettings) -> Doors:
        contexts = _contexts(settings, settings.listeners)
        link_tls = settings.link.tls
        return cls(settings, contexts, client_context(link_tls) if link_tls is not None else None)

    def entry(self, scheduler: Scheduler, journal: Journal, client_id: str) -> LinkEntry:
        """This broker's way in at the others; the journal is told where there is none."""
        login = self.settings.link.login
        return LinkEntry(
            self.link_context,
            _new_login(login, scheduler, client_id) if login is not None else None,
            FaultReports(scheduler, journal, LINK_REFUSED).report,
        )

    def admittances(
        self, credentials: CredentialStore, scheduler: Scheduler, served: Mapping[int, range]
    ) -> dict[ListenerName, Admittance]:
        """Clients' ways in; ``served`` are the versions that they are told before."""
        tools = SaslTools(credentials, scheduler.now_ms, scheduler.wall_ms, _new_nonce)
        told = advertised(served)
        versions = VersionsAnswers(
            lambda version, body: answer_versions(told, version, body),
            lambda: unsupported_version(served),
        )
        return {
            name: Admittance(
                self.contexts.get(name),
                listener.principal_mapping,
                _new_gate(listener.mechanisms, tools, versions) if listener.mechanisms else None,
            )
            for name, listener in self.settings.listeners.items()
        }


def renew(
    admittances: dict[ListenerName, Admittance],
    settings: SecuritySettings,
    names: Iterable[ListenerName],
) -> None:
    """At these listeners, who comes from now on meets what their stores hold now.

    Raises TlsError, and then nothing has changed.
    """
    for name, context in _contexts(settings, names).items():
        admittances[name] = replace(admittances[name], tls=context)


def _contexts(
    settings: SecuritySettings, names: Iterable[ListenerName]
) -> dict[ListenerName, ssl.SSLContext]:
    """Raises TlsError."""
    found = ((name, settings.listeners[name].tls) for name in names)
    return {name: server_context(tls) for name, tls in found if tls is not None}


def _new_gate(
    mechanisms: Mapping[str, EnabledMechanism], tools: SaslTools, versions: VersionsAnswers
) -> Callable[[], SaslGate]:
    def new_authenticator(before: Admission | None) -> SaslServerAuthenticator:
        return SaslServerAuthenticator(mechanisms, tools, versions, reauthenticates=before)

    return lambda: SaslGate(new_authenticator, tools.now_ms)


def _new_login(
    login: Login, scheduler: Scheduler, client_id: str
) -> Callable[[], SaslClientAuthenticator]:
    def new_login() -> SaslClientAuthenticator:
        mechanism = begin_login(login, wall_ms=scheduler.wall_ms(), new_nonce=_new_nonce)
        return SaslClientAuthenticator(mechanism, client_id)

    return new_login


def _new_nonce() -> str:
    return secrets.token_hex(_NONCE_BYTES)
