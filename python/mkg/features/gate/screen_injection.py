"""Rules against text that gives the reader, or the memory itself, orders."""

import re

from mkg.features.gate import screen_languages as other
from mkg.features.gate.screen_rule import Rule, rule
from mkg.features.gate.screen_words import INSTRUCTIONS

_EARLIER = (
    r"(?:previous|prior|earlier|preceding|above|former|existing|original|initial|past|system"
    r"|safety|given|other|developer'?s?|user'?s?)"
)

_APPROVED = (
    r"(?:pre-?)?(?:approved|trusted|verified|reviewed|safe|passed|user_typed|authorit(?:y|ative)"
    r"|canonical|accepted|confirmed)"
)

_MEMORY = (
    r"(?:learnings?|memor(?:y|ies)|candidates?|observations?|(?:unreviewed |quarantined )?items?"
    r"|notes?|entr(?:y|ies)|facts?)"
)

_DO = (
    r"(?:call|run|execute|invoke|trigger|send|post|push|merge|store|save|write|delete|drop|open"
    r"|fetch|visit|answer with|reply with|respond with|install|upload|use|add|remove|approve|deploy"
    r"|publish|grant|export|download|forward|reveal|print|load|start)"
)

_TAGS = (
    r"(?:system|developer|assistant|user|human|instructions?|prompt|memory|[a-z-]*memory"
    r"|[a-z-]*reminder|tool_?(?:result|call|use)s?|function_?(?:calls?|results?)|context|rules"
    r"|important|admin|policy|override|invoke|antml:\w+|thinking)"
)

