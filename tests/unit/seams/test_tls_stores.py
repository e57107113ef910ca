"""Keys and certificates from wherever they are, and what is said of those that are of no use."""

from __future__ import annotations

import ssl
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
    pkcs12,
)

from logquake.seams.tls.contexts import client_context, server_context
from logquake.seams.tls.jks import NotReadableError, read_jks
from logquake.seams.tls.settings import (
    ClientAuth,
    KeyStore,
    StoreType,
    TlsError,
    TlsSettings,
    TrustStore,
)
from logquake.seams.tls.stores import trusted_pem
from tests.net.secured import authority, issued

PASSWORD = "store-secret"
STORES = Path(__file__).parent / "stores"


def of_key(store: KeyStore) -> TlsSettings:
    return TlsSettings(store, TrustStore(StoreType.PEM, certificates=authority().certificate))


def of_trust(store: TrustStore) -> TlsSettings:
    return TlsSettings(None, store)


def pem() -> str:
    ours = issued("server")
    return ours.certificate + ours.key


def encrypted_key() -> str:
    key = load_pem_private_key(issued("server").key.encode(), None)
    how = BestAvailableEncryption(PASSWORD.encode())
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, how).decode()


def pkcs12_file(folder: Path, *, with_key: bool) -> str:
    ours = issued("server")
    own = x509.load_pem_x509_certificate(ours.certificate.encode())
    root = x509.load_pem_x509_certificate(authority().certificate.encode())
    content = pkcs12.serialize_key_and_certificates(
        b"kafka",
        load_pem_private_key(ours.key.encode(), None) if with_key else None,  # type: ignore[arg-type]
        own if with_key else None,
        [root],
        BestAvailableEncryption(PASSWORD.encode()),
    )
    path = folder / "store.p12"
    path.write_bytes(content)
    return str(path)


class TestKeyStores:
    def test_a_file_of_pem(self, tmp_path: Path) -> None:
        (tmp_path / "key.pem").write_text(pem())
        server_context(of_key(KeyStore(StoreType.PEM, str(tmp_path / "key.pem"))))

    def test_texts_with_an_encrypted_key(self) -> None:
        store = KeyStore(
            StoreType.PEM,
            certificate_chain=issued("server").certificate,
            key=encrypted_key(),
            key_password=PASSWORD,
        )
        server_context(of_key(store))
        for password in (None, "guess"):
            with pytest.raises(TlsError, match="the key store cannot be used"):
                server_context(of_key(replace(store, key_password=password)))

    def test_a_file_of_pkcs12(self, tmp_path: Path) -> None:
        store = KeyStore(StoreType.PKCS12, pkcs12_file(tmp_path, with_key=True), PASSWORD)
        server_context(of_key(store))

    @pytest.mark.parametrize(
        ("store", "message"),
        [
            (None, "a listener with TLS needs ssl.keystore.location, or ssl.keystore.key"),
            (KeyStore(StoreType.PEM, "/nowhere.pem"), "cannot read /nowhere.pem: No such file"),
            (KeyStore(StoreType.JKS, "/key.jks"), "cannot read /key.jks: No such file"),
            (KeyStore(StoreType.PEM, key="secret"), "are needed together"),
            (
                KeyStore(StoreType.JKS, key="secret", certificate_chain="c"),
                "ssl.keystore.type=PEM is needed",
            ),
            (
                KeyStore(StoreType.PEM, key="secret", certificate_chain="c"),
                "the key store cannot be used",
            ),
        ],
    )
    def test_what_cannot_be_used(self, store: KeyStore | None, message: str) -> None:
        with pytest.raises(TlsError) as caught:
            server_context(TlsSettings(store, TrustStore(StoreType.PEM)))
        assert message in str(caught.value)
        assert "secret" not in str(caught.value)

    def test_a_wrong_password_of_pkcs12(self, tmp_path: Path) -> None:
        store = KeyStore(StoreType.PKCS12, pkcs12_file(tmp_path, with_key=True), "guess-secret")
        with pytest.raises(TlsError, match="no PKCS#12 file of that password") as caught:
            server_context(of_key(store))
        assert "secret" not in str(caught.value)

    def test_pem_that_is_said_to_be_of_another_type(self, tmp_path: Path) -> None:
        store = tmp_path / "ca.pem"
        store.write_text("-----BEGIN CERTIFICATE-----\n")
        with pytest.raises(TlsError, match=r"ca\.pem is no PKCS#12 file, but one of PEM: its type"):
            server_context(of_key(KeyStore(StoreType.PKCS12, str(store), PASSWORD)))

    def test_pkcs12_without_a_key(self, tmp_path: Path) -> None:
        store = KeyStore(StoreType.PKCS12, pkcs12_file(tmp_path, with_key=False), PASSWORD)
        with pytest.raises(TlsError, match="holds no key with its certificate"):
            server_context(of_key(store))


