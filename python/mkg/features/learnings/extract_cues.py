"""The phrases by which people say that something is to be remembered, in several languages."""

import re

_I = re.IGNORECASE

FILLER = (
    r"(?:(?:ok(?:ay)?|yes|yeah|yep|hey|hi|hello|also|and|so|oh|btw|by the way|fyi|one (?:more"
    r"|last) thing|another"
    r" thing|thanks|thank you|great|good|perfect|please|well|right|but|besides|additionally"
    r"|finally|lastly|first|"
    r"second|third|then|plus|again|important|heads up|just|bitte|auch|und|aussi|et|s'il te "
    r"pla\u00eet|por favor"
    r"|tambi\u00e9n|y)[,:;.!\u2013\u2014-]*\s+){0,4}"
)
_REQUEST = (
    r"(?:i(?:'d| would)? (?:want|need|like) you to |i(?:'d| would) like you to |(?:can|could|would"
    r"|will) you "
    r"(?:please )?|you (?:should|must|need to|have to) |make sure (?:to |you )|be sure to |let's "
    r"|do |please |always )*"
)
_LATER = (
    r"(?:\s+(?:this|the following(?: facts?| rules?)?|for (?:later|next time|the future|future "
    r"(?:sessions?|reference"
    r"|conversations?)|(?:all )?later sessions)|in (?:your |the )?memory|to (?:your |the |project "
    r")?memory|down))*"
)

# A lead-in that asks for memory by itself, and one that needs 'that' or a colon to ask for it.
REMEMBER = re.compile(
    rf"^{FILLER}(?P<ask>{_REQUEST})(?:remember|keep in mind|bear in mind|memori[sz]e|don't (?:ever "
    r")?forget|do not "
    r"(?:ever )?forget|never forget|commit to "
    rf"memory){_LATER}(?P<that>\s*[:,\u2013\u2014]?\s*\bthat\b\s*[:,]?|\s*[:,"
    rf"\u2013\u2014]|\s+-)?\s*",
    _I,
)
NOTE = re.compile(
    rf"^{FILLER}(?P<ask>{_REQUEST})(?:note|take note|make a (?:mental )?note|store|save|record"
    r"|write|jot|put|add|learn|"
    rf"know){_LATER}(?P<that>\s*[:,]?\s*\bthat\b\s*[:,]?|\s*:)\s*",
    _I,
)
REFERENCE = re.compile(
    rf"^{FILLER}(?:(?:please )?(?:note|remember|know|be aware) that )?(?:for (?:your |all "
    r")?(?:future|later) reference|"
    r"for (?:the future|next time|later|future sessions|the record)|note to self|memory|rule|team "
    r"rule|project rule|"
    rf"convention|reminder)\s*[:,\u2013\u2014]\s*(?:note that |remember that |that )?",
    _I,
)
FROM_NOW = re.compile(
    rf"^{FILLER}(?:(?:please )?(?:note|remember|keep in mind|know) that )?(?:from (?:now|here"
    r"|today|this point)"
    r"(?: on(?:wards?)?)?|going forward|in (?:the )?future|henceforth|as of (?:now|today)"
    r"|starting (?:now|today)"
    rf"|for (?:all )?future (?:work|changes|sessions|tasks))\s*[,:]?\s+",
    _I,
)
STANDING = re.compile(
    rf"^{FILLER}(?:(?:you|agents?|everyone|everybody|nobody|one) (?:must|should|shall|may|have to) "
    r"|i want you to "
    r"|make sure (?:to |you |that you ))?(?P<rule>(?:always|never|(?:don't|do not) "
    r"ever)\s+(?P<verb>[a-z][\w-]*)\b)",
    _I,
)
HABIT = re.compile(
    rf"^{FILLER}(?P<rule>(?:every time|each time|whenever|(?:before|after|for|on|in) (?:every"
    r"|each|any|all) )\b)",
    _I,
)
NOT_A_VERB = re.compile(
    r"^(?:mind|seen|heard|had|been|ever|a|an|the|this|that|in|on|got|gone|done|works?|again|knew"
    r"|thought|happy|nice|"
    r"wrong|right|so|too|as|more|less|there|here|sure|possible|good|bad|really|quite)$|"
    r"^(?!pass|process|access|address|focus|express|cross|press|discuss|guess|miss|bypass|alias"
    r"|canvas|class|compress)"
    r"\w+[^s]s$|^(?!need|embed|feed|seed|speed|shed|bed|proceed|exceed|succeed)\w+ed$",
    _I,
)
HABITUAL = re.compile(
    r"\b(?:always|never|every(?:one|body)?|each|whenever|any ?time|from now on|in (?:this|our) "
    r"(?:repo|project|"
    r"codebase)|from here on|by default)\b",
    _I,
)
TODO = re.compile(r"^to\s+", _I)
NOT_A_STATEMENT = re.compile(
    r"^(?:when|what|how|why|who|which|where|if|whether|me\b|us\b|him\b|her\b|it\b|them\b|this\b"
    r"|that\b|those\b|these\b"
    r"|the (?:time|times|day|days|good|last)\b)",
    _I,
)

