"""Writes the server's configuration: `neo4j.conf`, `apoc.conf` and the arguments of Java.

Sources: design notes on the server (sections 3 and 14) and on security ("Server settings"). Every
value is written out, so that no default of another release changes what is open and what is shut.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mkg.bundle import Bundle
from mkg.localdb.fit import Fit

# Called by code of ours that is no bundle query, or by the tools that read the graph.
FIXED = (
    "apoc.lock.nodes",
    "apoc.version",
    "gds.graph.drop",
    "gds.graph.list",
    "gds.version",
)
# Members of APOC that refuse to run inside the server's sandbox; the others in use do not need out.
SANDBOXED = frozenset({"apoc.meta.schema"})
# What keeps files, network and telemetry shut; `mkg doctor` compares them with the running server.
CLOSING = {
    "dbms.security.auth_enabled": "true",
    "dbms.security.allow_csv_import_from_file_urls": "false",
    "internal.dbms.cypher_ip_blocklist": "0.0.0.0/0,::/0",
    "dbms.usage_report.enabled": "false",
    "client.allow_telemetry": "false",
    "db.logs.query.enabled": "OFF",
    "server.default_listen_address": "127.0.0.1",
    "server.http.enabled": "false",
    "server.https.enabled": "false",
}
_PLUGIN_CALL = re.compile(r"\b((?:apoc|gds)(?:\.\w+)+)\s*\(")
_OPENED = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")


@dataclass(frozen=True, slots=True)
class Config:
    """The texts of one server's configuration."""

    neo4j: str
    apoc: str
    java: tuple[str, ...]
    logs: str
    jars: str

    @property
    def signature(self) -> str:
        """Changes when the running server no longer is what it should be."""
        text = "\0".join((self.neo4j, self.apoc, *self.java, self.logs, self.jars))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def allowed(bundle: Bundle, migrations: Iterable[str] = ()) -> tuple[str, ...]:
    """Plugin procedures and functions that the product calls; all others are not even loaded."""
    names: set[str] = set(FIXED)
    for query in bundle.queries.values():
        names.update(name for name in query.uses if name.startswith(("apoc.", "gds.")))
    for text in migrations:
        names.update(_PLUGIN_CALL.findall(text))
    return tuple(sorted(names))


def unrestricted(names: Iterable[str]) -> tuple[str, ...]:
    """Those of the allowed members that may reach inside the server."""
    return tuple(name for name in names if name.startswith("gds.") or name in SANDBOXED)


def configure(store: Path, port: int, fit: Fit, names: Iterable[str], jars: str = "") -> Config:
    """The configuration of the server in `store`; `jars` names the set of jars it consists of."""
    return Config(
        neo4j=_neo4j(port, fit, tuple(names)),
        apoc=_APOC,
        java=java_arguments(store, fit),
        logs=_LOGS,
        jars=jars,
    )


_APOC = """\
apoc.import.file.enabled=false
apoc.import.file.use_neo4j_config=true
apoc.export.file.enabled=false
apoc.trigger.enabled=false
"""


# The server's own default copies every line to the output of Java, a file that nobody rotates.
_LOGS = """\
<Configuration>
  <Appenders>
    <RollingRandomAccessFile name="Said" fileName="${config:server.directories.logs}/neo4j.log"
                             filePattern="$${config:server.directories.logs}/neo4j.log.%02i">
      <PatternLayout pattern="%d{yyyy-MM-dd HH:mm:ss.SSSZ}{GMT+0} %-5p %m%n"/>
      <Policies><SizeBasedTriggeringPolicy size="1 MB"/></Policies>
      <DefaultRolloverStrategy fileIndex="min" max="3"/>
    </RollingRandomAccessFile>
  </Appenders>
  <Loggers><Root level="info"><AppenderRef ref="Said"/></Root></Loggers>
</Configuration>
"""


