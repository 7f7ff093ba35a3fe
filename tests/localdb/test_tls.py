"""TLS and routing through the one runner, against a real server that also speaks without TLS.

That it would take plain connections too is the point: what falls back to plain succeeds here.
"""

import dataclasses
import datetime
import ipaddress
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from mkg import localdb
from mkg.db import Neo4jRunner
from mkg.errors import ConfigError
from mkg.localdb import java, launch, store
from mkg.localdb.config import Config
from mkg.localdb.store import Store
from mkg.settings import Settings, subprocess_env
from tests.conftest import Live, shared_cache
from tests.support.requirement import requirement

pytestmark = pytest.mark.live
TLS = """\
server.bolt.tls_level=OPTIONAL
dbms.ssl.policy.bolt.enabled=true
dbms.ssl.policy.bolt.base_directory=certificates
dbms.ssl.policy.bolt.client_auth=NONE
"""


@dataclasses.dataclass(frozen=True)
class Bare(launch.Plan):
    """The server without its plugins, with TLS, and with logs that are full after a line."""

    def config(self, port: int) -> Config:
        texts = super().config(port)
        logs = texts.logs.replace('"1 MB"', '"100"')
        return dataclasses.replace(texts, neo4j=texts.neo4j + TLS, logs=logs)


@dataclasses.dataclass(frozen=True)
class Secured:
    port: int
    password: str
    authority: Path
    logs: Path

    def runner(self, scheme: str, host: str = "127.0.0.1") -> Neo4jRunner:
        uri = f"{scheme}://{host}:{self.port}"
        return Neo4jRunner(uri, ("neo4j", self.password), "neo4j", retry_seconds=0)


def certify(folder: Path) -> Path:
    """A key and a certificate of its own for 127.0.0.1, and for no name."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a test")])
    now = datetime.datetime.now(datetime.UTC)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    folder.mkdir()
    form = serialization.PrivateFormat.PKCS8
    pem = serialization.Encoding.PEM
    none = serialization.NoEncryption()
    (folder / "private.key").write_bytes(key.private_bytes(pem, form, none))
    (folder / "public.crt").write_bytes(made.public_bytes(pem))
    return folder / "public.crt"


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    base = tmp_path_factory.mktemp("tls")
    settings = Settings(
        home=base, cache=shared_cache(), config_dir=base / "config", runtime_dir=base / "run"
    )
    place = Store(settings.paths.store_dir)
    store.prepare(place)
    authority = certify(place.folder / "certificates")
    full = launch.plan(settings, place, str)
    bare = base / "bare"
    (bare / "plugins").mkdir(parents=True)
    (bare / "lib").symlink_to(full.home / "lib")
    lock = dataclasses.replace(
        full.lock, jars=tuple(jar for jar in full.lock.jars if jar.folder == "lib")
    )
    plan = Bare(place, bare, lock, full.fit, ())
    try:
        launch.start(settings, plan, java.find_java(None, subprocess_env()), str)
        port, password = store.remembered_port(place), store.password(place)
        assert port is not None and password is not None
        yield Secured(port, password, authority, place.folder / "logs")
    finally:
        localdb.down(settings)


@pytest.fixture
def trusted(secured: Secured, monkeypatch: pytest.MonkeyPatch) -> Secured:
    """As for a user whose machine trusts the certificate's authority."""
    monkeypatch.setenv("SSL_CERT_FILE", str(secured.authority))
    return secured


@requirement("NEO-100")
@pytest.mark.parametrize("scheme", ["bolt+s", "neo4j+s"])
def test_a_trusted_certificate_opens_both_schemes_and_routing_keeps_to_tls(trusted, scheme):
    with trusted.runner(scheme) as run:
        run.verify()
        text = "CYPHER 25\nCREATE (n:MkgProbe {id: 1}) RETURN n.id AS id"
        assert run.execute(text).rows == [{"id": 1}]


@pytest.mark.parametrize("scheme", ["bolt+ssc", "neo4j+ssc"])
def test_a_self_signed_certificate_is_taken_where_the_user_says_so(secured, scheme):
    with secured.runner(scheme) as run:
        run.verify()


@pytest.mark.parametrize("scheme", ["bolt+s", "neo4j+s"])
def test_an_untrusted_certificate_is_refused_in_words_and_plain_is_never_tried(secured, scheme):
    with secured.runner(scheme.removesuffix("+s")) as plain:
        plain.verify()
    with secured.runner(scheme) as run, pytest.raises(ConfigError) as told:
        run.verify()
    assert "certificate of the server at NEO4J_URI is refused" in str(told.value)
    assert "self-signed" in str(told.value) or "self signed" in str(told.value)
    assert "SSL_CERT_FILE" in str(told.value) and "+ssc" in str(told.value)


@pytest.mark.parametrize("scheme", ["bolt+s", "neo4j+s"])
def test_a_certificate_for_another_name_is_refused_although_it_is_trusted(trusted, scheme):
    run = trusted.runner(scheme, "localhost")
    with run, pytest.raises(ConfigError, match=r"refused: .*localhost"):
        run.verify()


@pytest.mark.parametrize("scheme", ["bolt+s", "bolt+ssc", "neo4j+s", "neo4j+ssc"])
def test_a_server_without_tls_is_told_as_such_and_plain_is_never_tried(live: Live, scheme):
    uri = live.server.uri.replace("bolt://", f"{scheme}://")
    run = Neo4jRunner(uri, (live.server.username, live.server.password), "neo4j", retry_seconds=0)
    with run, pytest.raises(ConfigError, match="does not speak TLS there"):
        run.verify()


def test_the_servers_log_rotates_and_old_ones_go(secured):
    names = sorted(path.name for path in secured.logs.glob("neo4j.log*"))
    assert "neo4j.log" in names and "neo4j.log.01" in names
    assert len(names) <= 5
    # Java's own output is not where the server's lines go.
    assert "Bolt enabled" not in (secured.logs / "server.out").read_text(encoding="utf-8")
