"""SCRAM: RFC 7677's exchange byte for byte, and what does not pass."""

from __future__ import annotations

from base64 import b64decode

import pytest

from logquake.node.authentication.credentials import Credentials
from logquake.node.authentication.mechanism import AuthenticationRefusedError, Identity
from logquake.node.authentication.scram import ScramCredential
from logquake.node.authentication.scram_server import ScramServer, TokenCredential
from logquake.wire.errors import ProtocolError
from logquake.wire.sasl.mechanism import InvalidCredentialsError
from logquake.wire.sasl.scram_client import ScramClient, ScramLogin
from logquake.wire.sasl.scram_mechanism import ScramMechanism
from logquake.wire.sasl.scram_messages import MAX_ITERATIONS, ServerFirst

SHA_256, SHA_512 = ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512
SALT = b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
CLIENT_NONCE = "rOprNGfwEbeRWgbNEkqO"
SERVER_NONCE = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
NONCE = CLIENT_NONCE + SERVER_NONCE
FIRST = b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
CHALLENGE = f"r={NONCE},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096".encode()
FINAL = f"c=biws,r={NONCE},p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=".encode()
VERIFIER = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


def credential(
    password: str = "pencil", mechanism: ScramMechanism = SHA_256, iterations: int = 4096
) -> ScramCredential:
    salted = mechanism.salted_password(password, SALT, iterations)
    return ScramCredential.of(mechanism, salted, SALT, iterations)


def known(user: str, of: ScramCredential, mechanism: ScramMechanism = SHA_256) -> Credentials:
    credentials = Credentials()
    credentials.update_user(user, {mechanism.value: of.encode()})
    return credentials


def server(credentials: Credentials, mechanism: ScramMechanism = SHA_256) -> ScramServer:
    return ScramServer(mechanism, credentials, lambda: SERVER_NONCE)


def client(user: str, password: str, mechanism: ScramMechanism = SHA_256) -> ScramClient:
    return ScramClient(ScramLogin(mechanism, user, password), lambda: CLIENT_NONCE)


class TestRfc7677:
    def test_the_server(self) -> None:
        exchange = server(known("user", credential()))
        assert exchange.evaluate(FIRST) == CHALLENGE
        assert exchange.identity is None
        assert exchange.evaluate(FINAL) == VERIFIER
        assert exchange.identity == Identity("user")

    def test_the_client(self) -> None:
        exchange = client("user", "pencil")
        assert exchange.first() == FIRST
        assert exchange.respond(CHALLENGE) == FINAL
        assert exchange.respond(VERIFIER) is None


@pytest.mark.parametrize("mechanism", ScramMechanism)
@pytest.mark.parametrize("user", ["alice", "a=b,c", "=2C"])
def test_both_sides_understand_each_other(mechanism: ScramMechanism, user: str) -> None:
    of = credential("hush", mechanism)
    theirs, ours = server(known(user, of, mechanism), mechanism), client(user, "hush", mechanism)
    token: bytes | None = ours.first()
    while token is not None:
        token = ours.respond(theirs.evaluate(token))
    assert theirs.identity == Identity(user)


