"""The process that holds litellm: requests come as lines of JSON, replies go back the same way.

litellm takes seconds and hundreds of megabytes to load, and its code is a stranger's: it lives in a
process of its own that is given one key for one call, and that ends when it is idle or in the way.
Run as `python -m mkg.llm.litellm_job`.
"""

import json
import sys
from typing import Any, cast

from mkg.json_shape import as_object

LONGEST = 64_000


def main() -> None:
    """Answer until the other side closes its end."""
    # What the library prints must not come between two lines of ours.
    out, sys.stdout = sys.stdout, sys.stderr
    library: Any = _loaded()
    for line in sys.stdin:
        answer = _answer(library, as_object(json.loads(line)))
        out.write(json.dumps(answer) + "\n")
        out.flush()


def _loaded() -> Any:
    import litellm

    library = cast("Any", litellm)
    library.suppress_debug_info = True
    library.telemetry = False
    return library


def _answer(library: Any, asked: dict[str, Any]) -> dict[str, Any]:
    """What one request gives: a price, a text, or the kind of failure; never a text of an error."""
    model = str(asked["model"])
    try:
        if asked["op"] == "price":
            prices = library.cost_per_token(
                model=model, prompt_tokens=1_000_000, completion_tokens=1_000_000
            )
            return {"price": [float(price) for price in prices]}
        return _completed(library, model, asked)
    except library.exceptions.ModelNotMappedError:
        return {"price": None}
    except (library.exceptions.openai.OpenAIError, ValueError) as error:
        return _failure(library, error)
    except (OSError, KeyError, TypeError, AttributeError, IndexError) as error:
        # The library stumbles over replies that are not what it expects, 422 among them.
        return _failure(library, error)


def _completed(library: Any, model: str, asked: dict[str, Any]) -> dict[str, Any]:
    given: dict[str, Any] = {
        "model": model,
        "messages": asked["messages"],
        "api_key": asked.get("key") or ("none" if asked.get("base") else None),
        "max_tokens": asked["max_tokens"],
        "timeout": asked["timeout"],
        "num_retries": 0,
        "max_retries": 0,
    }
    if asked.get("base"):
        given["api_base"] = asked["base"]
    if asked.get("token"):
        given["extra_headers"] = {"Authorization": f"Bearer {asked['token']}"}
        given["api_key"] = "none"
    reply = library.completion(**given)
    choice, usage = reply.choices[0], reply.usage
    text = choice.message.content or ""
    return {
        "text": text[:LONGEST],
        "cut": choice.finish_reason == "length" or len(text) > LONGEST,
        "input_tokens": int(usage.prompt_tokens or 0),
        "output_tokens": int(usage.completion_tokens or 0),
    }


def _failure(library: Any, error: Exception) -> dict[str, Any]:
    found: dict[str, Any] = {"failure": "refused", "kind": type(error).__name__}
    status, answered = _status(error)
    found["status"] = status
    if isinstance(error, library.exceptions.ContextWindowExceededError):
        found["failure"] = "long"
    elif isinstance(error, library.exceptions.Timeout):
        found["failure"] = "timeout"
    elif status is None or isinstance(error, library.exceptions.APIConnectionError):
        found["failure"] = "broken"
    elif status == 429 or status >= 500:
        found["failure"] = "busy"
        headers: Any = getattr(getattr(answered, "response", None), "headers", None) or {}
        after = str(headers.get("retry-after") or "")
        found["after"] = float(after) if after.replace(".", "", 1).isdigit() else None
    return found


def _status(error: BaseException) -> tuple[int | None, BaseException]:
    """The HTTP status behind an error, which may stand on the one it was raised from."""
    looked: BaseException | None = error
    while looked is not None:
        status = getattr(looked, "status_code", None)
        if isinstance(status, int):
            return status, looked
        looked = looked.__cause__ or looked.__context__
    return None, error


if __name__ == "__main__":
    main()
