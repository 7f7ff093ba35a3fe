"""Text that can be stored and sent: no lone surrogates, no NUL."""

# JSON of a stranger has no types until it is looked at.
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false

REPLACEMENT = "\ufffd"


def clean(text: str) -> str:
    """Return the text with split surrogate pairs joined, lone ones and NULs as U+FFFD.

    NUL is the one character that does not survive: files, drivers and terminals end at it.
    Everything else (emoji, joiners, right-to-left text, CRLF, a byte order mark inside) is kept.
    """
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\0", REPLACEMENT)


def clean_tree(value: object, depth: int = 200) -> object:
    """Return a JSON value with every string cleaned; what lies deeper than `depth` is dropped."""
    if isinstance(value, str):
        return clean(value)
    if depth <= 0:
        return None if isinstance(value, (dict, list)) else value
    if isinstance(value, list):
        return [clean_tree(item, depth - 1) for item in value]
    if isinstance(value, dict):
        return {clean(str(k)): clean_tree(item, depth - 1) for k, item in value.items()}
    return value