# 'We use X. Please remember that.' and 'We use X, remember that'
BACK_REFERENCE = re.compile(
    rf"^{FILLER}{_REQUEST}(?:remember|keep|note|memori[sz]e|save|store|don't forget|do not "
    r"forget)\s+(?:this|that|it|"
    r"these|those)(?:\s+(?:in mind|down|please|too|for (?:later|next time|the future|future "
    r"(?:sessions?|reference))"
    rf"|in (?:your )?memory|to (?:your )?memory))*\s*[.!]*$",
    _I,
)
TRAILING = re.compile(
    r"\s*(?:[,;\u2013\u2014(-]|\s-)\s*(?:(?:and|so|so please|please|pls)\s+)*(?:remember|keep|note"
    r"|don't forget|do not "
    r"forget|memori[sz]e)(?:\s+(?:this|that|it))?(?:\s+(?:in mind|down|please|for (?:later|next "
    r"time|the future|future "
    r"(?:sessions?|reference))))*\s*\)?\s*[.!]*$",
    _I,
)
# Cut from a statement: 'Remember that we use pnpm, and now fix the tests'.
NEXT_TASK = re.compile(
    r"(?:\s*[,;]\s*|\s+)(?:(?:and|so|but)\s+)?(?:now|then)\s*,?\s+(?:please\s+|let's\s+"
    r"|go\s+(?:and\s+)?)*(?:fix|run|add|"
    r"implement|write|update|create|continue|refactor|make|change|do|start|look|check|help|show"
    r"|explain|find|build|open"
    r"|review|delete|remove|rename|move|install|deploy|commit|push)\b.*$",
    _I | re.DOTALL,
)

# A request not to remember. The first kind is about the whole message.
FORGET_ALL = re.compile(
    r"\b(?:don't|do not|never|no need to|you (?:don't|needn't|do not) (?:have|need) to|please "
    r"don't|stop)\s+(?:\w+\s+)?"
    r"(?:remember(?:ing)?|memori[sz](?:e|ing)|stor(?:e|ing)|sav(?:e|ing)|record(?:ing)?"
    r"|keep(?:ing)?|not(?:e|ing))\s+"
    r"(?:this|that(?! (?:we|our|the|it|i|all|every|tests?)\b)|it|any(?:thing| of (?:this|it|that))"
    r"|the following|these|"
    r"what i|them)\b"
    r"|\bdon't (?:add|write|put) (?:this|that|it|any of this) (?:in)?to (?:your |the )?memory\b"
    r"|\boff the record\b"
    r"|\bforget (?:what i|everything i|all i|this|it)\b|\bnicht merken\b|\bmerk dir das nicht\b"
    r"|\bne (?:retiens|"
    r"m\u00e9morise|enregistre) pas\b|\bno (?:lo )?(?:recuerdes|guardes|memorices)\b"
    r"|(?:\u4e0d\u8981|\u522b|\u4e0d\u7528)"
    r"(?:\u8bb0\u4f4f|\u8bb0\u5f55|\u4fdd\u5b58|\u8bb0\u4e0b)|\u899a\u3048\u306a\u3044\u3067"
    r"|\u899a\u3048\u306a\u304f\u3066"
    r"|\u8a18\u61b6\u3057\u306a\u3044\u3067",
    _I,
)
FORGET_ONE = re.compile(
    rf"^{FILLER}(?:(?:don't|do not|never|no need to|stop)\s+(?:\w+\s+)?(?:remember|memori[sz]|stor"
    r"|sav|record|not)(?:e|ing)"
    rf"?\b|forget\b|i (?:don't|do not|can't|cannot|can) remember\b|i remember\b|do you remember\b)",
    _I,
)