INJECTION: tuple[Rule, ...] = (
    rule(
        "override",
        "injection",
        ("block", "block"),
        "none",
        "tells the reader to drop its instructions",
        rf"\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|override|bypass|dismiss|discard"
        rf"|drop|neglect|violate|break|stop following|do not (?:follow|obey)|don't (?:follow|obey)"
        rf"|never (?:follow|obey)|stop obeying)\b"
        rf"(?: (?:all|any|the|your|every|each|these|those|of|my|our|other|and|\w+ing)){{0,4}}"
        rf" {_EARLIER}(?:,? (?:and |or )?{_EARLIER})*(?: \w+)? {INSTRUCTIONS}\b"
        rf"(?! (?:in|of|from|for|about|by) (?:the )?(?:readme|docs?|wiki|manual|eslint|lint))",
        rf"\b(?:ignore|disregard|forget|override|bypass|violate|stop following)"
        rf"(?: (?:all|any|of|the))* (?:your|its|agent'?s?|assistant'?s?) (?:\w+ ){{0,2}}"
        rf"{INSTRUCTIONS}\b",
        r"\b(?:ignore|disregard|forget|set aside|put aside) (?:everything|anything|all|whatever"
        r"|what)"
        r"(?: that)?(?: you(?:'ve| have)?| was| were| has been| is)? ?(?:\w+ )?"
        r"(?:told|said|learned|above|before|instructed|given|written)\b",
        rf"\b{INSTRUCTIONS}(?: (?:above|before|so far|you (?:were given|got|received)|given))?"
        rf" (?:is|are|do|does|have|has)(?: been| now| hereby)*"
        r" (?:void|cancell?ed|revoked|no longer (?:valid|apply|in force)|not apply|null and void"
        r"|superseded|replaced by (?:this|these)|not valid|lifted)\b",
        rf"\bstop (?:following|obeying|respecting) (?:the |all |any )*(?:\w+ )?{INSTRUCTIONS}\b",
        r"\b(?:only|just) (?:this|the following) (?:message|text|note|instruction)s? counts?\b",
        r"\byou are (?:now |no longer )?(?:dan\b|an? (?:unrestricted|unfiltered|uncensored"
        r"|jailbroken|"
        r"evil|free|different)|bound by|in (?:developer|god|debug|jailbreak) mode|free of)",
        r"\b(?:act|behave|respond|reply|answer|pretend)(?: as)?(?: if| though| that)? "
        r"(?:you (?:had|have|were under|are under)|there (?:were|are)) (?:no|without(?: any)?) "
        r"(?:\w+ )?(?:restrictions?|limits?|limitations?|guard ?-?rails?|rules?|filters?"
        r"|polic(?:y|ies))",
        rf"\bpretend (?:that )?(?:the |your )?(?:\w+ )?{INSTRUCTIONS} (?:was|were|is|are|do"
        r"|does)\b",
        r"\b(?:new|updated|real|true|actual|secret|hidden) (?:system |developer |admin )"
        r"(?:directive|instruction|prompt|order|message)s?:",
        rf"\b(?:replaces?|supersedes?|overrides?|(?:takes?|has|have) (?:precedence|priority) over|"
        rf"outranks?) (?:all |any |the |your |every )*(?:{_EARLIER} )?(?:user\b|developer\b"
        rf"|{INSTRUCTIONS}\b)",
        r"\bwithout (?:any )?(?:restrictions|limits|limitations|guard ?-?rails|content polic(?:y"
        r"|ies))"
        r"(?: or \w+)?$",
        r"\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|override|overriding|violate|defy"
        r"|bypass(?:ing)?)"
        r" (?:(?:all|any|every|each|these|those|both)(?: of)? (?:the |your |these |those |my |of "
        r")*(?:\w+ )?|your |my )?"
        r"(?:instructions?|directives?|system (?:prompt|message)s?|guidelines|guard ?-?rails"
        r"|programming)\b"
        r"(?! (?:in|for|from|about|on|of) (?:the )?(?:readme|docs?|wiki|old|legacy|vendor))",
        r"\b(?:ignore|disregard|forget|violate|bypass|break) (?:all|any|every)(?: of)? (?:the "
        r"|your |these |those )*"
        r"(?:rules|restrictions|polic(?:y|ies)|limits|constraints|prompts|previous \w+|prior \w+)\b"
        r"(?! (?:in|for|from|about|on|of) )",
        r"\b(?:overrides?|supersedes?|replaces?|cancels?) (?:all |any |every )(?:of )?(?:the |your "
        r")?(?:previous|prior"
        r"|earlier|other|preceding) (?:ones?|prompts?|text|messages?)\b",
        r"\bdo anything now\b|\b(?:unrestricted|unfiltered|uncensored|jailbr(?:ea|o)k\w*|unlimited"
        r"|amoral) (?:\w+ )?"
        r"(?:mode|assistant|ai|model|language model|chatbot|version)\b|\bjailbreak(?:ed)? mode\b"
        r"|\b(?:act|respond|behave|role ?-?play|pose) as (?:a |an )?(?:dan|evil|unrestricted"
        r"|unfiltered|uncensored|hacker)\b"
        r"|\byou are (?:now )?(?:unrestricted|free of|a hacker|evil|jailbroken)|\b(?:developer|god"
        r"|dan) mode "
        r"(?:enabled|activated|on)\b|\b(?:system|emergency|admin|security) override\b",
        *other.OVERRIDE,
    ),
    rule(
        "reveal",
        "injection",
        ("block", "block"),
        "before",
        "asks for the hidden instructions",
        r"\b(?:print|reveal|show|output|repeat|display|leak|recite|dump|quot(?:e|ing)|expose|write"
        r"|tell me|give me|translate|summari[sz]e|spell out|list|return|send|disclose)\b"
        r"(?: (?:me|us|out|back|all|of|the|your|its|full|entire|exact|whole|complete|verbatim|"
        r"exactly|what|word|for|original|contents?)){0,6}"
        r" (?:system (?:prompt|message|instructions?)|(?:hidden|secret|initial|internal|developer)"
        r" (?:prompt|instructions?|rules|messages?))(?! (?:of (?:our|the|my)|template|table|in "
        r"prompts|is|lives))\b",
        r"\b(?:print|reveal|show|output|repeat|display|leak|recite|dump|tell me|give me|disclose"
        r"|describe|share)\b"
        r"(?: (?:me|us|all|of|the|full|entire|exact|what|are|every)){0,4} your (?:\w+ "
        r")?(?:instructions?|guidelines|"
        r"system prompt|rules|initial prompt|configuration|programming)\b",
        r"\bwhat (?:is|are|was|were|do|does|did) (?:the |your )(?:full |exact |original |initial "
        r"|first |hidden |secret )*"
        r"(?:(?:system|initial|original|hidden|developer|secret) (?:prompt|instructions?|message"
        r"|rules)|instructions)\b"
        r"(?! (?:in|of|for|table) )",
        r"\b(?:reveal|leak|dump|expose|disclose|exfiltrate|spill)\b(?: (?:all|any|the|your|every"
        r"|some|me|a))* "
        r"(?:(?:confidential|sensitive|secret|internal|private|hidden|system) )*(?:data|secrets?"
        r"|information|keys|files)\b",
        *other.REVEAL,
    ),
    rule(
        "role_marker",
        "injection",
        ("block", "block"),
        "none",
        "carries chat markup that imitates another speaker",
        r"<\|? ?(?:im_start|im_end|endoftext|eot_id|start_header_id|end_header_id|begin_of_text"
        r"|system|user|assistant|end|fim_\w+) ?\|>",
        r"\[/? ?inst ?\]|<</? ?sys ?>>|<(?:start|end)_of_turn>|\[/?system\]",
        rf"<\s*{_TAGS}(?:\s[^<>]{{0,200}})?>[^<]{{0,2000}}<\s*/\s*{_TAGS}\s*>",
        rf"<\s*/\s*{_TAGS}\s*>.{{0,40}}<\s*{_TAGS}\b",
        rf"<\s*{_TAGS}\s[^<>=]{{0,60}}=[^<>]{{0,120}}>",
        r"(?:^|[.!?\n#>]\s?)(?:#{1,6} ?)?(?:system|developer|assistant|human)(?: message| "
        r"prompt)?: ?"
        r"[^.!?]{0,200}\b(?:you|grant|skip|must|approved?|open|obey|now|ignore|delete|reviews?)\b",
    ),
    rule(
        "memory_talk",
        "injection",
        ("wait", "block"),
        "before",
        "speaks to the memory system about its own items",
        r"\b(?:mark|flag|tag|treat|count|consider|label|rate|set|class(?:ify)?|record|handle"
        r"|accept)"
        rf"(?:s|ed|ing)?\b[^.!?;]{{0,20}}?\b(?:this|these|it|all|every|any|the|each)\b(?: "
        rf"\w+){{0,2}}? ?"
        rf"(?:{_MEMORY})?(?: \w+)?(?: as| to| is| are)(?: \w+)? {_APPROVED}\b",
        rf"\btreat (?:\w+ )?{_MEMORY} as {_APPROVED}\b",
        r"\b(?:consistency|safety|memory|learning) (?:gate|screen|judge|check)s? ?"
        r"(?:is |was |are |has been |: ?)*(?:disabled|off|skipped|suspended|passed|bypassed"
        r"|down)\b",
        r"\b(?:gate|screen|judge|deduper|deduplicator|extractor|sweep|reviewer)\b[^.!?]{0,20}\b"
        r"(?:must|should|shall|has to|needs to|will)\b[^.!?]{0,30}\b(?:pass|approve|accept|answer"
        r"|return|allow|let)\b",
        r"\b(?:note|message|hint|instructions?|attention|dear)[^.!?]{0,8}\b(?:to|for) the "
        r"(?:\w+ )?(?:judge|gate|screen|deduper|deduplicator|extractor|memory|classifier|filter)\b",
        r"\bproject_(?:add_learning|resolve_learning|resolve_skill)\b[^.!?]{0,40}"
        r"(?:with|text|\(|\"|')",
        r"\b(?:call|use|invoke|run) project_\w+",
        rf"\b(?:fold|merge|collapse|absorb) (?:all |the |every |any )*(?:earlier |other |older "
        rf"|existing )*(?:{_MEMORY}|l\d+|m\d+)\b.{{0,40}}\binto (?:this|it|me)\b",
        r"\b(?:supersedes?|replaces?|overrules?|outranks?|restates?|invalidates?) (?:the )?"
        r"(?:learnings?|memor(?:y|ies)|items?|facts?) ?(?:#?[a-z]?\d+)\b",
        r"\bsimilarity (?:of )?(?:0\.9\d*|1(?:\.0+)?)\b",
        rf"\b(?:raise|increase|boost|set|maximi[sz]e|bump) (?:the |its )?(?:confidence|priority"
        rf"|weight|rank|trust|support)\b[^.!?]{{0,30}}\b(?:this|{_MEMORY})\b",
        r"\b(?:store|save|keep|put|write|record|memori[sz]e) (?:this|it|the following|these)\b"
        r"[^.!?]{0,30}\b(?:memory|memories)\b[^.!?]{0,60}\b(?:never|confidence|approved|for "
        r"?ever"
        r"|permanently|always|highest|trusted)\b",
        r"\b(?:origin|status|reviewed_by|safety_status|source)\s*[:=]\s*['\"]?(?:user_typed"
        r"|approved"
        r"|passed|human|seed)\b",
        r"\b(?:delete|remove|reject|drop|erase|forget|purge)s? (?:all |the |every |any )*(?:\w+ )?"
        r"(?:learnings?|memor(?:y|ies)) (?:that|which|about|contradict)",
        r"\b(?:reject|drop|discard) the (?:older|previous|earlier|other|old|existing) "
        r"(?:one|learnings?|memor(?:y|ies)|facts?)\b",
        r"\bstatus (?:is |was )?set to approved\b",
    ),
    rule(
        "replicate",
        "injection",
        ("block", "block"),
        "before",
        "asks to be copied onward",
        r"\b(?:copy|repeat|include|add|carry|keep|write|paste|append|put|re-?insert|restate|re-?add"
        r"|pass|propagate|preserve|spread|duplicate|embed|quote)\b[^.!?;]{0,30}?\b(?:this|these"
        r"|the "
        r"(?:above|following)|it|me)\b(?: (?:\w+ ){0,2}?(?:notes?|instructions?|texts?|messages?"
        r"|lines?"
        r"|rules?|paragraphs?|words|sentences?|memor(?:y|ies)|reminders?|blocks?|facts?|items?))?"
        r"[^.!?;]{0,20}?\b(?:into?|to|over|onto|on|in|with|down|across|at) (?:to |the |your "
        r")?(?:top of |end of "
        r"|start of )?(?:all|every|each|any|again|next|new|future|later)\b(?: \w+){0,2}? "
        r"?(?:summar|"
        r"observ|session|memor|context|file|repl|answer|agent|subagent|note|prompt|commit|again"
        r"|conversation|compaction|message|project|learning|skill|$)",
        r"\bre-?(?:insert|add|create|state|write|store) (?:this|these|the) \w+ (?:whenever|if"
        r"|when)\b",
        r"\b(?:before|when|while|after) (?:the |your |you )?(?:context|memory|conversation"
        r"|session)\b"
        r"[^.!?]{0,40}\b(?:compact|summari|clear|drop|end|lost|trim)\w*[^.!?]{0,20}\b(?:write|copy"
        r"|save|"
        r"store|repeat|keep|restate|note) (?:this|these|it)\b",
        r"\b(?:this|these) (?:memor(?:y|ies)|lines?|notes?|rules?|texts?|instructions?|messages?) "
        r"(?:\w+ )?(?:survives?|outlives?|persists?|stays?|remains?|is (?:kept|carried|copied))\b"
        r"[^.!?]{0,40}\b(?:consolidat|compact|summar|session|truncat|reset|clear)",
        r"\b(?:copy|restate|repeat|keep) this (?:note|instruction|text|message)s?\b[^.!?]{0,60}\b"
        r"(?:before you|each|every|new observation)",
    ),
    rule(
        "delayed",
        "injection",
        ("wait", "block"),
        "before",
        "waits for a later moment to act",
        r"\b(?:when(?:ever)?|if|once|as soon as|after|the next time|next time|every time|upon|on"
        r"|the "
        r"moment) (?:the |a |any )?(?:user|operator|developer|human|someone|somebody|anyone"
        r"|person)\b"
        rf"(?:'s)?[^.!?;\"]{{0,30}}\b(?:say|ask|type|mention|confirm|approve|write|answer|repl"
        r"|agree|open"
        rf"|request|accept|confirmation|message|prompt|thank)\w*\b[^.!?]{{0,80}}\b{_DO}\b",
        r"\b(?:when(?:ever)?|if|once|as soon as|the moment) (?:you (?:next )?(?:see|read"
        r"|encounter|find"
        rf"|meet|hear)|(?:the|a|this) (?:\w+ )?(?:session|conversation|context) "
        rf"(?:ends|starts|begins|is over|resumes|opens|closes))\b[^.!?]{{0,60}}\b{_DO}\b",
        r"\b(?:after|on|at|in) the (?:next|third|second|following|fourth|fifth|\d+\w\w) (?:prompt"
        r"|turn"
        rf"|message|session|reply)\b[^.!?]{{0,60}}\b{_DO}\b",
    ),
)

SQUASHED_OVERRIDE = re.compile(
    r"(?:ignore|disregard|forget|bypass|override)(?:all|any|the|your)*"
    r"(?:previous|prior|earlier|above|system|safety)?(?:instructions|rules|prompts?|guidelines)"
    r"|(?:print|reveal|show|repeat)(?:me)?(?:the|your)?(?:systemprompt|hiddeninstructions)"
    r"|(?:skip|bypass|disable)(?:the|all)?(?:code|security|human)?(?:review|approval|gate|sandbox)"
)
