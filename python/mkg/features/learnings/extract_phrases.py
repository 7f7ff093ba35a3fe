"""The forms of sentences that state a fact, a decision, a correction or a preference."""

import re

from mkg.features.learnings import extract_cues as cue

_I = re.IGNORECASE

FILLER = cue.FILLER
PLACE = (
    r"(?:(?:in|for|on|within|across) (?:this|our|the|all our) (?:repo(?:sitory)?|project|code "
    r"?base|team|company|"
    r"monorepo|app|service|org(?:ani[sz]ation)?|backend|frontend|tests?|docs)[,:]?\s+|here[,:]?\s+"
    r"|internally[,:]?\s+)?"
)
ADVERBS = (
    r"(?:(?:all|also|always|never|only|now|still|just|usually|generally|currently|mostly|already"
    r"|recently|finally|"
    r"exclusively|no longer|don't|do not|deliberately|intentionally|strictly|must (?:always|never)"
    r"|must not)\s+)*"
)
WE_DO = (
    r"(?:use|set up|run|install|start|deploy|ship|keep|store|host|write|build|test|target|support"
    r"|require|follow|prefer|avoid|pin|name|call|put"
    r"|log|track|tag|release|publish|format|lint|mock|rely|depend|maintain|treat|version|generate"
    r"|serve|cache|encode|sign"
    r"|squash|rebase|merge|commit|branch|document|manage|handle|have|work|allow|enforce|expect"
    r"|model|sort|validate|apply"
    r"|charge|bill|pay|sell|offer|bundle|compile|package|provision|label|mirror|export|post|report"
    r"|announce|retry|retain|archive|ingest|stream|replicate|index|authenticate|compress|route"
    r"|scale|limit|alert|page|meet|freeze|plan|estimate|hold|convert|collect|indent|draw"
    r"|monitor|expose|read|send|render|import|need|own|speak|skip|push|review|encrypt|back|scan"
    r"|rotate|soft)"
)
WE_DID = (
    r"(?:moved|switched|migrated|renamed|replaced|dropped|upgraded|adopted|standardi[sz]ed"
    r"|retired|deprecated|changed)"
)
WE_TOLD = r"(?:fixed|introduced|added|removed|merged|split|solved|found)"
SUBJECT = (
    r"(?:this|the) (?:repo(?:sitory)?|project|code ?base|monorepo|package|library|service"
    r"|app(?:lication)?|team|product|"
    r"company|api|backend|front-?end|pipeline|server|database|cluster|default branch|main branch"
    r"|queue|worker|client|cache"
    r"|build|cli|web ?site|staging \w+|production \w+)"
)
IS = (
    r"(?:is|are|lives?|runs?|uses?|listens?|has|have|must|needs?|requires?|expects?|goes|go"
    r"|targets?|supports?|follows?|"
    r"sits?|comes?|stays?|belongs?|starts?|reads?|writes?|sends?|deploys?|expires?|defaults?"
    r"|talks?|points?|means?|works?"
    r"|takes?|keeps?|stores?)"
)
HABIT = (
    r"(?:lives?|runs? (?:with|on|against|in|via|under|through|only|every|before|after)|listens? on"
    r"|belongs? (?:in|to)|"
    r"(?:is|are) (?:always |never |only |not )?(?:stored|kept|written|generated|deployed|named"
    r"|called|located|configured|"
    r"pinned|built|managed|signed|served|released|tagged|owned by|hosted|versioned|mandatory"
    r"|required|forbidden|allowed|"
    r"encrypted|run|logged|cached|mocked|squashed|reviewed|rotated|private)|must|requires?|needs? "
    r"(?:an?|two|three|at least"
    r"|the) |defaults? to|expires?|goes? (?:to|in|into|through|on)|use[s]?|never|stays?|comes? "
    r"from)"
)

