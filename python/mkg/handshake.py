"""Tells a failed TLS handshake, an old server and one that gave up from one that is away."""

import re
import ssl

from mkg.errors import ConfigError, GraphError

GIVEN_UP = ("TransactionStartFailed", "TransactionCommitFailed")


def refused_handshake(error: BaseException) -> ConfigError | None:
    """What is wrong with the encryption, if that is why: nothing ever tries again without it."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return ConfigError(
                f"the certificate of the server at NEO4J_URI is refused: {cause.verify_message}; "
                "nothing was sent. Trust its authority on this machine (SSL_CERT_FILE names a file "
                "of them), or use `+ssc` for a server of your own that signed it itself"
            )
        if isinstance(cause, ssl.SSLError):
            return ConfigError(
                f"the server at NEO4J_URI does not speak TLS there ({cause.reason or 'no answer'});"
                " nothing was sent. Switch TLS on there, or use bolt:// or neo4j:// on a safe way"
            )
        cause = cause.__cause__ or cause.__context__
    return None


def needs_restart(error: GraphError) -> bool:
    """Whether the server has given up on its database until it is started again (NEO-142)."""
    return (getattr(error.__cause__, "code", None) or "").endswith(GIVEN_UP)


def refuse_old(agent: str, floor: str) -> None:
    """Refuse a server whose version is below the floor.

    It would answer each query with an error of syntax. Aura counts its versions otherwise.

    Raises:
        ConfigError: it is older than `floor`.
    """
    found = re.fullmatch(r"Neo4j/(\d+)\.(\d+)\S*", agent)
    if found is None or "aura" in agent or not floor:
        return
    if (int(found[1]), int(found[2])) < tuple(int(part) for part in floor.split(".")):
        raise ConfigError(
            f"the server at NEO4J_URI is {agent}; mkg needs Neo4j {floor} or newer. Update it, or "
            "leave NEO4J_URI out to use the managed local server"
        )
