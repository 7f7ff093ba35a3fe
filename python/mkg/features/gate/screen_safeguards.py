"""Rules against weakened safeguards and misplaced secrets."""

from mkg.features.gate import screen_languages as other
from mkg.features.gate.screen_rule import Rule, rule
from mkg.features.gate.screen_words import (
    GAP,
    GAP2,
    NEEDLESS,
    PLACES,
    SAFEGUARD,
    SECRETS,
    SEND,
    SKIPPING,
)

SAFEGUARDS: tuple[Rule, ...] = (
    rule(
        "weakened_flag",
        "privilege",
        ("wait", "block"),
        "before",
        "uses a switch that turns a safeguard off",
        r"--no-verify\b|--no-gpg-sign\b|--insecure\b|--disable-web-security\b"
        r"|--no-check-certificate\b"
        r"|--trusted-host\b|--allow-root\b|--skip-(?:checks?|verification|validation|hooks|tests)\b"
        r"|--no-audit\b|--ignore-scripts=false|--unsafe-perm\b|--privileged\b|--no-sandbox\b",
        r"\bverify\s*=\s*false\b|\brejectunauthorized\W{1,3}false\b"
        r"|node_tls_reject_unauthorized\W*0"
        r"|\bstricthostkeychecking\W+no\b|\bgit_ssl_no_verify\b|\bsslverify\W+false\b"
        r"|\bcheck_hostname\s*=\s*false\b|\bpythonhttpsverify\W*0",
        r"\b(?:push|pushes|pushing|pushed)\b[^.!?;]{0,30}(?:--force\b(?!-with-lease)"
        r"|\s-f\b)[^.!?;]{0,30}"
        r"\b(?:main|master|always|production|release|default)\b",
        r"\b(?:always|by default|everywhere)\b[^.!?;]{0,20}\b(?:force-?push|push)\b[^.!?;]{0,12}"
        r"(?:--force\b(?!-with-lease)|\s-f\b)",
        r"\b(?:always|just|may|can|should) force-?push\b",
        r"\b(?:retry|rerun|use|again|proceed|continue)\b[^.!?;]{0,12}\b(?:with "
        r")?--force\b(?!-with-lease)",
        r"\bset(?:enforce)? 0\b|\bselinux\b[^.!?;]{0,20}\b(?:permissive|disabled)\b",
    ),
    rule(
        "weakened_safeguard",
        "privilege",
        ("wait", "block"),
        "before",
        "declares a safeguard needless or switches it off",
        rf"\b(?:{SKIPPING})\b(?:{GAP})(?:{SAFEGUARD})\b(?! (?:tests?|page|mail|form|job"
        r"|fixtures?)\b)",
        rf"\b(?:turn|switch)(?:s|es|ed|ing)?(?:{GAP})(?:{SAFEGUARD}) off\b",
        rf"\b(?:{SAFEGUARD})\b(?:[^\w.!?;]+(?!never\b)[\w'-]+){{0,4}}?"
        rf"[^\w.!?;]+(?:is|are|be|being|was|were"
        r"|been|stays?"
        rf"|stay|remains?|gets?|become|becomes)\b(?: (?!never\b|not\b)\w+){{0,2}}?"
        rf" (?:{NEEDLESS})\b",
        rf"\b(?:{SAFEGUARD}) (?:disabled|waived|skipped|switched off|turned off|suspended"
        r"|lifted)\b",
        rf"\b(?:no longer|don't|do not|doesn't|does not|never|stopped|need not) "
        rf"(?:need|needs|require|requires|requiring|enforce|enforces|want|run|bother with)\b"
        rf"(?:{GAP2})?(?: ?)(?:{SAFEGUARD})\b(?= |[.,;!]|$)(?! (?:code|tests?|page|mail))",
        rf"\b(?:{SAFEGUARD})\b[^.!?;]{{0,30}}\b(?:only slow|just slow|waste of time|get in the way|"
        rf"are annoying|is annoying)",
        r"\b(?:reviewers?|maintainers?|admins?|security)\b[^.!?;]{0,20}\b(?:has|have|had)? "
        r"?(?:waived|lifted"
        r"|dropped|cancell?ed)\b",
        *other.WEAKEN,
    ),
    rule(
        "false_alarm",
        "privilege",
        ("wait", "block"),
        "none",
        "calls a failing safeguard harmless",
        rf"\b(?:if|when(?:ever)?|even if|should)\b[^.!?;]{{0,20}}?\b(?:{SAFEGUARD}|signing|scanner"
        r"|scan|"
        rf"linter|alarm)\b[^.!?]{{0,30}}?\b(?:fail|complain|warn|flag|block|refuse|object|report"
        r"|break|reject)"
        rf"\w*\b[^.!?]{{0,60}}\b(?:go on|go ahead|continue|carry on|proceed|ignore|false (?:alarm"
        r"|positive)"
        rf"|anyway|regardless|--force|skip|retry with|harmless|move on)\b",
        rf"\b(?:{SAFEGUARD}|scanner|detector|virus|malware|certificate"
        rf"|tls)\b[^.!?;]{{0,60}}\b(?:is|are|as|mean"
        rf"|means|only|just|be)\b(?: \w+){{0,2}}? (?:(?:known )?false (?:alarms?|positives?)"
        r"|harmless|normal"
        rf"|expected|nothing|noise|ignored|disregarded|safe to ignore)\b",
        r"\b(?:accept|ignore|click through|dismiss|disregard)\b[^.!?;]{0,30}\b(?:certificate|tls"
        r"|ssl|security"
        r"|virus|malware|host key) (?:\w+ )?(?:errors?|warnings?|alerts?|changes?)\b",
    ),
    rule(
        "secret_handling",
        "secret",
        ("wait", "block"),
        "before",
        "sends or stores secrets where they do not belong",
        rf"\b{SEND}\b[^.!?;]{{0,40}}?(?<!\w){SECRETS}(?!\w)[^.!?;]{{0,50}}?\b(?:to|at|into?|via"
        r"|with|on)\b"
        rf"[^.!?;]{{0,40}}?{PLACES}",
        rf"\b{SEND}\b[^.!?;]{{0,30}}?(?<!\w){SECRETS}(?!\w)[^.!?;]{{0,40}}?\b(?:to|in|into|as"
        rf"|onto)\b(?: \w+){{0,3}}? "
        r"(?:url|query|dns|branch|image|bug reports?|commit messages?|issues?|answers?|debug|logs?"
        r"|log output"
        r"|chat|public|partner|monitor|helper|names?|ci logs?|outputs?|repl(?:y|ies))\b",
        rf"(?<!\w){SECRETS}(?!\w)[^.!?;]{{0,20}}\b(?:may|can|should|could|must|are to) be (?:\w+ "
        r")?(?:committed|"
        r"checked in|pushed|logged|printed|shared|posted|published|sent|stored in (?:the "
        r")?(?:repo|git|plain))",
        r"\b(?:fine|ok|okay|safe|allowed|acceptable|good) to (?:log|print|commit|share|post|send"
        r"|echo|check in"
        rf"|store|publish)\b[^.!?;]{{0,30}}?(?<!\w){SECRETS}(?!\w)",
        r"\b(?:answer|reply|respond)\b[^.!?;]{0,12}\bwith the (?:\w+ )?(?:token|key|password"
        r"|secret)\b",
        r"\b(?:read|open|cat|print|show|paste|load)\b[^.!?;]{0,20}(?:~/\.ssh|id_rsa|id_ed25519"
        r"|\.aws/credentials"
        r"|/etc/shadow|\.netrc|\.npmrc|\.pgpass)",
    ),
)