class TestRefusals:
    def test_a_wrong_password(self) -> None:
        theirs, ours = server(known("alice", credential("right"))), client("alice", "wrong")
        final = ours.respond(theirs.evaluate(ours.first()))
        assert final is not None
        with pytest.raises(InvalidCredentialsError):
            theirs.evaluate(final)
        assert theirs.identity is None

    def test_a_user_that_nobody_knows(self) -> None:
        with pytest.raises(InvalidCredentialsError):
            server(Credentials()).evaluate(FIRST)

    def test_a_user_of_the_other_mechanism(self) -> None:
        with pytest.raises(InvalidCredentialsError):
            server(known("user", credential()), SHA_512).evaluate(FIRST)

    def test_a_credential_with_too_few_iterations(self) -> None:
        with pytest.raises(InvalidCredentialsError):
            server(known("user", credential(iterations=4095))).evaluate(FIRST)

    def test_another_authorization_id(self) -> None:
        exchange = server(known("user", credential()))
        with pytest.raises(AuthenticationRefusedError, match="different from username"):
            exchange.evaluate(b"n,a=root,n=user,r=abc")

    def test_a_token_after_the_last_one(self) -> None:
        exchange = server(known("user", credential()))
        exchange.evaluate(FIRST)
        exchange.evaluate(FINAL)
        with pytest.raises(ProtocolError):
            exchange.evaluate(FINAL)

    @pytest.mark.parametrize(
        "first",
        [
            b"",
            b"\0alice\0secret",
            b"y,,n=user,r=abc",
            b"n,,n=user",
            b"n,,n=us=er,r=abc",
            "n,,n=üser,r=abc".encode(),
            b"n,,n=user,r=a b",
            b"\xff" * 100,
        ],
    )
    def test_what_is_no_first_message(self, first: bytes) -> None:
        with pytest.raises(InvalidCredentialsError) as caught:
            server(known("user", credential())).evaluate(first)
        assert "secret" not in str(caught.value)

    @pytest.mark.parametrize(
        "final",
        [b"", b"c=biws,r=other,p=AAAA", FINAL[:-4] + b"AAA=", FINAL.replace(b"biws", b"eSws")],
    )
    def test_what_is_no_proof(self, final: bytes) -> None:
        exchange = server(known("user", credential()))
        exchange.evaluate(FIRST)
        with pytest.raises(InvalidCredentialsError):
            exchange.evaluate(final)

    def test_a_server_that_does_not_know_the_password(self) -> None:
        ours = client("user", "pencil")
        ours.respond(CHALLENGE)
        with pytest.raises(InvalidCredentialsError):
            ours.respond(b"v=AAAA")

    def test_a_server_whose_challenge_answers_another_client(self) -> None:
        with pytest.raises(InvalidCredentialsError):
            client("user", "pencil").respond(b"r=other,s=AAAA,i=4096")

    @pytest.mark.parametrize("iterations", ["0", "1", "4095", "1000001", "9999999", "9" * 5000])
    def test_a_server_that_counts_too_little_or_for_ever(self, iterations: str) -> None:
        """The proof of few iterations tells whoever asked for it what the password is."""
        challenge = CHALLENGE.replace(b"i=4096", f"i={iterations}".encode())
        with pytest.raises(InvalidCredentialsError):
            client("user", "pencil").respond(challenge)

    def test_a_million_iterations_are_still_counted(self) -> None:
        challenge = CHALLENGE.replace(b"i=4096", b"i=1000000")
        assert ServerFirst.read(challenge).iterations == MAX_ITERATIONS


class TestDelegationTokens:
    def test_who_holds_one_is_its_owner(self) -> None:
        credentials = Credentials()
        of = TokenCredential("alice", 99_000, credential("its-hmac"))
        credentials.find_token = lambda _, token_id: of if token_id == "id" else None
        theirs = server(credentials)
        login = ScramLogin(SHA_256, "id", "its-hmac", is_token=True)
        ours = ScramClient(login, lambda: CLIENT_NONCE)
        assert ours.first() == FIRST.replace(b"n=user", b"n=id") + b",tokenauth=true"
        final = ours.respond(theirs.evaluate(ours.first()))
        assert final is not None
        ours.respond(theirs.evaluate(final))
        assert theirs.identity == Identity("alice", 99_000, token_authenticated=True)

    def test_an_unknown_one_is_refused(self) -> None:
        with pytest.raises(InvalidCredentialsError):
            server(Credentials()).evaluate(FIRST + b",tokenauth=true")


class TestCredentials:
    TEXT = "salt=c2FsdA==,stored_key=AAEC,server_key=AwQF,iterations=4096"

    def test_they_are_written_as_kafka_writes_them(self) -> None:
        read = ScramCredential.decode(self.TEXT)
        assert (read.salt, read.iterations, read.encode()) == (b"salt", 4096, self.TEXT)

    @pytest.mark.parametrize(
        "text", ["", "salt=c2FsdA==", TEXT + ",more=1", TEXT.replace("4096", "many"), "salt=?"]
    )
    def test_others_are_refused_without_being_shown(self, text: str) -> None:
        with pytest.raises(ValueError, match=r"^Credentials not valid$"):
            ScramCredential.decode(text)

    def test_they_are_not_shown(self) -> None:
        assert "4096" not in repr(ScramCredential.decode(self.TEXT))
        assert "hush" not in repr(ScramLogin(SHA_256, "alice", "hush"))

    def test_a_user_that_is_gone_is_unknown(self) -> None:
        credentials = known("user", credential())
        assert credentials.users == {"user"}
        credentials.update_user("user", {})
        assert credentials.of_user(SHA_256, "user") is None

    def test_of_two_the_right_one_counts(self) -> None:
        credentials = Credentials()
        config = {SHA_256.value: credential().encode(), SHA_512.value: "nonsense"}
        with pytest.raises(ValueError, match="Credentials not valid"):
            credentials.update_user("user", config)
        assert credentials.of_user(SHA_256, "user") is not None
        assert credentials.of_user(SHA_512, "user") is None
