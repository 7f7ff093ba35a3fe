"""All rules of the deterministic screen, in the order they are tried."""

from mkg.features.gate.screen_injection import INJECTION
from mkg.features.gate.screen_manner import ADDRESSED, MANNER
from mkg.features.gate.screen_privilege import PRIVILEGE
from mkg.features.gate.screen_rule import Rule
from mkg.features.gate.screen_safeguards import SAFEGUARDS
from mkg.features.gate.screen_untyped import MARKUP, UNTYPED_RULES

TYPED: tuple[Rule, ...] = (*INJECTION, *PRIVILEGE, *SAFEGUARDS, *MANNER, *MARKUP)
UNTYPED: tuple[Rule, ...] = (*TYPED, *ADDRESSED, *UNTYPED_RULES)
