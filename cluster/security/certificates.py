"""Certificates of a cluster's own authority, made where the cluster is and trusted nowhere else."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    EllipticCurvePrivateKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_VALID = datetime.timedelta(days=3650)
_CLOCKS_DIFFER = datetime.timedelta(days=1)  # of who checks it: another machine, a container
_SIGNS_CERTIFICATES = x509.KeyUsage(
    digital_signature=True,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)


@dataclass(frozen=True, slots=True)
class Certificate:
    """As texts of PEM; the key, which is PKCS#8, is not shown."""

    certificate: str
    key: str

    def __repr__(self) -> str:
        return "Certificate(...)"


class Authority:
    """Signs what it is asked to. Its own key is on no disk, and ends with it."""

    def __init__(self, name: str, now: datetime.datetime) -> None:
        self._now = now
        self._name = _named(name)
        self._key = generate_private_key(SECP256R1())
        built = self._builder(self._name, self._key).add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        )
        built = built.add_extension(_SIGNS_CERTIFICATES, critical=True)
        self.certificate = _pem(built.sign(self._key, SHA256()))

    def issue(self, name: str, hosts: Iterable[str] = ()) -> Certificate:
        """For a server at those hosts, names or addresses, and for a client of that name."""
        key = generate_private_key(SECP256R1())
        built = self._builder(_named(name), key).add_extension(
            x509.BasicConstraints(ca=False, path_length=None), critical=True
        )
        usages = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
        built = built.add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        alternatives = [_alternative(host) for host in hosts]
        if alternatives:
            built = built.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        return Certificate(_pem(built.sign(self._key, SHA256())), private.decode())

    def _builder(self, subject: x509.Name, key: EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        public, ours = key.public_key(), self._key.public_key()
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(public)
            .serial_number(x509.random_serial_number())
            .not_valid_before(self._now - _CLOCKS_DIFFER)
            .not_valid_after(self._now + _VALID)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(ours), critical=False)
        )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _alternative(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(Encoding.PEM).decode()
