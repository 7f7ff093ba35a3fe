"""A managed store beside the user's own, for what must not touch it: the demo, the benchmarks."""

from typing import Any

from mkg.settings import Settings, StoreSettings, runtime_dir_for


def own_store(settings: Settings, name: str, **more: Any) -> Settings:
    """Settings whose home is the folder `name` below the user's; the cache is shared."""
    home = settings.home / name
    return settings.model_copy(
        update={
            "home": home,
            "config_dir": home / "config",
            "runtime_dir": runtime_dir_for({}, home),
            "store": StoreSettings(),
            **more,
        }
    )