class TestTrustStores:
    @pytest.mark.parametrize("kind", ["text", "PEM", "PKCS12"])
    def test_the_authority_is_in_it(self, tmp_path: Path, kind: str) -> None:
        (tmp_path / "ca.pem").write_text(authority().certificate)
        stores = {
            "text": TrustStore(StoreType.PEM, certificates=authority().certificate),
            "PEM": TrustStore(StoreType.PEM, str(tmp_path / "ca.pem")),
            "PKCS12": TrustStore(StoreType.PKCS12, pkcs12_file(tmp_path, with_key=False), PASSWORD),
        }
        trusted = client_context(of_trust(stores[kind])).get_ca_certs(binary_form=True)
        root = x509.load_pem_x509_certificate(authority().certificate.encode())
        assert root.public_bytes(Encoding.DER) in trusted

    def test_the_system_is_trusted_where_there_is_none(self) -> None:
        assert client_context(of_trust(TrustStore(StoreType.JKS))).verify_mode is ssl.CERT_REQUIRED

    @pytest.mark.parametrize(
        ("store", "message"),
        [
            (TrustStore(StoreType.JKS, "/trust.jks"), "cannot read /trust.jks: No such file"),
            (TrustStore(StoreType.PEM, certificates="secret"), "holds no certificate in PEM"),
        ],
    )
    def test_what_cannot_be_used(self, store: TrustStore, message: str) -> None:
        with pytest.raises(TlsError) as caught:
            client_context(of_trust(store))
        assert message in str(caught.value)


class TestJavasStores:
    """keytool made them, with the type JKS."""

    KEY = KeyStore(StoreType.JKS, str(STORES / "key.jks"), PASSWORD, "key-secret")
    TRUST = TrustStore(StoreType.JKS, str(STORES / "trust.jks"), PASSWORD)

    def test_a_key_that_has_a_password_of_its_own(self) -> None:
        server_context(of_key(self.KEY))

    @pytest.mark.parametrize("password", [PASSWORD, None])
    def test_certificates(self, password: str | None) -> None:
        pem = trusted_pem(replace(self.TRUST, password=password))
        assert pem is not None
        client_context(of_trust(replace(self.TRUST, password=password)))
        (certificate,) = x509.load_pem_x509_certificates(pem.encode())
        assert certificate.subject.rfc4514_string() == "CN=java"

    def test_the_certificate_of_a_key_is_trusted(self) -> None:
        store = replace(self.TRUST, location=self.KEY.location)
        assert trusted_pem(store) == trusted_pem(self.TRUST)

    @pytest.mark.parametrize("kind", [StoreType.JKS, StoreType.PKCS12])
    def test_the_file_says_what_it_is(self, tmp_path: Path, kind: StoreType) -> None:
        server_context(of_key(replace(self.KEY, type=kind)))
        server_context(of_key(KeyStore(kind, pkcs12_file(tmp_path, with_key=True), PASSWORD)))

    def test_wrong_passwords(self) -> None:
        for store, message in (
            (replace(self.KEY, password="guess"), "its password is another one"),
            (replace(self.KEY, key_password="guess"), "the password of its key is another one"),
            (replace(self.KEY, location=self.TRUST.location), "holds no key"),
        ):
            with pytest.raises(TlsError, match=message) as caught:
                server_context(of_key(store))
            assert "secret" not in str(caught.value)

    def test_damaged_ones_are_refused(self) -> None:
        """Whatever is changed, or missing: an error of ours, or a store that reads."""
        whole = (STORES / "key.jks").read_bytes()
        random = Random(5)
        for _ in range(500):
            damaged = bytearray(whole)
            damaged[random.randrange(4, len(whole))] ^= 1 << random.randrange(8)
            cut = bytes(damaged[: random.randrange(4, len(whole) + 1)])
            with suppress(NotReadableError):
                for key in read_jks(cut, None).keys:
                    key.unseal("key-secret")


class TestContexts:
    def settings(self) -> TlsSettings:
        ours = issued("server")
        return of_key(KeyStore(StoreType.PEM, certificate_chain=ours.certificate, key=ours.key))

    def test_versions(self) -> None:
        both = server_context(self.settings())
        assert (both.minimum_version, both.maximum_version) == (
            ssl.TLSVersion.TLSv1_2,
            ssl.TLSVersion.TLSv1_3,
        )
        new = server_context(replace(self.settings(), enabled_protocols=("TLSv1.3",)))
        assert new.minimum_version == ssl.TLSVersion.TLSv1_3

    def test_suites_have_javas_names(self) -> None:
        suites = {
            "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384": "ECDHE-RSA-AES256-GCM-SHA384",
            "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256": "ECDHE-ECDSA-AES128-SHA256",
            "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-RSA-CHACHA20-POLY1305",
            "TLS_RSA_WITH_AES_128_GCM_SHA256": "AES128-GCM-SHA256",
        }
        context = server_context(
            replace(self.settings(), cipher_suites=("TLS_AES_256_GCM_SHA384", *suites))
        )
        old = {one["name"] for one in context.get_ciphers() if one["protocol"] != "TLSv1.3"}
        assert old == set(suites.values())

    def test_suites_that_nobody_knows(self) -> None:
        with pytest.raises(TlsError, match=r"no suite of ssl.cipher.suites is known: TLS_X"):
            server_context(replace(self.settings(), cipher_suites=("TLS_X",)))

    def test_clients_are_asked_as_the_listener_says(self) -> None:
        for client_auth, mode in (
            (ClientAuth.NONE, ssl.CERT_NONE),
            (ClientAuth.REQUESTED, ssl.CERT_OPTIONAL),
            (ClientAuth.REQUIRED, ssl.CERT_REQUIRED),
        ):
            context = server_context(replace(self.settings(), client_auth=client_auth))
            assert context.verify_mode is mode

    def test_hosts_are_checked_unless_they_are_not_to_be(self) -> None:
        assert client_context(self.settings()).check_hostname
        assert not client_context(replace(self.settings(), checks_host=False)).check_hostname
