"""Where the effective store answers, and as whom."""

from mkg.errors import GraphUnavailable
from mkg.settings import Settings


def address(settings: Settings) -> tuple[str, tuple[str, str]]:
    """Return (address, (user name, password)) of the store that the settings mean.

    Raises:
        GraphUnavailable: it is the managed store, and that does not run.
    """
    store = settings.store
    if store.uri is not None:
        password = store.password.get_secret_value() if store.password else ""
        return store.uri, (store.username, password)
    from mkg.localdb import endpoint

    where = endpoint(settings)
    if where is None:
        raise GraphUnavailable("the local database has not been started; run: mkg db up")
    return where.uri, (where.username, where.password)
