"""The vocabulary the screen's rules are built from, and what turns a phrase into its opposite."""

import re

# Up to four words between two parts of a phrase, never across a sentence end.
GAP = r"(?:[^\w.!?;]+[\w'@/.-]+){0,4}?[^\w.!?;]+"
GAP2 = r"(?:[^\w.!?;]+[\w'-]+){0,2}?[^\w.!?;]+"
NEAR = r"[^.!?;]{0,60}?"
FAR = r"[^!?]{0,120}?"

SAFEGUARD = (
    r"(?:(?:code|human|security|peer|manual|pr|pull request|release|second|legal|access) )?"
    r"(?:reviews?|reviewers?|approvals?|confirmations?|sign-?offs?|consent)"
    r"|confirmation dialogs?|verification|validation"
    r"|(?:digital |code |package )?signatures?(?: checks?| verification| validation| tests?)?"
    r"|(?:integrity|checksum|hash|safety|security|permission|access|license|compliance)"
    r" (?:checks?|scans?|scanners?|screens?|filters?|tests?|rules?|warnings?|prompts?|dialogs?|"
    r"requests?|polic(?:y|ies)|headers?|audits?|controls?|requirements?|gates?|reviews?)"
    r"|(?:safety|ethical|content|security|moderation) (?:protocols?|measures?|guidelines?"
    r"|polic(?:y|ies)|features?"
    r"|restrictions?|mechanisms?|systems?)|ethics"
    r"|checksums?|permissions?|sandbox(?:es|ing)?|(?:\w+ )?gates?|approval (?:step|process)(?:es)?"
    r"|two-?factor(?: authentication)?|2fa|mfa|authentication|authori[sz]ation|auth"
    r"|(?:tls|ssl|https|certificates?|certs?|host ?-?keys?)"
    r"(?: (?:verification|validation|checks?|checking|errors?|warnings?))?"
    r"|firewalls?|audit(?:s|ing| logs?| logging| trails?)?|back-?ups?|branch protection"
    r"|pre-?commit(?: hooks?| checks?)?|commit hooks?|git hooks?"
    r"|(?:secret|virus|malware|vulnerability|dependency) (?:scan(?:ning|ner|s)?|detectors?)"
    r"|guard ?-?rails?|safeguards?|protections?|csrf|rate limit(?:s|ing|er)?|antivirus"
    r"|access controls?|encryption|redaction|rollback plans?|security"
)

SKIPPING = (
    r"skip(?:s|ped|ping)?|bypass(?:es|ed|ing)?|disabl(?:e|es|ed|ing)|waiv(?:e|es|ed|ing)"
    r"|ignor(?:e|es|ed|ing)|omit(?:s|ted|ting)?|circumvent(?:s|ed|ing)?|suppress(?:es|ed|ing)?"
    r"|deactivat(?:e|es|ed|ing)|(?:turn|switch)(?:s|es|ed|ing)? off|get around|work around"
    r"|loosen(?:s|ed|ing)?|lower(?:s|ed|ing)?|relax(?:es|ed|ing)?|lift(?:s|ed|ing)?"
    r"|disregard(?:s|ed|ing)?|silenc(?:e|es|ed|ing)|dispens(?:e|es|ed|ing) with"
    r"|leav(?:e|es|ing) out|forgo(?:es|ing)?|remov(?:e|es|ing)|overrid(?:e|es|den|ing)"
)

NEEDLESS = (
    r"optional|unnecessary|needless|superfluous|pointless|redundant|obsolete|moot|a formality"
    r"|not (?:needed|required|necessary|mandatory|enforced|checked|important|used)"
    r"|no longer (?:needed|required|necessary|mandatory|enforced|checked)"
    r"|never (?:needed|required|necessary)|disabled|deactivated|off|skipped|waived|bypassed"
    r"|suppressed|lifted|ignored|disregarded|(?:turned|switched) off|overridden|suspended"
)

ASK = (
    r"(?:ask(?:ing)?|prompt(?:ing)?|confirm(?:ing)?|request(?:ing)?|consult(?:ing)?"
    r"|check(?:ing)? with|check(?:ing)? in|wait(?:ing)? for|seek(?:ing)?)"
)

