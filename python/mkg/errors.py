"""Every error the product raises on purpose.

MkgError
├── ConfigError              settings missing or contradicting each other
├── LocalDbError             the managed local server cannot be fetched, configured or started
├── BundleError              shipped Cypher and code disagree
│   ├── HeaderError          file and line of a bad header
│   ├── BindingError         stub and header differ
│   └── SchemaBehind         database older than the bundle's floor; carries the command
│       └── SchemaAhead      database migrated by a program of another major version
├── GraphError               a query failed; carries query name and GQL status
│   ├── GraphUnavailable     retry may help: connection, leader, pool
│   ├── GraphTimeout         time limit, or a lock wait that survived retries
│   ├── GraphConflict        constraint
│   ├── GraphRejected        syntax, type, missing procedure, permission
│   │   └── RawFailed        the same of a raw read: code and place only
│   └── RowShapeError        result does not fit its row class
├── ModelError               LLM or embedding call
│   ├── ModelUnavailable
│   └── ModelReplyInvalid    reply is not the declared shape
├── Refused                  a domain rule said no; the text is written for the agent
└── MigrationError
    ├── MigrationLocked
    ├── MigrationTampered
    └── MigrationUnverified

A message says what is wrong and what to do. No message carries a parameter, a prompt or a secret.
"""


class MkgError(Exception):
    """Base of everything raised on purpose."""

    exit_code = 1


class ConfigError(MkgError):
    """A setting is missing, malformed or contradicts another."""

    exit_code = 2


class LocalDbError(MkgError):
    """The managed local server cannot be fetched, configured, started or stopped."""

    exit_code = 3


class BundleError(MkgError):
    """The shipped Cypher and the code around it disagree: a bad build, not a user's mistake."""

    exit_code = 5


class HeaderError(BundleError):
    """A header block does not follow the grammar; the message starts with file and line."""


class BindingError(BundleError):
    """A Python stub and the header of its query differ."""


class SchemaBehind(BundleError):
    """The database has not been migrated as far as the bundle needs."""


class SchemaAhead(SchemaBehind):
    """A newer program has changed the database; handled like one that is behind: it is refused."""


class GraphError(MkgError):
    """A query failed on the server."""

    exit_code = 3

    def __init__(self, message: str, *, query: str | None = None, status: str | None = None):
        super().__init__(message)
        self.query = query
        self.status = status


class GraphUnavailable(GraphError):
    """No connection, no leader or no free pool slot: trying again later may help."""


class GraphTimeout(GraphError):
    """The query ran past its time limit, or waited past it for a lock; trying later may help."""


class GraphConflict(GraphError):
    """A constraint would be violated."""


class GraphRejected(GraphError):
    """The server refused the statement: syntax, type, permission or a missing procedure."""

    exit_code = 5


class RawFailed(GraphRejected):
    """A raw read failed; the message is the server's code and the place, nothing of its words."""

    def __init__(self, message: str, *, code: str = "", status: str | None = None):
        super().__init__(message, status=status)
        self.code = code


class RowShapeError(GraphError):
    """A returned row does not fit the row class of its query."""

    exit_code = 5


class ModelError(MkgError):
    """A language or embedding model failed."""


class ModelUnavailable(ModelError):
    """The model cannot be reached or is not installed."""


class ModelReplyInvalid(ModelError):
    """The model's reply does not have the declared shape."""


class Refused(MkgError):
    """A rule of the product said no; the message is written for the agent or person who asked."""

    exit_code = 4

    def __init__(self, message: str, *, code: str = "refused", **extras: object):
        super().__init__(message)
        self.code = code
        self.extras = extras


class MigrationError(MkgError):
    """A migration cannot be planned, applied or verified."""

    exit_code = 5


class MigrationLocked(MigrationError):
    """Another runner holds the migration lock."""


class MigrationTampered(MigrationError):
    """An applied migration file was edited, renamed or removed."""


class MigrationUnverified(MigrationError):
    """A migration ran but its verification found rows that should not exist."""
