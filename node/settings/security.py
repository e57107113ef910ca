"""What clients of each listener, and brokers among themselves, have to show.

A key may be a listener's own: ``listener.name.<name>.<key>``, the name in lower case, goes before
the key alone; what belongs to a mechanism has its name in between,
``listener.name.<name>.<mechanism>.sasl.jaas.config``. Values of passwords are in no error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from logquake.node.authentication.mechanisms import EnabledMechanism, PlainUsers
from logquake.node.authentication.principal_mapping import PrincipalMapping
from logquake.node.authentication.unsecured_jws import UnsecuredValidator
from logquake.node.net.admittance import ListenerSecurity
from logquake.node.settings.errors import SettingsError
from logquake.node.settings.listeners import ListenerSettings
from logquake.node.settings.reader import ListenerReader, PropertyReader, refusal
from logquake.node.settings.tls import read_tls
from logquake.seams.tls.settings import TlsSettings
from logquake.wire.listeners import ListenerName
from logquake.wire.sasl.jaas import JaasError, LoginModule
from logquake.wire.sasl.logins import LOGIN_MODULES, SCRAM, Login, login_module_of, login_of
from logquake.wire.sasl.plain import PLAIN
from logquake.wire.sasl.scram_mechanism import ScramMechanism
from logquake.zk.znodes.brokers import ListenerEndpoint

_MECHANISMS = tuple(LOGIN_MODULES)
_ENABLED = "sasl.enabled.mechanisms"
_BETWEEN_BROKERS = "sasl.mechanism.inter.broker.protocol"
_JAAS = "sasl.jaas.config"
_MAX_REAUTH = "connections.max.reauth.ms"
_USER_PREFIX = "user_"
_GSSAPI = "GSSAPI"  # Kafka's default of both keys


@dataclass(frozen=True, slots=True)
class LinkSecurity:
    """How this broker comes in at the others' listener between brokers."""

    tls: TlsSettings | None = None
    login: Login | None = None


@dataclass(frozen=True, slots=True)
class SecuritySettings:
    """``listeners`` holds those that are not PLAINTEXT's."""

    listeners: Mapping[ListenerName, ListenerSecurity]
    link: LinkSecurity

    @property
    def uses_scram(self) -> bool:
        """Whether users' credentials have to be known."""
        return any(
            isinstance(mechanism.how, ScramMechanism)
            for listener in self.listeners.values()
            for mechanism in listener.mechanisms.values()
        )


def read_security(reader: PropertyReader, listeners: ListenerSettings) -> SecuritySettings:
    """Raises SettingsError."""
    secured = {
        endpoint.listener: _read_listener(reader, endpoint)
        for endpoint in listeners.listeners
        if endpoint.security_protocol != "PLAINTEXT"
    }
    return SecuritySettings(secured, _read_link(reader, listeners.inter_broker_listener()))


def _read_listener(reader: PropertyReader, endpoint: ListenerEndpoint) -> ListenerSecurity:
    own = ListenerReader(reader, endpoint.listener)
    uses_tls, uses_sasl = _parts(endpoint)
    return ListenerSecurity(
        tls=read_tls(own, uses_sasl=uses_sasl) if uses_tls else None,
        mechanisms=_read_mechanisms(own) if uses_sasl else {},
        principal_mapping=_read_mapping(own),
    )


def _parts(endpoint: ListenerEndpoint) -> tuple[bool, bool]:
    """Whether its protocol has TLS, and SASL."""
    protocol = endpoint.security_protocol
    return protocol.endswith("SSL"), protocol.startswith("SASL")


def _read_mapping(own: ListenerReader) -> PrincipalMapping:
    key = own.key("ssl.principal.mapping.rules")
    text = own.reader.text(key, "DEFAULT")
    try:
        return PrincipalMapping(text)
    except ValueError as error:
        raise SettingsError(refusal(key, text, f"a list of rules ({error})")) from None


def _read_mechanisms(own: ListenerReader) -> dict[str, EnabledMechanism]:
    key = own.key(_ENABLED)
    names = own.reader.names(key, [_GSSAPI])
    return {name: _read_mechanism(own, _known(key, name)) for name in names}


def _known(key: str, name: str) -> str:
    if name not in _MECHANISMS:
        allowed = f"{', '.join(_MECHANISMS)} (Kerberos is not served)"
        raise SettingsError(refusal(key, name, allowed))
    return name


def _read_mechanism(own: ListenerReader, name: str) -> EnabledMechanism:
    max_reauth_ms = own.reader.long(own.key(_MAX_REAUTH, name), 0)
    if name in SCRAM:
        return EnabledMechanism(SCRAM[name], max_reauth_ms)
    options = _read_login_module(own, name).options
    if name == PLAIN:
        users = {
            option.removeprefix(_USER_PREFIX): password
            for option, password in options.items()
            if option.startswith(_USER_PREFIX)
        }
        return EnabledMechanism(PlainUsers(users), max_reauth_ms)
    try:
        return EnabledMechanism(UnsecuredValidator.from_options(options), max_reauth_ms)
    except ValueError as error:
        raise SettingsError(f"{own.own_key(_JAAS, name)} is not allowed: {error}") from None


def _read_login_module(own: ListenerReader, mechanism: str) -> LoginModule:
    key = own.own_key(_JAAS, mechanism)
    text = own.reader.required(key, f"a login module {LOGIN_MODULES[mechanism]}")
    try:
        return login_module_of(mechanism, text)
    except JaasError as error:
        raise SettingsError(f"{key} is not allowed: {error}") from None


def _read_link(reader: PropertyReader, endpoint: ListenerEndpoint) -> LinkSecurity:
    own = ListenerReader(reader, endpoint.listener)
    uses_tls, uses_sasl = _parts(endpoint)
    return LinkSecurity(
        tls=read_tls(own, uses_sasl=uses_sasl) if uses_tls else None,
        login=_read_login(own) if uses_sasl else None,
    )


def _read_login(own: ListenerReader) -> Login:
    """What brokers show each other."""
    mechanism = _known(_BETWEEN_BROKERS, own.reader.text(_BETWEEN_BROKERS, _GSSAPI))
    module = _read_login_module(own, mechanism)
    try:
        return login_of(mechanism, module)
    except JaasError as error:
        raise SettingsError(f"{own.own_key(_JAAS, mechanism)} is not allowed: {error}") from None