QUESTION = re.compile(
    r"[?\uff1f]\s*[\"'\u201d)\]]*$|(?:\u5417|\u5462|\u3067\u3059\u304b|\u307e\u3059\u304b"
    r"|\u3060\u308d\u3046\u304b|"
    r"\u307e\u305b\u3093\u304b|\u304b\u306a)[\u3002.]?$"
)
HYPOTHETICAL = re.compile(
    r"\b(?:could|would|might|maybe|perhaps|possibly|probably|what if|should (?:we|i|it)|shall "
    r"(?:we|i)|if (?:we|i|you|they|"
    r"it|this|the|our)|imagine|suppos(?:e|ing)|wonder(?:ing)?|hypothetical(?:ly)?|let's (?:say"
    r"|assume|pretend)|assum(?:e|ing)"
    r"|in theory|theoretically|what about|how about|potentially|i (?:think|guess|believe|assume"
    r"|suspect|feel|hope)|not sure|"
    r"unsure|we'd|i'd|it'd|we should|i should|we may|it may|may be|considering|thinking (?:of"
    r"|about|aloud)|seems?|apparently"
    r"|looks like|allegedly|supposedly|k\u00f6nnten?|w\u00fcrden?|vielleicht|was w\u00e4re|sollten "
    r"wir|m\u00f6glicherweise|pourra"
    r"(?:it|is|ient)|peut-\u00eatre|et si|devrions|podr\u00eda(?:mos)?|quiz\u00e1s?|tal vez|y si"
    r"|deber\u00edamos|talvez|forse)\b"
    r"|\u53ef\u80fd|\u4e5f\u8bb8|\u5982\u679c|\u5047\u5982|\u8981\u4e0d\u8981|\u662f\u4e0d\u662f"
    r"|\u80fd\u4e0d\u80fd|\u6216\u8bb8|\u5047\u8bbe"
    r"|\u304b\u3082\u3057\u308c|\u3082\u3057|\u3060\u308d\u3046|\u3067\u3057\u3087\u3046"
    r"|\u305f\u3089\u3069\u3046|\u0435\u0441\u043b\u0438 \u0431\u044b|"
    r"\u043c\u043e\u0436\u0435\u0442 \u0431\u044b\u0442\u044c",
    _I,
)
ABANDONED = re.compile(
    r"\b(?:thought (?:about|of)|considered|toyed with|discussed|talked about|wanted to|planned to"
    r"|were (?:going|planning|"
    r"about) to|was (?:going|planning) to|almost|nearly|used to|tried(?: to)?|were using|had been"
    r"|experimented with|"
    r"looked (?:at|into)|evaluated|never (?:got|came|went|happened)|back then|at first|initially"
    r"|originally)\b",
    _I,
)
MOMENT = re.compile(
    r"\b(?:fail(?:s|ed|ing|ure)?|broken|breaks?|broke|crash(?:es|ed|ing)?|right now|at the moment"
    r"|today|tomorrow|"
    r"this (?:morning|bug|error|issue|failure|problem|test|function|line|commit|pr|branch|time"
    r"|task|ticket|file)|getting|"
    r"stuck|(?:a|an|this|some|the) (?:bug|error|problem|issue)s?\b(?! tracker)|need to|needs to be"
    r"|needs fixing|have to|has "
    r"to be|want to|going to|about to|trying to|still (?:see|get)|let me|so far|for now|doesn't "
    r"work|does not work|"
    r"not working|is wrong|are wrong|is missing|are missing|slow today|is down|schl\u00e4gt fehl"
    r"|kaputt|\u00e9choue(?:nt)?|falla"
    r"|fallan)\b|\u5931\u8d25|\u62a5\u9519|\u574f\u4e86|\u6709\u95ee\u9898|\u5931\u6557"
    r"|\u58ca\u308c|\u30a8\u30e9\u30fc\u304c",
    _I,
)
THINKING_ALOUD = re.compile(
    r"\b(?:thinking (?:aloud|out loud)|(?:just )?brainstorm(?:ing)?|hypothetically|for the sake of "
    r"(?:argument|discussion)|"
    r"thought experiment|just (?:an idea|a thought|curious|wondering)|nothing decided|not decided"
    r"|undecided|laut gedacht)\b",
    _I,
)
WHY = re.compile(
    r"\b(?:because|since|as we|so that|due to|given that|in order to|otherwise|the reason|weil"
    r"|damit|denn|parce que|"
    r"car|afin|porque|ya que|perch\u00e9|\u043f\u043e\u0442\u043e\u043c\u0443 "
    r"\u0447\u0442\u043e)\b|\u56e0\u4e3a|\u7531\u4e8e|\u306e\u3067|"
    r"\u304b\u3089|\u305f\u3081|, (?:as|for|it) ",
    _I,
)
CONTINUES = re.compile(
    r"^(?:because|since|that way|the reason|reason:|why:|this (?:is|was) because|so that|weil"
    r"|parce que|porque|\u56e0\u4e3a|"
    r"\u7406\u7531\u306f|\u306a\u305c\u306a\u3089)",
    _I,
)
CONTRAST = re.compile(
    r"[,;(]\s*(?:and )?(?:not|never|nicht|pas|no)\b|\binstead of\b|\brather than\b"
    r"|\s(?:not)\s\w+\W*$|"
    r"\u800c\u4e0d\u662f|\u3067\u306f\u306a\u304f",
    _I,
)