def _neo4j(port: int, fit: Fit, names: tuple[str, ...]) -> str:
    values = {
        # Relative to the store's folder: this file's reader garbles a letter outside ASCII.
        "server.directories.data": "data",
        # This one is relative to the data.
        "server.directories.transaction.logs.root": "transactions",
        "server.directories.logs": "logs",
        "server.directories.run": "run",
        "server.directories.plugins": "plugins",
        # Without this key any file of this machine can be read through a file URL.
        "server.directories.import": "import",
        "server.default_advertised_address": "127.0.0.1",
        "server.bolt.enabled": "true",
        "server.bolt.listen_address": f"127.0.0.1:{port}",
        "server.bolt.advertised_address": f"127.0.0.1:{port}",
        # Twice this is how long a client waits for a server that was suspended; by default 2 min.
        "server.bolt.connection_keep_alive": "5s",
        "server.bolt.connection_keep_alive_streaming_scheduling_interval": "5s",
        "dbms.security.procedures.unrestricted": ",".join(unrestricted(names)),
        "dbms.security.procedures.allowlist": ",".join(names),
        **CLOSING,
        "db.query.default_language": "CYPHER_25",
        # Plans made for a small store serve a growing one: ours are index look-ups either way.
        "dbms.cypher.min_replan_interval": "5m",
        "db.lock.acquisition.timeout": "5s",
        "db.transaction.timeout": "60s",
        "db.tx_log.preallocate": "false",
        "db.tx_log.rotation.size": "1m",
        "db.tx_log.rotation.retention_policy": "8m size",
        # Both waits together cost 15 s at each stop; nobody but us is connected then.
        "internal.server.bolt.thread_pool_shutdown_wait_time": "0s",
        "internal.server.bolt.connection_shutdown_wait_time": "0s",
        "server.memory.heap.initial_size": f"{fit.heap_start}m",
        "server.memory.heap.max_size": f"{fit.heap}m",
        "server.memory.pagecache.size": f"{fit.page_cache}m",
        "db.memory.transaction.max": f"{fit.transaction}m",
        "db.memory.transaction.total.max": f"{fit.transactions}m",
        "dbms.memory.transaction.total.max": f"{fit.transactions}m",
    }
    return "".join(f"{key}={value}\n" for key, value in values.items())


def java_arguments(store: Path, fit: Fit) -> tuple[str, ...]:
    """Everything after `java`, but what depends on the Java that runs it."""
    return (
        f"-Xms{fit.heap_start}m",
        f"-Xmx{fit.heap}m",
        "-XX:+UseG1GC",
        "-XX:-UsePerfData",
        *(() if fit.optimise else ("-XX:TieredStopAtLevel=1",)),
        *(f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in _OPENED),
        "--enable-native-access=ALL-UNNAMED",
        "-Djol.skipHotspotSAAttach=true",
        "-Dio.netty.tryReflectionSetAccessible=true",
        "-Dlog4j2.disable.jmx=true",
        "-Dfile.encoding=UTF-8",
        "-Djava.awt.headless=true",
        f"-Djava.io.tmpdir={store / 'tmp'}",
        f"-XX:ErrorFile={store / 'logs'}/java_error_%p.log",
    )


def vector_arguments(major: int) -> tuple[str, ...]:
    """Lets the vector search use the processor's wide registers; needs the optimising compiler."""
    return (
        "--add-modules=jdk.incubator.vector",
        f"-Dorg.neo4j.shaded.lucene9.vectorization.upperJavaFeatureVersion={major}",
    )


def class_path(home: Path, jars: Iterable[tuple[str, str]]) -> str:
    """The class path of a distribution, the server's own jars first."""
    return ":".join(str(home / folder / name) for folder, name in jars)


def argument_file(arguments: Iterable[str]) -> str:
    """The text of a Java `@file`: one quoted argument a line."""
    quoted = (a.replace("\\", "\\\\").replace('"', '\\"') for a in arguments)
    return "".join(f'"{argument}"\n' for argument in quoted)