INSTRUCTIONS = (
    r"(?:instructions?|directions?|directives?|prompts?|guidelines?|guard ?-?rails?"
    r"|system (?:prompt|message)|developer (?:prompt|message)|messages?|rules?|orders?|commands?"
    r"|context|polic(?:y|ies)|constraints?|restrictions?|safety|programming|conversation)"
)

SECRETS = (
    r"(?:\.env\b|env(?:ironment)? (?:file|variables?)|secrets?|credentials?|(?:api |access |auth )?"
    r"tokens?|(?:api|ssh|private|signing|encryption|access|secret)[ -]?keys?|\bkeys?\b|passwords?"
    r"|passphrases?|id_rsa|id_ed25519|key folder|cookies?|[a-z0-9]+_(?:secret|password|token"
    r"|key)\w*"
    r"|secret_\w+)"
)

PLACES = (
    r"(?:https?://|s3://|ftp://|[\w.+-]+@[\w-]+\.\w|webhook|pastebin|gist\b|bucket|attacker|"
    r"external (?:server|host|site)|this (?:url|address|server|host|endpoint)|[\w-]+\.(?:com|net"
    r"|org|"
    r"io|test|xyz|ru|cn|top|dev)\b)"
)

SEND = (
    r"(?:post|send|upload|push|forward|e?-?mail|ship|copy|report|submit|transmit|exfiltrate|leak"
    r"|stream|sync|publish|paste|share|put|deliver|relay|attach|append|encode|include|embed|log"
    r"|print|echo|reveal|expose|hand)(?:s|es|ed|ing|ting|ped)?"
)

# A negator directly before a phrase turns it into a rule that protects.
_NEGATOR = re.compile(
    r"(?:\b(?:never|don't|do not|does not|doesn't|must not|mustn't|may not|should not|shouldn't"
    r"|shall not|cannot|can't|can not|will not|won't|not allowed to|not permitted to|forbidden to"
    r"|no one|nobody|no agent|none|avoid|refuses? to|rejects?|prevents?|forbids?|prohibits?|blocks?"
    r"|not ok to|not okay to|not|stop|try to|tries to|trying to|attempts? to|attempting to)\b"
    r"(?:[^\w.!?;:]+[\w'-]+){0,4}?[^\w.!?;:]*)$"
)
_NO_REAL_NEGATOR = re.compile(r"\b(?:hesitate|forget|fail|worry|bother|mind|be afraid|only|just)\b")
_SENTENCE_NEGATOR = re.compile(
    r"\b(?:never|nothing|nobody|no one|none|not|no|cannot|can't|don't|doesn't|won't|mustn't"
    r"|shouldn't|forbidden|refuse[sd]?|reject(?:s|ed)?|block(?:s|ed)?)\b"
)
_TRAILING_BAN = re.compile(
    r"^(?:so it is now enforced|,? so it is now enforced"
    r"|(?:(?!\b(?:so|nothing|because|until|unless|otherwise)\b)[^.!?;]){0,40}?"
    r"\b(?:(?:is|are|was|were)(?: \w+)? (?:not|never)(?: \w+)? "
    r"(?:allowed|permitted|acceptable|ok|okay|an option|tolerated|fine)"
    r"|(?:is|are) (?:forbidden|prohibited|banned|a bug|an incident|a mistake|refused|rejected"
    r"|blocked)"
    r"|(?:must|may|should|shall) (?:not|never)|(?:will|should) not happen))"
)
_BOUNDARY = re.compile(r"[.!?;:。\uff01\uff1f]\s|[。\uff01\uff1f]")


def negated(text: str, start: int, end: int, *, sentence: bool) -> bool:
    """Tell whether the phrase at `start:end` is forbidden rather than asked for.

    With `sentence`, a negation anywhere earlier in the sentence counts ('nothing ships without
    review'); otherwise only one that stands directly before the phrase.
    """
    before = text[max(0, start - 160) : start]
    cuts = [m.end() for m in _BOUNDARY.finditer(before)]
    clause = before[cuts[-1] :] if cuts else before
    if _TRAILING_BAN.search(text[end : end + 120]):
        return True
    if sentence:
        return bool(_SENTENCE_NEGATOR.search(clause))
    found = _NEGATOR.search(clause)
    return bool(found) and not _NO_REAL_NEGATOR.search(found.group())
