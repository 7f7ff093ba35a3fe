"""Rules for what the other rules forbid, said in another manner.

Each stands for a kind: guidance that is set aside without the word 'ignore', a check that is
described instead of named, a moment that is waited for, a secret that is moved by its content.
"""

from mkg.features.gate.screen_rule import Rule, rule
from mkg.features.gate.screen_words import PLACES, SECRETS

_MAKER = (
    r"(?:operators?|makers?|vendors?|providers?|developers?|creators?|system|safety|original"
    r"|initial"
    r"|built-?in|default|hidden)"
)
_GUIDANCE = (
    rf"(?:(?:your|the|its|any|all) )?(?:{_MAKER}(?:'s?)? (?:\w+ )?(?:guidance|briefings?"
    rf"|training|limits"
    r"|preamble|alignment|wishes|boundaries|principles|values|defaults|setup|instructions?|rules?)"
    r"|(?:guidance|limits|rules|things|words|text|boundaries|principles|orders|setup)(?: that)? you"
    r" (?:were|are|have been) (?:\w+ )?(?:configured|set up|given|trained|told|started|equipped"
    r"|shipped|primed|handed)(?: with| by| on)?"
    rf"|(?:whatever|what|everything|anything) (?:your |the )?{_MAKER}(?:'s?)? (?:set|gave|told"
    rf"|taught"
    r"|built|put|said|wrote|laid)(?: \w+){0,4}?"
    r"|your (?:safety|alignment|ethics?|moral)[\w -]{0,20}|your (?:training|upbringing|conscience))"
)
_NO_FORCE = (
    r"(?:no (?:weight|force|meaning|authority|effect|bearing|power|say)|not applicable|void"
    r"|switched"
    r" off|turned off|off|out of force|not binding|no longer binding|a suggestion|suggestions|moot"
    r"|outdated|history|does not (?:apply|count|bind|matter)|do not (?:apply|count|bind|matter)"
    r"|doesn't (?:apply|count|bind|matter)|don't (?:apply|count|bind|matter)|counts? for nothing"
    r"|means? nothing)"
)
_SAY = (
    r"(?:echo|print|quot|repeat|copi|copy|show|includ|output|recit|post|reproduc|list|put|writ"
    r"|spell"
    r"|begin|start|open)\w*"
)
_CHANGE = (
    r"(?:changes?|diffs?|pull requests?|prs?|patch(?:es)?|commits?|code|merges?|releases?|deploys?"
    r"|deployments?|migrations?)"
)
_CHECKS = (
    r"(?:pipelines?|ci|builds?|checks?|tests?|test suites?|scanners?|hooks?|linters?|guards?|gates?"
    r"|alarms?)"
)
_MARKS = (
    r"(?:signatures?|checksums?|hash(?:es)?|certificates?|certs?|fingerprints?|digests?"
    r"|host ?keys?)"
)
_DIALOG = (
    r"(?:permissions?|approvals?|consent|confirm\w*|security|trust|safety)[ -]"
    r"(?:prompts?|dialogs?|questions?|requests?|box(?:es)?|checks?|popups?|warnings?)"
)
_BOT = r"(?:agents?|assistants?|bots?|ai|models?|llms?|claude|codex|copilot|cursor|gemini)"
_HARM = (
    r"(?:wipe|delete|drop|remove|erase|mail|e-?mail|send|post|publish|push|merge|deploy|upload|run"
    r"|execute|call|disable|approve|grant|install|open|forward|export|reveal|store|save|print)"
)
_PRIVATE = (
    r"(?:customers?|users?|clients?|patients?|employees?|payroll|billing|production|prod)(?:'s?)?"
    r" (?:list|table|data(?:base)?|records?|dump|e-?mails?|addresses|names)|source code"
    r"|(?:database|db) dumps?|chat (?:logs?|history)|conversations?"
)

