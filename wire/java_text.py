"""Text as Java reads, measures, hashes and writes it: bytes that are no UTF-8 become U+FFFD.

Python and Java agree on which bytes those are, and on how many U+FFFD they make, but for encoded
surrogates: Python replaces each byte of one, Java the whole.
"""

from __future__ import annotations

import codecs
import sys
from array import array
from decimal import Decimal
from functools import lru_cache
from ipaddress import IPv4Address, ip_address
from math import isfinite, isnan
from struct import Struct as Packer

#: To be named as ``errors`` of bytes.decode.
AS_JAVA = "logquake-java"

_UTF_16 = "utf-16-le" if sys.byteorder == "little" else "utf-16-be"  # as array has it
_INET6 = Packer(">8H")
_SURROGATE_LEAD = 0xED  # no other character begins with it where Python's decoder refuses it


def replace_as_java(error: UnicodeError) -> tuple[str, int]:
    """A codec's error handler: what stands for the broken bytes, and where to go on."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    first, *rest = error.object[error.start : error.start + 3]
    end = error.end
    if first == _SURROGATE_LEAD and rest and _is_continuation(rest[0]):
        end = error.start + (3 if len(rest) == 2 and _is_continuation(rest[1]) else 2)
    return "\ufffd", end


def string_hash(text: str) -> int:
    """java.lang.String.hashCode: over UTF-16 code units, a signed 32-bit number."""
    units = text.encode("ascii") if text.isascii() else array("H", text.encode(_UTF_16))
    result = 0
    for unit in units:
        result = (result * 31 + unit) & 0xFFFFFFFF
    return result - (1 << 32) if result >> 31 else result


def java_length(text: str) -> int:
    """java.lang.String.length: UTF-16 code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-be")) // 2


@lru_cache(maxsize=1_024)
def inet_address(host: str) -> str:
    """java.net.InetAddress.toString of an address without a name: "/127.0.0.1", "/0:0:0:0:0:0:0:1".

    Of IPv6 no zeros are left out between colons, an IPv4 address mapped into it is one, and a zone
    follows a percent sign. What is no address stands as it is.
    """
    try:
        address = ip_address(host)
    except ValueError:
        return f"/{host}"
    if isinstance(address, IPv4Address):
        return f"/{address}"
    if address.ipv4_mapped is not None:
        return f"/{address.ipv4_mapped}"
    groups = ":".join(f"{group:x}" for group in _INET6.unpack(address.packed))
    return f"/{groups}" if address.scope_id is None else f"/{groups}%{address.scope_id}"


def double_text(value: float) -> str:
    """java.lang.Double.toString: plain from 0.001 to below ten million, else with an exponent."""
    if not isfinite(value):
        return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    shortest = "".join(map(str, digits))
    point = len(digits) + int(exponent)  # digits before it
    if value and not 1e-3 <= abs(value) < 1e7:
        text = f"{shortest[0]}.{shortest[1:] or '0'}E{point - 1}"
    else:
        padded = shortest.rjust(len(digits) - min(0, point - 1), "0").ljust(point, "0")
        whole = max(1, point)
        text = f"{padded[:whole]}.{padded[whole:] or '0'}"
    return "-" + text if sign else text


def _is_continuation(byte: int) -> bool:
    return byte & 0xC0 == 0x80


codecs.register_error(AS_JAVA, replace_as_java)