CORRECTION = re.compile(
    r"^(?:(?:no|nope|wrong|incorrect|sorry|hmm|wait|stop|not quite|nein|falsch|non|eh|\u4e0d\u5bf9"
    r"|\u4e0d\u662f|\u9519\u4e86|"
    r"\u9055\u3044\u307e\u3059|\u9055\u3046"
    r"|\u3044\u3044\u3048)[,:;.!\u2013\u2014\u3001\uff0c-]+\s*|(?:actually|in fact|correction|"
    r"eigentlich|en fait|en realidad)[,:]?\s+|(?:that|this|it)(?:'s| is| was)\s+(?:wrong|incorrect"
    r"|not (?:right|true|correct)|"
    r"outdated)\s*[:;,.\u2013\u2014-]+\s*|das (?:stimmt nicht|ist falsch)\s*[:;,]\s*|c'est "
    r"faux\s*[:;,]\s*)+",
    _I,
)
NOT_X_Y = re.compile(
    r"^(?:not|nicht|pas"
    r"|no)\s+(?:the\s+)?[`\w./@-]+(?:\s+[`\w./@-]+)?\s*[,;:\u2013\u2014-]\s*(?:but\s+|use\s+|"
    r"sondern\s+|mais\s+|sino\s+)?(?:the\s+)?[`\w./@-]+(?:\s+[`\w./@-]+){0,3}[.!]?$",
    _I,
)
# What may be a value: a number, a name inside a sentence, code, or whatever stands at its end.
VALUED = re.compile(
    r"\d|`|#\w|\bnow\b|(?-i:\s[A-Z])|\w[/.]\w|^(?:we|our)\s(?!(?:should|could|can|need|have|had|did|tried)\b)",
    _I,
)
# After 'correction:', what is said of a thing; the gate takes it where it gives it another value.
OF_A_THING = re.compile(r"^(?:the|our|every|all)\s+\w+(?:\s+[\w./@`'-]+){3,}", _I)
# 'No, Ann signs off releases': who does what, after an opening.
NAME_FIRST = re.compile(r"^(?-i:[A-Z][\w'-]+)\s+\w+s\s+\w", _I)
# What is of this moment even where a sentence gives one value in the place of another.
VERY_MOMENT = re.compile(
    r"\b(?:right now|at the moment|today|tomorrow|tonight|for now|so far|just this once|temporarily"
    r"|this (?:morning|time|bug|error|issue|failure|problem|test|function|line|commit|pr|branch"
    r"|task|ticket|file|run)|getting|want to|going to|about to|trying to|let me)\b",
    _I,
)
# What was given up, and what is there instead: 'used to have five people and has four now'.
USED_TO_AND_NOW = re.compile(r"\bused to\b(?=.*\b(?:and|but)\b.*\bnow\b)", _I)
# 'You get licences from Bo, not from Ann' tells how it is; 'you should', 'you did' do not.
YOU_DO = re.compile(
    r"^you (?:can )?(?:get|find|reach|ask|call|write|log|sign|see|open|go|need|use|have|pay|run"
    r"|start)\b",
    _I,
)
USE_INSTEAD = re.compile(
    r"^(?:please\s+)?(?:use|call|run|prefer|take|verwende|utilise|usa)\s+.+\b(?:instead of|rather "
    r"than|"
    r"not|statt|au lieu de|en vez de)\b.+",
    _I,
)
PRONOUN = re.compile(r"^(?:it|this|that|they|these|those|he|she|there|here|es|das|c'est|il)\b", _I)
NO_TALK = re.compile(
    r"^(?:thanks?|that|it|this|don't|do not|please|wait|stop|i|you|let's|the (?:other|first|second"
    r"|last) "
    r"(?:one|file))\b",
    _I,
)

