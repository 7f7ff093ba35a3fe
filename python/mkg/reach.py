"""Which machines this one may speak to: encrypted and checked, or named; none at all when asked."""

import ipaddress
from collections.abc import Sequence
from urllib.parse import urlsplit

from mkg.errors import ConfigError

# The server's certificate is checked against an authority.
CHECKED = frozenset({"bolt+s", "neo4j+s"})
WEAK_PASSWORDS = frozenset({"", "neo4j", "password"})
SCHEMES = CHECKED | {"bolt", "bolt+ssc", "neo4j", "neo4j+ssc"}


def check_store(uri: str, *, insecure: Sequence[str], local_only: bool) -> None:
    """Refuse an address whose way there is open to others, or any other machine in local-only mode.

    Args:
        insecure: hosts that may be reached without a checked certificate.

    Raises:
        ConfigError: the address is refused; the message says what to set.
    """
    parts = urlsplit(uri)
    if parts.scheme not in SCHEMES:
        raise ConfigError(
            f"NEO4J_URI must start with bolt:// or neo4j://, not with {parts.scheme!r}"
        )
    host = parts.hostname or ""
    if here(host):
        return
    if local_only:
        raise ConfigError(
            f"MKG_LOCAL_ONLY is on and NEO4J_URI leads to another machine ({host}); "
            "take one of the two away in the user file (see `mkg config`)"
        )
    if parts.scheme not in CHECKED and host not in [name.lower() for name in insecure]:
        raise ConfigError(
            f"NEO4J_URI leads to another machine ({host}) without a checked certificate: use "
            "bolt+s:// or neo4j+s://, or name that host in MKG_ALLOW_INSECURE"
        )


def check_password(secret: str) -> None:
    """Refuse to reach a store with a password that everybody knows.

    Raises:
        ConfigError: it is one, or there is none.
    """
    if secret in WEAK_PASSWORDS:
        raise ConfigError(
            "NEO4J_URI is set but NEO4J_PASSWORD is missing or a well-known default; "
            "set a password of your own in the user file (see `mkg config`)"
        )


def here(host: str) -> bool:
    """Say whether a name or an address can only be this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