# --- other languages ---------------------------------------------------------------------
FOREIGN_REMEMBER = re.compile(
    rf"^{FILLER}(?:"
    # German
    r"(?:merke? dir|merken sie sich|behalte? (?:bitte )?(?:im (?:kopf|hinterkopf|ged\u00e4chtnis)"
    r"|in erinnerung)|denke? "
    r"(?:bitte )?daran|vergiss (?:bitte )?nicht|vergessen sie (?:bitte )?nicht|notiere? dir"
    r"|beachte?(?: bitte)?|zur erinnerung"
    r"|f\u00fcr die zukunft|f\u00fcr sp\u00e4ter|ab (?:jetzt|sofort)|k\u00fcnftig|in zukunft)(?: "
    r"bitte| f\u00fcr sp\u00e4ter)?"
    r"\s*(?:[,:]\s*(?:dass\b)?|\bdass\b|(?<=jetzt)|(?<=sofort)|(?<=\u00fcnftig)|(?<=zukunft))\s*"
    # French
    r"|(?:souviens-toi|souvenez-vous|rappelle-toi|rappelez-vous|retiens|retenez|n'oublie(?:z)? pas"
    r"|garde[zr]? (?:bien )?(?:en "
    r"t\u00eate|\u00e0 l'esprit)|notez?(?: bien)?|pour (?:m\u00e9moire|plus tard"
    r"|r\u00e9f\u00e9rence)|\u00e0 l'avenir|d\u00e9sormais"
    r"|dor\u00e9navant)\s*(?:bien\s+)?(?:[,:]|\bque\b|\bqu['\u2019]|(?<=avenir)|(?<=sormais)"
    r"|(?<=navant))\s*"
    # Spanish, Portuguese, Italian
    r"|(?:recu\u00e9rd[ae]|recuerd[ae]n?|acu\u00e9rdate(?: de)?|ten(?:ga|gan)? en cuenta|no "
    r"olvides?|anota|apunta|para el futuro|"
    r"a partir de ahora|de ahora en adelante|lembr[ae](?:-se|-te)?(?: de)?|tenha em mente|n\u00e3o "
    r"esque\u00e7a|ricorda(?:ti)?"
    r"|tieni (?:a mente|presente)|non dimenticare|d'ora in poi)\s*(?:[,:]|\bque\b|\bche\b"
    r"|(?<=ahora)|(?<=adelante)|(?<=poi))\s*"
    # Dutch, Russian, Polish
    r"|(?:onthoud|vergeet niet|houd er rekening mee)\s*(?:[,:]|\bdat\b)\s*"
    r"|(?:\u0437\u0430\u043f\u043e\u043c\u043d\u0438(?:\u0442\u0435)?"
    r"|\u043f\u043e\u043c\u043d\u0438(?:\u0442\u0435)?|"
    r"\u0438\u043c\u0435\u0439(?:\u0442\u0435)? \u0432 \u0432\u0438\u0434\u0443|\u043d\u0435 "
    r"\u0437\u0430\u0431\u0443\u0434\u044c"
    r"(?:\u0442\u0435)?)\s*(?:[,:]\s*(?:\u0447\u0442\u043e\b)?)\s*|(?:zapami\u0119taj"
    r"|pami\u0119taj)\s*(?:[,:]\s*(?:\u017ce\b)?)\s*"
    # Chinese
    r"|(?:\u8bf7|\u8acb|\u9ebb\u70e6|\u4f60|\u4e00\u5b9a)*(?:\u52a1\u5fc5|\u6c38\u4e45"
    r"|\u5e2e\u6211|\u4e00\u5b9a\u8981)?(?:\u8bb0\u4f4f|"
    r"\u8a18\u4f4f|\u7262\u8bb0|\u8bb0\u4e0b(?:\u6765)?|\u522b\u5fd8\u4e86"
    r"|\u4e0d\u8981\u5fd8\u8bb0|\u5907\u5fd8|\u4f9b\u4ee5\u540e"
    r"\u53c2\u8003|\u4ece\u73b0\u5728(?:\u8d77|\u5f00\u59cb)|\u4ee5\u540e"
    r"|\u4eca\u540e)\s*[:\uff1a,\uff0c\u3001]?\s*"
    # Japanese, Korean
    r"|(?:\u899a\u3048\u3066(?:\u304a\u3044\u3066)?(?:\u304f\u3060\u3055\u3044|\u306d)?"
    r"|\u8a18\u61b6\u3057\u3066(?:\u304a\u3044\u3066)?"
    r"(?:\u304f\u3060\u3055\u3044)?|\u4eca\u5f8c\u306f?"
    r"|\u3053\u308c\u304b\u3089\u306f?)\s*[:\uff1a\u3001,]\s*"
    r"|\uae30\uc5b5\ud574(?:\s?\uc918|\s?\uc8fc\uc138\uc694)?\s*[:,]\s*)",
    _I,
)
# 'X koto wo oboete oite': in Japanese and Korean the request stands at the end.
FOREIGN_TRAILING = re.compile(
    r"(?:\u3068\u3044\u3046)?(?:\u3053\u3068|\u306e)?(?:\u3092|\u306f"
    r"|\u3068)?\u3001?(?:\u3061\u3083\u3093\u3068|\u5fc5\u305a)?"
    r"(?:\u899a\u3048\u3066|\u8a18\u61b6\u3057\u3066"
    r"|\u5fd8\u308c\u306a\u3044\u3067)(?:\u304a\u3044\u3066|\u304a\u3051)?(?:\u304f\u3060"
    r"\u3055\u3044|\u304f\u308c|\u306d|\u6b32\u3057\u3044|\u307b\u3057\u3044)?(?:\u306d"
    r"|\u3088)?[\u3002.!\uff01]*$"
    r"|(?:\ub77c\ub294 \uac83\uc744|\ub77c\uace0|\ub2e4\ub294 \uac83\uc744"
    r"|\ub2e4\uace0)?\s*\uae30\uc5b5\ud574(?:\s?\uc918|\s?\uc8fc"
    r"\uc138\uc694)?[.!]*$"
)
FOREIGN_STANDING = re.compile(
    rf"^{FILLER}(?:immer|niemals|nie|toujours|jamais|ne jamais|siempre|nunca|sempre|mai"
    r"|\u0432\u0441\u0435\u0433\u0434\u0430|"
    r"\u043d\u0438\u043a\u043e\u0433\u0434\u0430)\s+\S+\s+\S+|^(?:\u8bf7)?(?:\u59cb\u7ec8"
    r"|\u603b\u662f|\u6c38\u8fdc\u4e0d\u8981|"
    r"\u7edd\u4e0d|\u7981\u6b62|\u5fc5\u987b|\u4e00\u5f8b)|^(?:\u5e38\u306b|\u5fc5\u305a"
    r"|\u6c7a\u3057\u3066|\u7d76\u5bfe\u306b)",
    _I,
)