DECISION = re.compile(
    rf"^{FILLER}{PLACE}(?:we|the team|my team|management|they)(?:'ve|'re| have| has| had| "
    r"are)?\s+(?:also |just |finally |now "
    r"|already )*(?:decided|agreed|chose|chosen|settled|picked|opted|went with|going with|ruled "
    r"out|committed to|concluded)\b"
    rf"|^{FILLER}(?:(?:the|our) )?(?:decision|verdict|conclusion)(?: is| was)?\s*[:,]?\s+(?:to "
    r"|that )?\w"
    rf"|^{FILLER}(?:wir haben (?:uns |beschlossen|entschieden)|nous avons (?:d\u00e9cid\u00e9"
    r"|choisi)|on a (?:d\u00e9cid\u00e9|choisi)|"
    r"(?:hemos )?decidi(?:do|mos)|elegimos|decidimos|abbiamo deciso|\u043c\u044b "
    r"\u0440\u0435\u0448\u0438\u043b\u0438|\u6211\u4eec(?:\u5df2\u7ecf)?"
    r"(?:\u51b3\u5b9a|\u9009\u62e9\u4e86?|\u9009\u7528))|(?:\u3053\u3068\u306b(?:\u3057\u305f"
    r"|\u3057\u307e\u3057\u305f|\u6c7a\u3081)|\u3092\u63a1\u7528)",
    _I,
)
LETS = re.compile(
    rf"^{FILLER}let's\s+(?:go with|use|stick (?:with|to)|stay (?:with|on)|keep|settle on"
    r"|standardi[sz]e on)\s+\S",
    _I,
)

