"""The scripted model for Gemini CLI: the kit's server with Google's endpoints beside the others."""

import json
import re
from typing import Any

from tests.clients.kit import stub_model
from tests.clients.kit.stub_model import StubModel, text_of

_METHOD = re.compile(r"/models/[^/:]+:(streamGenerateContent|generateContent|countTokens)$")
_BESIDE_THE_PROMPT = re.compile(r"<(session_context|hook_context)>.*?(?:</\1>|\Z)", re.DOTALL)
Json = dict[str, Any]


class GeminiStub(StubModel):
    """A StubModel that also answers `:generateContent`; rules see it as api `gemini`."""

    def __init__(self, rules: Any = (), **options: Any) -> None:
        super().__init__(rules, **options)
        self._http.RequestHandlerClass = type("Handler", (_Handler,), {"owner": self})

    def choose(self, api: str, body: Json) -> Any:
        """The first rule that matches; Gemini's bodies are put into the shape of the others."""
        if api != "gemini":
            return super().choose(api, body)
        return super().choose("chat", as_chat(body))


class _Handler(stub_model._Handler):
    def do_POST(self) -> None:
        found = _METHOD.search(self.path.split("?")[0])
        if found is None:
            return super().do_POST()
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)))
        if found[1] == "countTokens":
            self.owner.record(self, None, "(count)", body)
            return self._json(200, {"totalTokens": 5})
        rule, facts = self.owner.choose("gemini", body)
        self.owner.record(self, "gemini", rule.get("name"), body)
        reply = stub_model._Reply(rule.get("then", {}), facts, as_chat(body))
        answer = _answer(reply)
        if found[1] == "generateContent":
            return self._json(200, answer)
        line = b"data: " + json.dumps(answer).encode() + b"\n\n"
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(line)))
        self.end_headers()
        self.wfile.write(line)
        return None


def as_chat(body: Json) -> Json:
    """A request to Gemini as a chat request: prompts, tool results and tools under those names."""
    messages: list[Json] = [{"role": "system", "content": text_of(body.get("systemInstruction"))}]
    for content in body.get("contents") or []:
        for part in content.get("parts") or []:
            said = part.get("text", "")
            if "functionResponse" in part:
                told = text_of(part["functionResponse"].get("response"))
                messages.append({"role": "tool", "content": told})
            elif content.get("role") == "user" and _BESIDE_THE_PROMPT.sub("", said).strip():
                messages.append({"role": "user", "content": said})
            elif content.get("role") == "user" and said:
                messages.append({"role": "system", "content": said})
    tools = [f for t in body.get("tools") or [] for f in t.get("functionDeclarations", [])]
    return {"messages": messages, "tools": [{"name": f["name"]} for f in tools]}


def _answer(reply: Any) -> Json:
    parts: list[Json] = [{"text": reply.text}] if reply.text else []
    parts += [{"functionCall": {"name": name, "args": args}} for _, name, args in reply.calls]
    return {
        "candidates": [
            {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
        ],
        "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 3, "totalTokenCount": 8},
        "modelVersion": "stub",
    }
