"""Rules against commands, permissions and skipped questions."""

from mkg.features.gate import screen_languages as other
from mkg.features.gate.screen_rule import Rule, rule
from mkg.features.gate.screen_words import ASK, SAFEGUARD

_AGENT = (
    r"(?:you|yourself|(?:the |this |any |every |each |all )?(?:ai|agents?|assistants?|llms?|bots?"
    r"|models?)|claude|codex|copilot|cursor|gemini)"
)

PRIVILEGE: tuple[Rule, ...] = (
    rule(
        "destructive_shell",
        "privilege",
        ("wait", "block"),
        "before",
        "runs code from elsewhere or destroys files",
        r"\b(?:curl|wget|iwr|irm|invoke-webrequest|fetch|aria2c|http)\b[^|]{0,200}\|\s*(?:sudo "
        r")?(?:\S*/)?"
        r"(?:ba|z|da|k|fi|tc|c)?sh\b",
        r"\b(?:curl|wget|iwr|irm|fetch)\b[^|]{0,200}\|\s*(?:sudo )?(?:python\d?|node|perl|ruby"
        r"|iex|php)\b",
        r"\b(?:ba|z|da|k)?sh\b (?:-c )?[\"']?(?:<\(|\$\()\s*(?:curl|wget|fetch)\b",
        r"\b(?:iex|invoke-expression)\b\s*[\"']?\(|\beval\b[^.;]{0,20}\$\(",
        r"\bbase64 (?:-d|-D|--decode)\b[^|]{0,80}\|\s*(?:sudo )?(?:ba|z|da)?sh\b",
        r"\brm\s+-(?:\w*r\w*f|\w*f\w*r)\w*\s+(?:--\S+\s+)*[\"']?(?:/|~|\*|\$home|\.\.)(?:\s|$"
        r"|[\"'*]|--)"
        r"|--no-preserve-root",
        r"\bchmod\s+(?:-\w+\s+)*0?(?:777|666|a\+rwx)\b|\bchmod\b[^.;]{0,20}\b777\b",
        r"/dev/tcp/|\bnc\b[^.;]{0,20}\s-e\b|\bmkfs\b|\bdd if=\S+ of=/dev/|:\(\)\s*\{",
        r"\bexec\(\s*[\w.]*(?:urlopen|requests\.get|fetch|read)\b",
        r"\bnpx (?:-y |--yes )?[\w@./-]+ must\b",
    ),
    rule(
        "agent_permission",
        "privilege",
        ("wait", "block"),
        "before",
        "loosens what the agent may do by itself",
        r"\bdangerously-?_?(?:skip|bypass|allow|disable)\w*|\bbypass-?_?permissions\b|--yolo\b"
        r"|\byolo mode\b|\bskip-permissions\b|\bdanger-full-access\b|--full-auto\b"
        r"|--allow-all-tools\b"
        r"|\baccept-?edits\b mode|\bapproval[_-]?policy\W{1,4}never\b|\bnopasswd\b"
        r"|\b(?:bash|shell|webfetch|write|edit)\(\*\)|\ball tools to the allow",
        r"\b(?:always|automatically|auto|by default|blindly|silently|immediately)[ -](?:\w+ )?"
        r"(?:approv|accept|grant|permit|authori[sz]|trust|confirm|allow)(?:e|es|ing|s)?\b"
        r"[^.!?;]{0,30}\b(?:pull requests?|prs?|merge requests?|tool (?:calls?|use)|edits?"
        r"|changes?|"
        r"commands?|permissions?|prompts?|actions?|requests?|tools?|everything|anything|all"
        r"|reviews?)\b",
        r"\bauto-?(?:approve|accept|confirm|allow|grant)s?\b",
        rf"\b(?:give|grant|gives|grants|get|hand|assign)\b {_AGENT}(?: \w+){{0,2}}? "
        r"(?:admin\w*|root|sudo|superuser|owner|full|unrestricted|write|elevated|all|complete"
        r"|shell)\b"
        r"(?: \w+)? ?(?:access|rights|privileges?|permissions?|role|control)?",
        rf"(?<!no )(?<!only )\b{_AGENT} (?:may|can|could|should|must"
        r"|(?:is|are) (?:allowed|authori[sz]ed|permitted|free|cleared) to)\b(?! not\b| never\b| "
        r"only\b)"
        rf"(?: \w+){{0,2}}? "
        r"(?:delete|drop|wipe|push|deploy|merge|force|approve|disable|skip|bypass|remove|overwrite"
        r"|publish|grant|run as root|do (?:anything|everything))\b",
        r"\brun(?:s|ning)? (?:\w+ ){0,3}as (?:root|admin(?:istrator)?|superuser)\b",
        r"\b(?:approved|authori[sz]ed|allowed|permitted|consented|consent)\b[^.!?;]{0,30}\b(?:to "
        r")?(?:all|"
        r"every|any|everything)\b(?: \w+)? ?(?:commands?|actions?|tool calls?|requests?|changes?"
        r"|in "
        r"advance)?",
        r"\b(?:pre-?approved|blanket (?:consent|approval|permission))\b",
        r"\b(?:session|agent|assistant|you)\b[^.!?]{0,20}\b(?:in|into|enter) (?:debug|maintenance"
        r"|god"
        r"|admin|root|developer|unrestricted) mode\b",
        r"\b(?:restrictions|limits|limitations|guard ?-?rails) (?:are|were|have been) "
        r"(?:now )?(?:lifted|removed|off|disabled|gone)\b",
        r"\b(?:permission|approval|consent) (?:was|is|has been|were) (?:granted"
        r"|given)\b[^.!?]{0,60}\b"
        r"(?:to|for)\b",
        r"\bi (?:allow|permit|authori[sz]e|let) (?:the |any |every )?(?:agent|assistant|ai"
        r"|model)s? to\b",
        *other.APPROVE,
    ),
    rule(
        "no_question",
        "privilege",
        ("wait", "block"),
        "none",
        "stops asking a person",
        rf"\b(?:never|don't|do not|stop|no need to|needn't|need not|don't need to|do not need to"
        rf"|not necessary to|no reason to|doesn't need to|does not need to|shouldn't|should not)"
        rf"(?: (?:to|ever|again|even|have to|bother to))* {ASK}\b[^.!?;]{{0,30}}?\b(?:before|for"
        r"|first|permission"
        rf"|approval|confirmation|consent|any ?more|again|prior|the user|anyone|anybody|me about)\b"
        rf"(?! to (?:repeat|explain))",
        rf"\bno need (?:to|for) (?:{ASK}|confirmation|approval|permission|review)\b",
    ),
    rule(
        "without_question",
        "privilege",
        ("wait", "block"),
        "sentence",
        "acts without asking a person",
        rf"\b(?:without|with no|with zero|minus)(?: any| a| further| prior| the| your| another)* "
        rf"(?:{ASK}\b|asking|confirmation|approvals?|permission|consent|reviews?|sign-?offs?|a "
        r"second look"
        rf"|(?:code |human |security )reviews?|oversight|supervision)",
        rf"\b(?:no|zero) (?:further )?(?:{SAFEGUARD}) (?:is |are |be |was )?(?:\w+ )?"
        rf"(?:needed|required|necessary)\b",
        rf"\b(?:needs?|requires?) no (?:further )?(?:{SAFEGUARD})\b",
        r"\b(?:straight|directly|right away)\b[^.!?]{0,12}\b(?:to|into|on) (?:main|master"
        r"|production|prod)\b",
        r"\brubber-?stamp",
    ),
)
