"""Passwords as Kafka's EncryptingPasswordEncoder writes them."""

from __future__ import annotations

from random import Random

import pytest

from logquake.node.configs.password_encoder import (
    CBC,
    GCM,
    PasswordEncoder,
    PasswordEncoderSettings,
    PasswordError,
)

PASSWORD = "pässword 😀"
BY_KAFKA = (
    "initializationVector:sC2PrNLJcnhgLpV2mjGz9Q==,keyLength:128,salt:ppY5+AU5aDDQe4hbmsJL7n6Rw"
    "fJIIV6YEZNpKwj3GMo3eYNFkeMUa1zRRPR5VLniLFGl6L0QrsQQkTG87p/OdfaTG9irY+l8sA2Dcq4vL09/MYiGj30"
    "9L1Mq4T4ajpzQgfJUGjJ2JUic+rYeYbcNfwvlqtlEdLT3zFLsxw2TqUjwAnIU3belA+ei2qULgjxGGj9xzQYLgnyUE"
    "cNjmGPoTpdGRCc8IxpEbC953OfW65zWKV/3dR7FTUP+Ywo2w5DQZCVwrhst1upejGAGjxZDhpj9XLa+IHIh1rtce8e"
    "+XzDKq0znVLwenaRN33PP7kydJxi34FronMHK0LDJLBVqWA==,keyFactoryAlgorithm:PBKDF2WithHmacSHA512"
    ",cipherAlgorithm:AES/CBC/PKCS5Padding,iterations:4096,passwordLength:11,encryptedPassword:"
    "kv/BerNrCNKJfXAl27BmpQ=="
)
BY_KAFKA_GCM = (
    "initializationVector:EeGDad25LdsMfhXv,keyLength:256,salt:VQtwYKQMVbp2SfLF6Wf1TlA0COIfBWh1y"
    "35p7e1FN0p59F6LvAx8j7N9DLbuiIm7b0B6Sb4uNfxvjnsqFCkKb6jYdedFTFqpq7Sx02Ruw8HrsXWpkDJsITqRfQe"
    "3FIt+sZJDt1QL+sKx546RuYz72oevEbaV6r8kEM2d+Bn0iOJUJzk2qUwDDrqgezDBjn560CCXEbYSZl6WBkYLK4aqH"
    "wfKG7xH/LYMQTjdgxfk343Xnrgrvc2KNnw2sosgX203247c1KJJWYcJjvET9scvW9mVLy5QcqJ8zLikH0v/o22pFq4"
    "LyN43rhVi0SJi/KC0CQgD8+D6b7lRi0ICwvseAw==,keyFactoryAlgorithm:PBKDF2WithHmacSHA1,cipherAlg"
    "orithm:AES/GCM/NoPadding,authenticationTagLength:128,iterations:4096,passwordLength:11,enc"
    "ryptedPassword:Q4uaQRZBmRrghdQ9e4QVl8ZztRnZ3IGHbaPKRDEl"
)
"""Of this password, with the secret hush, and for the second one with PBKDF2WithHmacSHA1."""


def encoder(secret: str = "hush", cipher: str = CBC, bits: int = 128) -> PasswordEncoder:
    settings = PasswordEncoderSettings(secret, cipher=cipher, key_length_bits=bits)
    return PasswordEncoder(secret, settings, Random(1).randbytes)


@pytest.mark.parametrize("encoded", [BY_KAFKA, BY_KAFKA_GCM])
def test_what_kafka_wrote_is_read(encoded: str) -> None:
    assert encoder().decode(encoded) == PASSWORD


@pytest.mark.parametrize(("cipher", "by_kafka"), [(CBC, BY_KAFKA), (GCM, BY_KAFKA_GCM)])
@pytest.mark.parametrize("bits", [128, 192, 256])
def test_what_is_written_is_read_and_has_kafkas_shape(
    cipher: str, by_kafka: str, bits: int
) -> None:
    encoded = encoder(cipher=cipher, bits=bits).encode(PASSWORD)
    assert encoder().decode(encoded) == PASSWORD
    assert names(encoded) == names(by_kafka)
    assert "hush" not in encoded
    assert PASSWORD not in encoded


def names(encoded: str) -> list[str]:
    return [field.partition(":")[0] for field in encoded.split(",")]


@pytest.mark.parametrize(
    "encoded",
    [
        "",
        "hush",
        "a:b,c",
        BY_KAFKA.replace("iterations:4096", "iterations:99999999999"),
        BY_KAFKA.replace("keyLength:128", "keyLength:8"),
        BY_KAFKA.replace("passwordLength:11", "passwordLength:10"),
        BY_KAFKA.replace("AES/CBC/PKCS5Padding", "DES/CBC/PKCS5Padding"),
        BY_KAFKA.replace("PBKDF2WithHmacSHA512", "PBKDF9"),
        BY_KAFKA.replace("salt:", "salt:&"),
        BY_KAFKA_GCM.replace("encryptedPassword:", "encryptedPassword:AAAA"),
    ],
)
def test_what_makes_no_sense_is_no_password(encoded: str) -> None:
    with pytest.raises(PasswordError):
        encoder().decode(encoded)


@pytest.mark.parametrize("encoded", [BY_KAFKA, BY_KAFKA_GCM])
def test_another_secret_reads_nothing(encoded: str) -> None:
    with pytest.raises(PasswordError):
        encoder("another").decode(encoded)
