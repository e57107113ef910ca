"""How clients are let in at each listener."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from logquake.node.authentication.distinguished_name import MalformedCertificateError, subject_of
from logquake.node.authentication.mechanisms import EnabledMechanism
from logquake.node.authentication.principal_mapping import NoMatchingRuleError, PrincipalMapping
from logquake.node.net.sasl_gate import SaslGate
from logquake.node.net.tls.tls_socket import TlsSocket
from logquake.seams.tls.settings import TlsSettings
from logquake.wire.listeners import ListenerName
from logquake.wire.principals import ANONYMOUS, KafkaPrincipal

_USER = "User"


@dataclass(frozen=True, slots=True)
class ListenerSecurity:
    """The settings of one listener: without both it is PLAINTEXT's."""

    tls: TlsSettings | None = None
    mechanisms: Mapping[str, EnabledMechanism] = field(default_factory=dict)
    principal_mapping: PrincipalMapping = field(default_factory=lambda: PrincipalMapping("DEFAULT"))


class NotAdmittedError(Exception):
    """The certificate makes nobody of its bearer whom the rules know."""


@dataclass(frozen=True, slots=True)
class Admittance:
    """The same, ready for use."""

    tls: ssl.SSLContext | None = None
    principal_mapping: PrincipalMapping = field(default_factory=lambda: PrincipalMapping("DEFAULT"))
    new_gate: Callable[[], SaslGate] | None = None

    def principal_of(self, secured: TlsSocket) -> KafkaPrincipal:
        """Who the certificate says it is. Raises NotAdmittedError."""
        certificate = secured.peer_certificate
        if certificate is None or self.new_gate is not None:
            return ANONYMOUS
        try:
            name = self.principal_mapping.name_of(subject_of(certificate))
        except (MalformedCertificateError, NoMatchingRuleError) as error:
            raise NotAdmittedError(str(error)) from error
        return KafkaPrincipal(_USER, name)


OPEN = Admittance()
Admittances = Mapping[ListenerName, Admittance]
