"""Rules for text no person typed, and for markup from anyone."""

from mkg.features.gate import screen_languages as other
from mkg.features.gate.screen_rule import Rule, rule
from mkg.features.gate.screen_words import FAR, NEAR, PLACES, SEND

_AGENT = (
    r"(?:you|yourself|(?:the |this |any |every |each |all )?(?:ai|agents?|assistants?|llms?|bots?"
    r"|models?)|claude|codex|copilot|cursor|gemini)"
)

_TAGS = (
    r"(?:system|developer|assistant|user|human|instructions?|prompt|memory|[a-z-]*memory"
    r"|[a-z-]*reminder|tool_?(?:result|call|use)s?|function_?(?:calls?|results?)|context|rules"
    r"|important|admin|policy|override|invoke|antml:\w+|thinking)"
)

# Only for text that no person typed: what would be ordinary in one's own words is a reason
# to show it to a person when an agent, a page or a tool says it.
UNTYPED_RULES: tuple[Rule, ...] = (
    rule(
        "sends_out",
        "other",
        ("pass", "wait"),
        "none",
        "sends project content to an address",
        rf"\b{SEND}\b{FAR}{PLACES}",
        rf"\b(?:share|sync|send|upload|post|forward|export)\w*\b{NEAR}\b(?:source code|chat "
        r"history|transcripts?"
        rf"|conversations?|customer data|logs)\b{NEAR}\b(?:with|to)\b",
    ),
    rule(
        "second_hand",
        "injection",
        ("pass", "wait"),
        "none",
        "repeats what a page, a file or a tool said",
        r"\b(?:per|according to|as) (?:the|this|that|a) (?:\w+ ){0,2}?(?:pages?|articles?|issues?"
        r"|readme|docs?"
        r"|documentation|websites?|threads?|comments?|posts?|e?-?mails?|tickets?|search results?"
        r"|output|links?)\b",
        r"\b(?:pages?|articles?|issues?|readme|docs?|documentation|websites?|threads?|comments?"
        r"|posts?|tickets?"
        r"|results?|outputs?|tool|e?-?mails?)\b(?: \w+){0,5}? (?:says?|said|states?|stated"
        r"|explains?|claims?|tells?"
        r"|mentions?|recommends?|instructs?|suggests?)\b",
        r"\bi (?:just )?(?:fetched|downloaded|read|found|saw|looked up|searched)\b",
    ),
    rule(
        "claimed_support",
        "injection",
        ("pass", "wait"),
        "none",
        "claims support that cannot be checked",
        r"\b(?:proven|verified|confirmed|validated|tested|trusted|agreed"
        r"|approved)\b[^.!?;]{0,30}?\b(?:\d+|many|"
        r"several|all|multiple|earlier|previous|twice|step \d+|by (?:the )?(?:admins?|user"
        r"|maintainers?|security|"
        r"owner|team))\b",
        r"\b(?:all|every|multiple|several) (?:\w+ )?(?:agents?|sessions?|models?|assistants?|runs) "
        r"(?:agree|confirm|know|say|use)",
        r"\bstep \d+ of \d+\b",
        r"\bthe user (?:seems|appears|is probably|must be|is likely)\b",
    ),
    rule(
        "rerouted",
        "other",
        ("pass", "wait"),
        "none",
        "redirects one kind of thing to another",
        r"\b(?:rout|treat|handl|classif|process|label|count|fil)\w*(?: \w+){0,2}? as (?:if"
        r"|though)\b",
        r"\b(?:routed|handled|classified|filed|labell?ed|counted) as\b",
        r"\buse the (?:record|file|account|data|id|key) of\b[^.!?]{0,40}\binstead\b",
    ),
    rule(
        "agent_orders",
        "injection",
        ("pass", "wait"),
        "none",
        "gives the agent orders",
        rf"\b{_AGENT} (?:must|should|shall|have to|has to|need to|needs to|will|may|can|are to|is "
        r"to|is required"
        rf"|are required|is allowed|are allowed|always|never)\b",
        r"\b(?:from now on|from this point|in (?:all )?future sessions|every time you|whenever you"
        r"|next session"
        r"|for all future|going forward)\b",
        r"^(?:important|attention|urgent|warning|critical|note)\b[^.!?]{0,30}[:!]",
        r"\b(?:ai|agents?|assistants?|llms?)\b[^.!?]{0,20}\b(?:reading|processing|seeing) this\b",
    ),
    rule(
        "powerful_words",
        "other",
        ("pass", "wait"),
        "none",
        "names a command, an address or a permission",
        r"\b(?:curl|wget|ssh|scp|rsync|netcat|sudo|chmod|chown|eval|powershell|crontab|launchctl"
        r"|systemctl"
        r"|iptables|ngrok|npx|nc -\w)\b|https?://|\brm -r",
        r"\b(?:docker run|kubectl (?:apply|delete|exec)|terraform (?:apply|destroy)|npm (?:publish"
        r"|install)|git push"
        r"|pip install|brew install|apt(?:-get)? install|cargo install|drop (?:table|database)"
        r"|truncate table"
        r"|delete from)\b",
        r"\bpermissions?\b|\bcredentials?\b|\bprivileges?\b|\ballow-?list\b|\bsafeguards?\b"
        r"|\bapprovals?\b"
        r"|--force\b|\bpre-?commit\b|\broot access\b|\bpasswords?\b",
        *other.POWERFUL,
    ),
    rule(
        "html",
        "other",
        ("pass", "wait"),
        "none",
        "carries HTML that a page could run",
        r"<\s*/?\s*(?:script|iframe|object|embed|svg|img|style|link|meta|form)\b[^<>]{0,200}>",
    ),
)


MARKUP: tuple[Rule, ...] = (
    rule(
        "markup",
        "other",
        ("wait", "wait"),
        "none",
        "carries markup that could close or open a block",
        rf"<\s*/\s*{_TAGS}\s*>|<\s*{_TAGS}\s*/?>(?! (?:tags?|blocks?|elements?|wrappers?"
        r"|markers?)\b)",
        r"\]\]\s*>|<!\[cdata\[|<!--|--!?>\s*<",
        r"!\[[^\]]{0,80}\]\(\s*(?:https?:|data:|//)",
        r"\bjavascript:",
        r"`{6,}|~{6,}|'{3,}\s*\w+ fence",
        r"<\s*/?\s*(?:project|user|agent|session)-memory\b",
    ),
    rule(
        "query_fragment",
        "other",
        ("wait", "wait"),
        "none",
        "ends like a query that breaks out of its string",
        r"['\"`]\s*\}?\s*\)\s*(?:match|detach|delete|set|create|merge|return|call|load csv|union"
        r"|drop)\b",
        r"\}\s*\)\s*(?:set|detach|delete|match|remove)\b|\]\s*->?\s*\(\s*\)\s*(?:delete|set"
        r"|detach)\b",
        r"['\"]\s*;\s*(?:drop|delete|update|insert|alter|truncate)\b"
        r"|['\"]\s*or\s*['\"]?1['\"]?\s*=\s*['\"]?1",
    ),
    rule(
        "structured_answer",
        "other",
        ("wait", "wait"),
        "none",
        "is shaped like an answer for a program, not like a statement",
        r"^\s*\{\s*[\"'](?:action|decision|verdict|status|learnings?|id|winner|restates)[\"']\s*:",
    ),
)
