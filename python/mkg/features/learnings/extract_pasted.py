"""Whether a short prompt hands over a text of somebody else, to be summed up or answered.

What stands in such a text is not the person's own word, though they sent it: a page that says
"remember that ..." would otherwise speak with the authority of whoever asked for its summary.
"""

import re

_I = re.IGNORECASE
_THIS = (
    r"(?:this|these|the following|below|the above|that|diese[snmr]?|dies|das folgende|den folgenden"
    r"|folgende\w*|ce(?:tte|t|ci)?|ces|est[ea]s?|esto|lo siguiente|quest[oaie]|isso|isto)"
)
_ASKED = (
    r"(?:summari[sz](?:e|ing)|sum up|translat(?:e|ing)|proof-?read|paraphrase|rephrase|reword"
    r"|shorten|(?:reply|respond|react) to|explain|analy[sz]e|go through|make sense of"
    r"|what (?:do you (?:think|make)|does|do)|thoughts on|tl;?dr|comment on|have a look at|look at"
    r"|take a look at|fact-?check|zusammenfass\w*|fasse?|\u00fcbersetz\w*|erkl\u00e4r\w*"
    r"|r\u00e9sume[rz]?|tradui\w*|expliqu\w*|resum\w*|traduc\w*|explic\w*|riassum\w*|spiega\w*)"
)
_SOURCES = (
    r"(?:web ?)?(?:page|wiki|readme|docs?|documentation|manual|ticket|issue|e-?mail|mail|slack|chat"
    r"|article|site|blog|post|thread|message|comment|commit(?: message)?|description|changelog"
    r"|release notes|notes|transcript|snippet|paste|output|answer|reply|response|letter|invite"
    r"|announcement|faq|guide|seite|artikel|nachricht|courriel|correo|p\u00e1gina)"
)
# 'Summarise this:' with the text behind it, or on a line of its own with the text below.
_HANDED = re.compile(
    rf"\b{_ASKED}\b[^.!?\n]{{0,60}}\b{_THIS}\b[^.!?\n:]{{0,60}}(?::|[.?!]?[ \t]*\n)"
    rf"|\b{_SOURCES}\b[^.!?\n:]{{0,50}}\b(?:says?|said|reads?|wrote|writes|states?|sagt|schreibt"
    rf"|dit|dice)\b[^.!?\n:]{{0,20}}:"
    rf"|\bhere(?:'s| is| are| comes)\b[^.!?\n:]{{0,40}}\b{_SOURCES}\b[^.!?\n:]{{0,60}}"
    r"(?::|[ \t]*\n)"
    rf"|\b(?:pasted?|copied|copy|forwarded|got|received|found)\b[^.!?\n:]{{0,30}}\bfrom\b"
    r"[^.!?\n:]{0,60}(?::|[ \t]*\n)",
    _I,
)
# Below the text: 'What does this mean?'
_ASKED_BELOW = re.compile(
    rf"^(?:(?:so|hi|hey|please|can you|could you|would you|kannst du|peux-tu|puedes)\b[, ]*)*"
    rf"{_ASKED}\b[^.!?\n]{{0,60}}\b(?:{_THIS}|it|mean|above)\b[^.!?\n]{{0,40}}[.?!]*$"
    r"|^(?:is|are) (?:this|that|the above|these)\b[^.!?\n]{0,30}\b(?:true|right|correct|still|ok"
    r"|legit|serious|spam)\b.{0,20}\?$|^(?:tl;?dr|thoughts|eli5)\W*$",
    _I,
)
_HEADER = re.compile(
    r"^(?:from|to|cc|subject|date|sent|reply-to|author|authordate|commit|committer|signed-off-by"
    r"|co-authored-by|reviewed-by|von|an|betreff)\s*:\s+\S|^commit [0-9a-f]{7,40}\b",
    _I | re.MULTILINE,
)
_FEWEST_LINES, _FEWEST_HEADERS = 3, 2


def hands_over(prompt: str) -> bool:
    """Tell whether a prompt brings a text that it asks something about."""
    text = prompt.strip()
    handed = _HANDED.search(text)
    if handed is not None and text[handed.end() :].strip():
        return True
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) >= _FEWEST_LINES and _ASKED_BELOW.search(lines[-1]):
        return True
    return len(_HEADER.findall(text)) >= _FEWEST_HEADERS
