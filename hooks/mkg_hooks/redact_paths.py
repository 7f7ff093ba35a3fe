"""Which files and commands are not captured at all, because what they print is secret."""

import re

from mkg_hooks.redact_regex import Regex

_EXAMPLE = Regex(
    r"(?:\.|^|[-_])(?:example|examples|sample|template|tmpl|dist|schema|defaults)(?:\.|$)"
)
_FOLDER = Regex(
    r"(?:^|/)(?:\.aws|\.ssh|\.gnupg|\.azure|\.kube|\.password-store|\.config/gcloud|\.config/op"
    r"|\.terraform\.d|\.vault|secrets?\.d|run/secrets)/"
)
_NAME = Regex(
    r"\.env|\.env[.\-_].+|.+\.env|\.envrc|env\.local"
    r"|id_(?:rsa|dsa|ecdsa|ed25519|xmss)(?:[._\-].*)?|id_[^.]+"
    r"|.+\.(?:pem|key|p12|pfx|pkcs12|jks|keystore|kdbx?|ppk|ovpn|tfstate|tfvars|agekey|keytab)"
    r"|.+\.tfstate\.backup|\.?credentials(?:[._\-].*)?|credential\.json|[._]netrc|\.authinfo(?:\.gpg)?|\.pgpass|\.my\.cnf"
    r"|\.npmrc|\.pypirc|\.htpasswd|\.git-credentials|\.dockercfg|\.dockerconfigjson|kubeconfig(?:\..*)?"
    r"|\.?secrets?\.(?:ya?ml|json|toml|env|txt|ini|properties|enc|yaml\.dec)|master\.key"
    r"|service[-_]?account[^/]*\.json|client[-_]secrets?[^/]*\.json|auth\.json|\.vault-token"
    r"|application_default_credentials\.json|wallet\.dat|shadow-?|gshadow-?|\.boto|\.s3cfg"
    r"|\.cargo-credentials|hosts\.yml|logins\.json|key4\.db|login data"
)
_WHOLE = Regex(
    r"(?:^|/)(?:etc/g?shadow-?|proc/[^/]+/environ|\.docker/config\.json|\.config/gh/hosts\.yml"
    r"|\.cargo/credentials(?:\.toml)?|\.gem/credentials|\.config/rclone/rclone\.conf)$"
)
_NEEDS_FOLDER = Regex(r"shadow-?|gshadow-?|hosts\.yml|key4\.db|login data")
_GLOB_PROBES = (
    ".env",
    ".env.local",
    "id_rsa",
    "id_ed25519",
    "credentials.json",
    ".netrc",
    "server.pem",
)

# Commands that name a file without printing it.
_QUIET_WORDS = """
ls ll rm cp mv touch chmod chown chgrp mkdir rmdir stat test [ [[ ln file du cd pushd popd
which ssh scp sftp rsync ssh-add ssh-copy-id shred unlink realpath dirname basename readlink
exit true false if then else fi do done for while wait sleep
"""
_QUIET = frozenset(_QUIET_WORDS.split())
_QUIET_GIT_WORDS = """
add rm status check-ignore commit ls-files restore checkout stash mv clone
"""
_QUIET_GIT = frozenset(_QUIET_GIT_WORDS.split())
_PREFIX_WORDS = """
sudo doas command nice nohup time exec builtin then do else env stdbuf
"""
_PREFIX = frozenset(_PREFIX_WORDS.split())
_PART = Regex(r"&&|\|\||[;|\n&]")
_ASSIGNED = Regex(r"[A-Za-z_]\w*=\S*")
_WORDS = Regex(r"[^\s<>(),=@'\"`{}\[\]]+|<")
_DUMP = Regex(
    r"^\s*(?:(?:sudo|command|exec|busybox|docker exec \S+|kubectl exec \S+ --) )?\s*(?:"
    r"(?:env|printenv|set|export|export -p|declare -p|declare -x|declare|typeset -x|compgen -e)\s*$"
    r"|printenv\s+\S|(?:env|printenv)\s*>|echo\s[^|;]*\$\{?\w*(?:TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|_KEY)\b"
    r"|(?:get-childitem|gci|dir|ls)\s+env:"
    r"|gh\s+auth\s+(?:token|status\s+(?:-t|--show-token))|aws\s+configure\s+(?:get|export-credentials)"
    r"|aws\s+(?:secretsmanager\s+get-secret-value|sts\s+get-session-token|ssm\s+get-parameter)"
    r"|gcloud\s+(?:auth\s+(?:application-default\s+)?print-|secrets\s+versions\s+access)"
    r"|az\s+(?:account\s+get-access-token|keyvault\s+secret\s+show)|vault\s+(?:read|kv\s+get|print)"
    r"|kubectl\s+(?:[^|;]*\s)?get\s+secrets?\b.*-o|op\s+(?:read|item\s+get)|pass\s+(?:show\s+)?[\w/.\-]+\s*$"
    r"|security\s+find-(?:generic|internet)-password|heroku\s+config|git\s+credential\s+fill"
    r"|secret-tool\s+lookup|doppler\s+secrets|gpg\s+(?:[^|;]*\s)?--export-secret|ssh-keygen\s+[^|;]*-y"
    r"|npm\s+config\s+(?:get\s+\S*_auth|list)|docker\s+compose\s+config)",
    re.IGNORECASE,
)
_MOST = 65_536


