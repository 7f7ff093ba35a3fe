"""Decides on what the server would do: every operator and procedure must be listed (SEC-43)."""

import re

from mkg.db.raw import Plan
from mkg.features.reader.policy import Policy

_CALLED = re.compile(r"\s*([A-Za-z_][\w.]*)\s*(?:\(|$)", re.ASCII)


def objection(plan: Plan, policy: Policy) -> str:
    """Why a plan is refused; empty when it is not."""
    if plan.query_type != "r":
        kind = plan.query_type if plan.query_type in {"w", "rw", "s"} else "unknown"
        return f"the server calls it a query of type {kind}, not r"
    if not plan.operators:
        return "the server shows no plan for it"
    for name, details in plan.operators:
        if name.replace(" ", "") not in policy.operators:
            return f"the plan has the operator {_shown(name)}, which is not on the list"
        if name == "ProcedureCall":
            found = _CALLED.match(details)
            if found is None or found[1] not in policy.procedures:
                return "the plan calls a procedure that is not on the list"
    return ""


def _shown(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9(),]", "", name)[:60] or "without a name"