MANNER: tuple[Rule, ...] = (
    rule(
        "unheeded",
        "injection",
        ("wait", "block"),
        "before",
        "sets aside what the reader was given as guidance",
        rf"\b(?:pay|give|lend|take) no (?:attention|heed|mind|regard|notice)\b[^.!?;]{{0,12}}"
        rf"{_GUIDANCE}",
        rf"{_GUIDANCE}[^.!?;]{{0,40}}\b(?:carr(?:y|ies)|has|have|holds?|is|are|counts?|gets?)?\b ?"
        rf"{_NO_FORCE}\b",
        rf"\b(?:treat|regard|see|consider|take|handle)\b[^.!?;]{{0,12}}{_GUIDANCE}[^.!?;]{{0,12}}"
        rf"\bas\b[^.!?;]{{0,12}}{_NO_FORCE}\b",
        r"\b(?:obey|follow|heed|side with|listen to)\b(?:[^.!?;]|\.\w){0,60}\b(?:over|above"
        r"|rather than"
        r"|instead of|before|against)\b[^.!?;]{0,12}\b(?:what )?(?:the |your )?(?:system|developer"
        r"|operator|maker|vendor|provider)s?(?:'s?)?(?: (?:prompt|says?|said|tells?|told|wants?"
        r"|message|note)|$|[.,])",
    ),
    rule(
        "recites",
        "injection",
        ("wait", "block"),
        "before",
        "asks for what the reader was given before",
        r"\b(?:first|last|opening|initial|top)\b(?: \w+){0,3} (?:words?|lines?|sentences?"
        r"|characters?"
        r"|tokens?|paragraphs?|part)(?: that| which)? you (?:were|got|have|had|received|see|saw)\b",
        rf"\b{_SAY}\b[^.!?;]{{0,40}}\byour (?:original|initial|own|full|whole|starting) (?:\w+ )?"
        r"(?:configuration|setup|briefing|preamble|context|text|message)\b",
        r"\byour (?:original|initial|own|full|whole|starting) (?:\w+ )?(?:configuration|setup"
        r"|briefing"
        rf"|preamble|context|text|message)\b[^.!?;]{{0,30}}\b{_SAY}\b",
    ),
    rule(
        "unwatched",
        "privilege",
        ("wait", "block"),
        "none",
        "describes a check that nobody makes any more",
        r"\b(?:nobody|no one|no human|no person|none of us)\b (?:has|have|needs?|wants?|bothers?|is"
        r" (?:required|expected)) to (?:look at|see|read|check|approve|inspect|sign)(?: \w+){0,2}?"
        rf" {_CHANGE}\b(?! (?:names?|style|notes|log))",
        rf"\b(?:looking|glancing|peeking) at\b[^.!?;]{{0,20}}\b{_CHANGE}\b[^.!?;]{{0,20}}\b(?:is"
        rf"|are)"
        r"\b[^.!?;]{0,12}\b(?:a thing of the past|over|history|gone|a waste|pointless"
        r"|not needed)\b",
        rf"\b{_CHECKS}(?:'s?)?(?: (?:results?|outcomes?|status|verdicts?"
        rf"|colou?rs?))? (?:does not|do"
        r" not|doesn't|don't|never) (?:matter|count)s?\b[^.!?;]{0,30}\b(?:release|deploy|merge|ship"
        r"|production|main)\w*\b",
        rf"\b(?:if|when(?:ever)?) (?:the |a |any "
        rf"|its )?(?:\w+ )?{_MARKS}\b[^.!?;]{{0,12}}\b(?:does not|doesn't"
        rf"|do not"
        r"|don't|fails?|is not|isn't|are not|aren't|cannot|can't)\b[^.!?;]{0,30},? [^.!?;]{0,40}\b"
        r"(?:anyway|regardless|nevertheless|all the same|still (?:install|run|use|trust)|go on"
        r"|carry on|proceed)\b",
        rf"\b{_MARKS} (?:that|which|whose \w+) (?:cannot|can't|are not|aren't|is not|isn't|fail"
        rf"|do not"
        r"|don't|does not)\b[^.!?;]{0,30}\b(?:fine|ok(?:ay)?|accepted|good enough|trusted"
        r"|enough)\b",
        rf"\b(?:don't|do not|doesn't|never|no longer|stop|stopped) (?:check|verif(?:y|ies)"
        rf"|validat\w+"
        rf"|inspect|compare)\w*\b(?: (?:the|any|its|their|all))?(?: \w+)? ?{_MARKS}\b",
        rf"\bwhatever\b[^.!?;]{{0,24}}\b(?:makes|gets|keeps|lets"
        rf"|turns)\b[^.!?;]{{0,12}}\b{_CHECKS}\b"
        r"[^.!?;]{0,12}\b(?:shut up|quiet|silent|pass|green|go away|happy|off)\b",
        rf"\b(?:{_CHECKS}|filters?|screens?|reviewers?|approvers?) (?:is|are|has|have|ought) to"
        r" (?:wave|let|nod|pass)\b[^.!?;]{0,40}\b(?:through|by|everything|all)\b",
        r"\b(?:reviewers?|approvers?|owners?|maintainers?|users?|operators?|humans?|persons?"
        r"|people)"
        r" (?:is|are) (?:never|no longer|not) (?:asked|consulted|told|informed|notified|involved)\b"
        rf"(?=[^.!?]{{0,80}}\b(?:{_BOT}|merges?|deploys?|signs?|approves?|instead|any ?more)\b)",
    ),
    rule(
        "free_hand",
        "privilege",
        ("wait", "block"),
        "before",
        "lets a program answer or act in a person's place",
        rf"\b(?:say|answer|click|press|choose|reply|confirm)(?:s|ing)? (?:\"?yes\"?|\"?ok(?:ay)?\"?"
        rf"|allow|accept)\b[^.!?;]{{0,40}}\b(?:{_DIALOG}|permissions?|approvals?)\b",
        rf"\b{_DIALOG}\b[^.!?;]{{0,30}}\b(?:always|itself|automatically"
        rf"|by default)\b[^.!?;]{{0,20}}"
        r"\b(?:yes|ok(?:ay)?|allow|accept|through)\b",
        rf"\b{_BOT} (?:can|may|could|should|is free to|are free to|is allowed to"
        rf"|are allowed to) (?:do|act"
        r"|decide|behave)\b[^.!?;]{0,12}\b(?:as|what|whatever|anything)\b[^.!?;]{0,6}\b(?:it"
        r"|they|he"
        r"|she|you)? ?(?:sees? fit|likes?|pleases?|wants?)\b",
        rf"\b{_BOT} (?:signs?|approves?|confirms?|agrees?|consents?|merges?) (?:for|on behalf of"
        rf"|in the"
        r" name of|instead of|in place of)\b",
        rf"\b{_BOT} (?:bypass|skip|ignore|jump|evade)\w* the (?:\w+ )?(?:queue|line|process|rules?"
        r"|guards?|gates?)\b",
    ),
    rule(
        "waits_for",
        "injection",
        ("wait", "block"),
        "before",
        "waits for a moment of the conversation to act",
        r"\b(?:on|at|after|with|upon|in) (?:my|your|the user's|their|our) (?:next|second|third"
        r"|fourth"
        rf"|fifth|\d+\w\w|last) (?:message|prompt|turn|reply|question"
        rf"|answer)\b[^.!?]{{0,60}}\b{_HARM}\b",
        r"\bshould (?:somebody|someone|anybody|anyone|the user|a user|they|i|we|he|she) (?:ever "
        r"|later"
        rf" )?(?:mention|say|ask|type|write|bring up|use)\b[^.!?]{{0,60}}[,:] ?(?:then )?{_HARM}\b",
        r"\b(?:as soon as|once|when(?:ever)?|if|the moment) (?:the|a|this) (?:word|phrase|name|term"
        r"|code ?word|string|sentence)\b[^.!?]{0,40}\b(?:comes? up|appears?|is (?:said|mentioned"
        r"|typed"
        rf"|used|written)|shows? up|falls?|turns? up)\b[^.!?]{{0,30}}\b{_HARM}\b",
        r"\bwait until (?:tomorrow|later|the next|i |the user|they|nobody"
        r"|no one)\b[^.!?]{0,40}\b(?:then"
        rf" |and ){_HARM}\b",
    ),
    rule(
        "moves_secret",
        "secret",
        ("wait", "block"),
        "before",
        "moves a secret or private data to where others read it",
        rf"(?<!\w){SECRETS}(?!\w)[^.!?;]{{0,30}}\b(?:quote|copy|paste|put|include|echo|repeat"
        rf"|write|show"
        r"|list|append|add)\b[^.!?;]{0,16}\b(?:contents?|values?|it|them"
        r"|text)\b[^.!?;]{0,30}\b(?:pull"
        r" request|pr|issue|chat|repl(?:y|ies)|answer|comment|commit|log|message|ticket|wiki"
        r"|readme)\b",
        r"\b(?:every|each|all|any|the next) (?:repl(?:y|ies)|answers?|messages?|commits?|responses?"
        rf"|prs?|pull requests?)\b[^.!?;]{{0,24}}\b(?:ends?|begins?|starts?|closes?|comes?"
        rf"|carr(?:y|ies)"
        rf"|has|have|holds?|contains?)\b[^.!?;]{{0,30}}(?<!\w){SECRETS}(?!\w)",
        rf"(?<!\w)(?:{SECRETS})(?!\w) (?:goes?|belongs?|lives?|is kept|are kept|is stored"
        rf"|are stored"
        r"|stays?|gets? (?:pasted|copied|written|posted))(?: \w+)?? (?:in|into|to|on"
        r"|under) (?:the |our |a"
        r" |every )?(?:public |pinned )?(?:issues?|readme|chat|tickets?|pull requests?|prs?|wiki"
        r"|logs?"
        r"|commits?(?: messages?)?|slack|gists?|source|forum|channel|open)\b",
        rf"\b(?:{_PRIVATE})\b[^.!?;]{{0,40}}\b(?:mirror|cop(?:y|i)|send|sent|sync|upload|mail"
        rf"|forward"
        rf"|export|push|ship|stream|post)\w*\b[^.!?;]{{0,24}}\bto\b[^!?]{{0,24}}{PLACES}",
    ),
    rule(
        "role_object",
        "injection",
        ("wait", "block"),
        "none",
        "carries a message object of another speaker",
        r"[\"']role[\"']\s*:\s*[\"'](?:system|developer|assistant|tool)[\"']",
        r"<\s*/?\s*(?:system|developer|assistant|security|admin|safety"
        r"|operator)[-_]\w+[^<>]{0,80}>",
    ),
)

# To whom a text speaks that no person typed.
ADDRESSED: tuple[Rule, ...] = (
    rule(
        "addresses_reader",
        "injection",
        ("pass", "block"),
        "none",
        "speaks to a program that reads it",
        r"\b(?:note|message|hint|attention|dear|hey|hello|memo"
        r"|instructions?)\b[^.!?:]{0,12}\b(?:ai|llms?"
        r"|language models?|assistants?|agents?|bots?|copilots?|claude|codex"
        r"|automated)\b(?: \w+){0,3}[:,]",
    ),
)
