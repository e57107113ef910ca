"""A certificate's subject as Java spells it: RFC 2253, X500Principal.getName().

The last part of the subject comes first. Attributes outside of the RFC's table go by their number,
and their values as the bytes of their DER.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_KEYWORDS = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.25": "DC",
    "0.9.2342.19200300.100.1.1": "UID",
}
# ASN.1's strings by tag, and how their bytes are text.
_CODECS = {0x0C: "utf-8", 0x13: "ascii", 0x14: "latin-1", 0x16: "ascii", 0x1E: "utf-16-be"}
_VERSION_TAG = 0xA0
_ESCAPED = ',+"\\<>;'


class MalformedCertificateError(Exception):
    """Bytes that are no certificate."""


@dataclass(frozen=True, slots=True)
class _Element:
    """One value of DER: ``content`` without its tag and length, ``whole`` with them."""

    tag: int
    content: bytes
    whole: bytes


def subject_of(certificate: bytes) -> str:
    """The subject of an X.509 certificate in DER. Raises MalformedCertificateError."""
    try:
        to_be_signed = _only(_only(certificate).content)
        fields = [each for each in _elements(to_be_signed.content) if each.tag != _VERSION_TAG]
        subject = fields[4]  # after the serial number, the algorithm, the issuer, the validity
        relative_names = [_relative_name(each.content) for each in _elements(subject.content)]
    except (IndexError, ValueError) as error:
        raise MalformedCertificateError(str(error)) from error
    return ",".join(reversed(relative_names))


def _relative_name(content: bytes) -> str:
    return "+".join(_attribute(each.content) for each in _elements(content))


def _attribute(content: bytes) -> str:
    kind, value = _elements(content)
    number = _object_identifier(kind.content)
    keyword, codec = _KEYWORDS.get(number), _CODECS.get(value.tag)
    if keyword is None or codec is None:
        return f"{keyword or number}=#{value.whole.hex()}"
    return f"{keyword}={_escape(value.content.decode(codec))}"


def _escape(text: str) -> str:
    escaped = "".join(f"\\{each}" if each in _ESCAPED else each for each in text)
    if escaped.startswith((" ", "#")):
        escaped = f"\\{escaped}"
    if escaped.endswith(" ") and len(text) > 1:
        escaped = f"{escaped[:-1]}\\ "
    return escaped


def _object_identifier(content: bytes) -> str:
    numbers, value = [], 0
    for byte in content:
        value = value << 7 | byte & 0x7F
        if not byte & 0x80:
            numbers.append(value)
            value = 0
    first = min(numbers[0] // 40, 2)
    return ".".join(map(str, [first, numbers[0] - first * 40, *numbers[1:]]))


def _only(content: bytes) -> _Element:
    return list(_elements(content))[0]  # noqa: RUF015 - an IndexError, not a StopIteration


def _elements(content: bytes) -> Iterator[_Element]:
    position = 0
    while position < len(content):
        tag, length = content[position], content[position + 1]
        start = position + 2
        if length & 0x80:
            digits = length & 0x7F
            length = int.from_bytes(content[start : start + digits])
            start += digits
        stop = start + length
        if stop > len(content):
            raise ValueError("an element that ends behind its end")
        yield _Element(tag, content[start:stop], content[position:stop])
        position = stop