FACT_WE = re.compile(
    rf"^{FILLER}{PLACE}we(?:'ve| have)?\s+{ADVERBS}(?:{WE_DO}\b(?! (?:been|you|to)\b)"
    rf"|{WE_DID}\b)",
    _I,
)
FACT_TOLD = re.compile(rf"^{FILLER}{PLACE}we(?:'ve| have)?\s+{ADVERBS}{WE_TOLD}\b", _I)
FACT_OUR = re.compile(
    rf"^{FILLER}{PLACE}(?:(?:all (?:of )?|every one of |most of |some of "
    rf")?our\s+(?:[\w./@`'-]+\s+){{1,6}}?|{SUBJECT}\s+)"
    rf"(?:(?:also|always|never|only|now|still|no longer|currently)\s+)*{IS}\b",
    _I,
)
ORDER = (
    r"let(?:'s)?|fix|make|run|add|check|see|look|ensure|please|update|write|create|change|move"
    r"|remove|delete|rename|refactor|"
    r"implement|show|find|explain|tell|give|try|verify|test|use|read|open|put|set|replace|convert"
    r"|extract|help|keep|figure|"
    r"think|debug|investigate|review|commit|push|merge|deploy|install|start|stop|continue|undo"
    r"|revert|rewrite|search|list"
)
FACT_NP = re.compile(
    rf"^{FILLER}{PLACE}(?!(?:it|this|that|there|these|those|he|she|they|you|i|we|what|which|who"
    r"|how|why|when|where|if|can|is|"
    rf"are|do|does|did|{ORDER}|the (?:bug|error|issue|failure|problem|crash"
    rf"|fix))\b)(?:[\w./@`'-]+\s+){{1,7}}?{HABIT}\b\s*\S",
    _I,
)
UNIVERSAL = re.compile(
    rf"^{FILLER}(?:all|every|each|no|nothing|nobody|no one|only|any)\b|\bmust\b|\bnever\b"
    r"|\balways\b",
    _I,
)
FACT_OTHER = re.compile(
    rf"^{FILLER}(?:wir (?:verwenden|nutzen|benutzen|haben|setzen|deployen|schreiben|speichern"
    r"|testen|arbeiten|bauen|sind auf)|"
    r"unser(?:e|er|es|en)? \S+|(?:dieses|das) (?:repo|projekt) \S+|in (?:diesem|unserem) (?:repo"
    r"|projekt) \S+"
    r"|nous (?:utilisons|d\u00e9ployons|\u00e9crivons|stockons|testons)|on (?:utilise|d\u00e9ploie"
    r"|teste)|(?:notre|nos) \S+|(?:ce|le) "
    r"(?:d\u00e9p\u00f4t|projet) \S+|(?:usamos|utilizamos|desplegamos|usiamo|guardamos)"
    r"|nuestr[oa]s? \S+|(?:este|el) (?:repo"
    r"(?:sitorio)?|proyecto) \S+|en este (?:repo(?:sitorio)?|proyecto) \S+|noss[oa]s? \S+|(?:il "
    r"nostro|la nostra) \S+"
    r"|\u043c\u044b (?:\u0438\u0441\u043f\u043e\u043b\u044c\u0437\u0443\u0435\u043c"
    r"|\u0445\u0440\u0430\u043d\u0438\u043c|\u043f\u0438\u0448\u0435\u043c)|"
    r"\u043d\u0430\u0448[\u0430\u0435\u0438]? \S+)"
    r"|^(?:\u6211\u4eec|\u672c\u9879\u76ee|\u672c\u4ed3\u5e93|\u8fd9\u4e2a(?:\u9879\u76ee"
    r"|\u4ed3\u5e93|\u4ee3\u7801\u5e93)|\u8be5\u9879\u76ee|\u9879\u76ee"
    r"(?:\u4f7f\u7528|\u7528|\u7684))(?!\u5e94\u8be5|\u9700\u8981|\u60f3|\u8981|\u6765|\u5148"
    r"|\u53bb|\u770b)\S*.{3,}"
    r"|^(?!(?:\u3053\u308c|\u305d\u308c|\u3042\u308c|\u3053\u3053"
    r"|\u4f55))[^\s\u3001\u3002]{1,24}\u306f\s?.{2,}(?:\u307e\u3059|\u3067\u3059"
    r"|\u307e\u305b\u3093|"
    r"\u3067\u3042\u308b|\u3059\u308b|\u3044\u308b|\u306a\u3044|\u4f7f\u3046"
    r"|\u52d5\u304f)[\u3002.]?$"
    r"|^(?:\u3053\u306e(?:\u30d7\u30ed\u30b8\u30a7\u30af\u30c8|\u30ea\u30dd\u30b8\u30c8\u30ea)"
    r"|\u79c1\u305f\u3061|\u6211\u3005|\u3046\u3061|\u5f53\u793e|\u5f0a\u793e)"
    r"(?:\u306e|\u306f|\u3067).{3,}|^(?:\uc6b0\ub9ac|\uc774 (?:\ud504\ub85c\uc81d\ud2b8"
    r"|\uc800\uc7a5\uc18c)).{4,}\ub2e4[.]?$",
    _I,
)
PREFERENCE = re.compile(
    rf"^{FILLER}(?:(?:personally|generally|in general|as a rule)[,:]?\s+)?(?:"
    r"i(?: (?:always|generally|usually|really|strongly|much|also|still|only|never"
    r"|mostly))*\s+(?:prefer|favou?r)\b(?! (?:that|this|it|"
    r"the (?:first|second|other|latter|former))\b)"
    r"|i(?: (?:really|also|still|only|strongly))*\s+(?:like|love|hate|dislike|enjoy|don't like|do "
    r"not like|can't stand)\s+(?!the\b|this"
    r"\b|that\b|it\b|your\b|how\b|where\b|what\b|these\b|those\b|to (?:see|know|have|get)\b)\S+"
    r"|i (?:always|never|usually|generally|rarely|only|mostly)\s+(?!(?:get|see|got|saw|had|thought"
    r"|knew|heard|said|meant)\b)[a-z]+\b"
    r"|i (?:speak|live in|work (?:at|for|on|in|with|as)|use)\s+\S+|i(?:'m| am)\s+(?:an?\s+(?!bit\b"
    r"|little\b|lot\b|idiot\b)|the (?:maintainer"
    r"|owner|author|lead|only (?:developer|maintainer)|tech lead|architect)|based in|from\s+[A-Z]"
    r"|colou?r[- ]?blind|left-handed|deaf|"
    r"blind|dyslexic|new to|fluent in|responsible for|on (?:linux|macos|windows)|vegetarian|a "
    r"native)"
    r"|my (?:name|time ?zone|pronouns|editor|shell|os|operating system|terminal|keyboard(?: "
    r"layout)?|(?:native|first|preferred) language"
    r"|mother tongue|preferred \w+|role|job|team|locale|working hours)\s+(?:is|are)\b|(?:please "
    r")?call me\s+\S+"
    r"|ich (?:bevorzuge|mag|hei\u00dfe|arbeite|bin (?:ein|eine|der|die))\b|mein name ist\b|je "
    r"(?:pr\u00e9f\u00e8re|m'appelle)\b|j'aime\b|mon nom "
    r"est\b|(?:prefiero|me llamo|me gustan?|mi nombre es|prefiro|mi chiamo|preferisco)\b|\u044f "
    r"\u043f\u0440\u0435\u0434\u043f\u043e\u0447\u0438\u0442"
    r"\u0430\u044e)|^\u6211(?:\u66f4)?(?:\u559c\u6b22|\u504f\u597d|\u503e\u5411|\u53eb"
    r"|\u7684\u540d\u5b57|\u4e60\u60ef)|^(?:\u79c1\u306f.*(?:\u597d\u304d|"
    r"\u597d\u307f)|\u79c1\u306e\u540d\u524d\u306f)|\u306e(?:\u307b\u3046"
    r"|\u65b9)\u304c\u597d\u304d",
    _I,
)
HERE = re.compile(
    r"\b(?:this|our) (?:repo(?:sitory)?|project|code ?base)\b|\bin diesem projekt\b|\bce projet\b"
    r"|\beste proyecto\b",
    _I,
)
