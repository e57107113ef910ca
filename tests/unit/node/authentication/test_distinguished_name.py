"""Subjects as Java writes them (RFC 2253)."""

from __future__ import annotations

import datetime

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from logquake.node.authentication.distinguished_name import MalformedCertificateError, subject_of

DAY = datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC)


def certificate(subject: x509.Name) -> bytes:
    key = generate_private_key(SECP256R1())
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(x509.Name([]))
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(DAY)
        .not_valid_after(DAY)
        .sign(key, SHA256())
        .public_bytes(Encoding.DER)
    )


def named(*attributes: tuple[x509.ObjectIdentifier, str]) -> x509.Name:
    return x509.Name([x509.NameAttribute(kind, value) for kind, value in attributes])


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        (
            named(
                (NameOID.COUNTRY_NAME, "US"),
                (NameOID.ORGANIZATION_NAME, "Acme, Inc."),
                (NameOID.COMMON_NAME, "duke"),
            ),
            "CN=duke,O=Acme\\, Inc.,C=US",
        ),
        (named((NameOID.COMMON_NAME, ' a+"b\\<c>;#é ')), 'CN=\\ a\\+\\"b\\\\\\<c\\>\\;#é\\ '),
        (named((NameOID.COMMON_NAME, "#x")), "CN=\\#x"),
        (
            named((NameOID.USER_ID, "u"), (NameOID.DOMAIN_COMPONENT, "d")),
            "DC=d,UID=u",
        ),
        (
            named((NameOID.EMAIL_ADDRESS, "a@b"), (NameOID.COMMON_NAME, "x")),
            "CN=x,1.2.840.113549.1.9.1=#1603614062",
        ),
        (
            x509.Name(
                [
                    x509.RelativeDistinguishedName(
                        [
                            x509.NameAttribute(NameOID.COMMON_NAME, "a"),
                            x509.NameAttribute(NameOID.USER_ID, "b"),
                        ]
                    )
                ]
            ),
            "CN=a+UID=b",
        ),
        (named(), ""),
    ],
)
def test_subjects(subject: x509.Name, text: str) -> None:
    assert subject_of(certificate(subject)) == text


def test_bytes_that_are_no_certificate() -> None:
    good = certificate(named((NameOID.COMMON_NAME, "x")))
    for content in (b"", b"\x30\x05", b"\x30\x80", good[:20], bytes(50)):
        with pytest.raises(MalformedCertificateError):
            subject_of(content)