def sensitive_path(path: str) -> bool:
    """Whether what a file holds is not to be captured; examples and public keys may be."""
    plain = re.sub(r"/{2,}", "/", path.strip().strip("'\"`").replace("\\", "/")).lower()
    plain = plain.removeprefix("file://").rstrip("/.") if plain.rstrip("/.") else plain
    if _WHOLE.search(plain):
        return True
    name = plain.rpartition("/")[2].rpartition(":")[2]
    if name.endswith(".pub") or (_EXAMPLE.search(name) and not name.endswith((".pem", ".key"))):
        return False
    if _FOLDER.search(plain + "/"):
        return True
    return bool(_NAME.fullmatch(name)) and not _NEEDS_FOLDER.fullmatch(name)


def not_captured(path: str, size: int, digest_hmac: str) -> dict[str, object]:
    """What is kept of a sensitive file: that it was read, how large it was, and a keyed digest."""
    return {
        "captured": False,
        "reason": "sensitive-path",
        "path": path,
        "size": size,
        "hmac_sha256": digest_hmac,
    }


def command_reads_sensitive(command: str) -> bool:
    """Whether the output of a shell command may hold a sensitive file or the environment."""
    text = command[:_MOST].replace('""', "").replace("''", "").replace("\\\n", " ")
    text = re.sub(r"\\(?=[\w./\-])", "", text) if "\\" in text and ":\\" not in text else text
    entered = False
    for part in _PART.split(re.sub(r"\$\(|`|\$\{IFS\}|\$IFS", " ; ", text)):
        if _DUMP.search(part):
            return True
        words = _WORDS.findall(part)
        verb, rest = _verb(words)
        if verb == "cd" and any(sensitive_path(word + "/x") for word in rest):
            entered = True
            continue
        quiet = _is_quiet(verb, rest, part)
        if not quiet and verb and (entered or any(_names_secret(word) for word in words)):
            return True
    return False


def _verb(words: list[str]) -> tuple[str, list[str]]:
    for at, word in enumerate(words):
        if word.lower() in _PREFIX or _ASSIGNED.fullmatch(word) or word == "<":
            continue
        return word.rpartition("/")[2].lower(), words[at + 1 :]
    return "", []


def _is_quiet(verb: str, rest: list[str], part: str) -> bool:
    if "<" in part and "<<" not in part and verb not in ("ssh", "[", "test"):
        return False
    if verb == "git":
        return bool(rest) and rest[0] in _QUIET_GIT and "-p" not in rest and "--patch" not in rest
    if verb in ("echo", "printf"):
        # Writing to the file; its text is in the command and is redacted there.
        return True
    if verb in ("cp", "mv", "rsync", "scp"):
        return not any(word in ("/dev/stdout", "/dev/stderr", "-") for word in rest)
    if verb == "docker" or verb == "docker-compose" or verb == "podman":
        return "cat" not in rest and "--env-file" in rest
    return verb in _QUIET


def _names_secret(word: str) -> bool:
    if any(c in word for c in "*?"):
        from fnmatch import fnmatchcase

        name = word.lower().rpartition("/")[2]
        if name.strip("*?.") and any(fnmatchcase(probe, name) for probe in _GLOB_PROBES):
            return True
        word = word.replace("*", "x").replace("?", "x")
    return sensitive_path(word) or any(
        sensitive_path(piece) for piece in word.split(":") if piece != word
    )
