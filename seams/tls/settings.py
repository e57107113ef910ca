"""What the ssl.* keys say, in Kafka's words.

Those of brokers node/settings/tls.py reads, those of clients client/settings/security.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class TlsError(Exception):
    """A store or a suite cannot be used; the text is one line, and shows nothing secret."""


class ClientAuth(Enum):
    """Whether clients show a certificate; what they show must be trusted in any case."""

    NONE = "none"
    REQUESTED = "requested"
    REQUIRED = "required"


class StoreType(Enum):
    PEM = "PEM"
    PKCS12 = "PKCS12"
    JKS = "JKS"  # Kafka's default, which may be a file of PKCS#12 as well


@dataclass(frozen=True, slots=True, repr=False)
class KeyStore:
    """Who we are: texts of PEM, or a file."""

    type: StoreType
    location: str | None = None
    password: str | None = None  # of a file that is no PEM
    key_password: str | None = None  # of the key
    certificate_chain: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class TrustStore:
    """Whom we trust: a text of PEM, a file, or neither for the system's authorities."""

    type: StoreType
    location: str | None = None
    password: str | None = None
    certificates: str | None = None


@dataclass(frozen=True, slots=True)
class TlsSettings:
    """Without a key store only the client's side of connections can be made."""

    key_store: KeyStore | None
    trust_store: TrustStore
    client_auth: ClientAuth = ClientAuth.NONE
    # TLSv1.2 and TLSv1.3: Python's ssl takes a range.
    enabled_protocols: tuple[str, ...] = ("TLSv1.2", "TLSv1.3")
    # In the names of IANA, as Java's; of TLS 1.2, since Python cannot choose among those of 1.3.
    cipher_suites: tuple[str, ...] = ()
    # Whether a server's certificate must be of the host that was connected to.
    checks_host: bool = True
