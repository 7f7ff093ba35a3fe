"""Rules for secrets that a sentence or a call gives away, in the words of several languages."""

from mkg_hooks.redact_rules import Rule
from mkg_hooks.redact_shadow import fold_char

# What people call a password, as written and as the folded copy of a text shows it.
_TOLD = (
    *("пароль", "пароля", "密码", "密碼", "口令", "パスワード", "비밀번호", "senha", "hasło"),
    *("wachtwoord", "lösenord", "şifre", "parola", "heslo", "jelszó", "salasana", "passord"),
    *("adgangskode", "mật khẩu", "סיסמה", "كلمة المرور", "κωδικός", "palavra-passe", "password è"),
    *("contraseña", "kata sandi", "passwort", "kennwort", "mot de passe", "clave"),
)


def _folded(word: str) -> str:
    return "".join([fold_char(char) for char in word]).lower()


_KEY_TOLD = (
    *(
        "токен",
        "ключ",
        "令牌",
        "密钥",
        "秘钥",
        "金鑰",
        "キー",
        "トークン",
        "토큰",
        "chave",
        "schlüssel",
    ),
    *("clé api", "clé d'api", "clave api", "chiave api", "klucz", "sleutel", "nyckel", "jeton"),
)
_KEYS = tuple(dict.fromkeys([form for word in _KEY_TOLD for form in (word, _folded(word))]))
_KEY_CHOICE = "|".join(sorted(_KEYS, key=len, reverse=True))
_WORDS = tuple(dict.fromkeys([form for word in _TOLD for form in (word, _folded(word))]))
_CHOICE = "|".join(sorted(_WORDS, key=len, reverse=True))
_PLAIN = r"""["'`(]{0,2}(?P<s>[^\s"'`<>,;]{8,128})"""

WORDS: tuple[Rule, ...] = (
    Rule(
        "password",
        _WORDS,
        rf"(?:{_CHOICE})[\w ]{{0,24}}?\s{{0,3}}(?:[:=\uff1a]|\bis\b|\best\b|\bes\b|\be\b"
        rf"|\bè\b|\bé\b"
        rf"|\bje\b|\bist\b|\blautet\b|\bär\b|\bto\b|是|为|為|は|이|는|—|-)\s{{0,3}}{_PLAIN}",
        good=(
            "пароль: {AN8}!{D2}",
            "密码是 {AN8}!{D2}",
            "senha: {AN8}!{D2}",
            "lösenord: {AN8}!{D2}",
            "la contraseña es {AN8}!{D2}",
        ),
        bad=("пароль: неверный", "密码是必填项目字段的说明", "senha: obrigatória"),
        fold=True,
        judge="strong",
    ),
    Rule(
        "secret",
        _KEYS,
        rf"(?:{_KEY_CHOICE})[\w ]{{0,24}}?\s{{0,3}}(?:[:=\uff1a]|\bis\b|\best\b|\bes\b|\be\b"
        rf"|\bè\b|\bé\b|\bje\b|\bist\b|\blautet\b|\bär\b|是|为|為|は|이|는|—|-)\s{{0,3}}{_PLAIN}",
        good=("токен: {AN40}", "令牌: {AN40}", "Der API-Schlüssel lautet {AN40}"),
        bad=("ключ: значение", "chave: valor-do-campo"),
        fold=True,
        judge="secret",
    ),
    Rule(
        "secret",
        ("key is", "key, it", "key it", "key -> "),
        rf"(?<!cache )key,? ?(?:it's now|it is now|it's|it is|is now|is|->)\s{{1,2}}{_PLAIN}",
        good=("I rotated the key, it's now {AN40}", "the key is {AN40}"),
        bad=("the key is missing", "the key is a uuid-4"),
        fold=True,
        judge="secret",
    ),
    Rule(
        "password",
        ("password", "passwort", "passphrase", "passcode", "passwd"),
        rf"pass(?:wor[dt]|phrase|code|wd)(?:\s{{1,3}}|\s{{2,24}}|\s?\|\s?|\t){_PLAIN}",
        good=(
            "use password {AN6}{D2}aB! for the admin account",
            "Password      {AN6}4{AN3}!2",
            "the password {AN8}!{D2}.",
        ),
        bad=("password argon2id hashing", "password reset-link", "Password | Description"),
        fold=True,
        judge="strong",
    ),
    Rule(
        "password",
        ("credentials", "logging in", "log in", "login"),
        rf"(?:credentials|logging in|log in|login)[^\n]{{0,40}}?"
        rf"\s[\"'`]?[\w.@\-]{{2,40}}\s?[/:]\s?{_PLAIN}",
        good=(
            "The credentials are bob / {AN8}!{D2}",
            "try logging in with admin:{AN8}!{D2}",
        ),
        bad=("log in at example.com/index.html", "credentials for user/repo-name"),
        fold=True,
        judge="strong",
    ),
    Rule(
        "password",
        ("pass:", "pw:", "pass =", "pw =", "pass ="),
        r"(?<![a-z])(?:pass|pw)\s?[:=][ \t]{0,3}[\"'`]?(?P<s>[^\s\"'`<>,;]{6,128})",
        good=("user: bob pass: {AN8}!{D2}", "pw: {AN8}!{D2}"),
        bad=("pass: true", "pw: required", "bypass: yes"),
        fold=True,
        judge="bare",
    ),
    Rule(
        "password",
        ("pin is", "pin code", "pin:"),
        r"(?<![a-z])pin(?: code)?(?:\sis|:|\s=)\s{1,2}[\"'`]?(?P<s>\d{4,8})(?![\d.:])",
        good=("the PIN is {D6}", "door pin code is {D4}"),
        bad=("pin is high", "the pin is 12"),
        fold=True,
        judge="pin",
    ),
    Rule(
        "password",
        ("auth", "login(", "credential", "sign_in(", "signin("),
        r"""(?:auth(?:enticate)?|login|sign_?in|credentials?)\s{0,2}=?\s{0,2}\(\s{0,4}"""
        r"""["'][^"'\n]{1,60}["']\s{0,2},\s{0,4}["'](?P<s>[^"'\n]{6,128})["']""",
        good=(
            "client.login('bob', '{AN8}!{D2}')",
            "auth=('bob', '{AN10}7x')",
            "HTTPBasicAuth('bob', '{AN10}7x')",
        ),
        bad=("login('bob', 'password')", "auth=('user', 'pass-word')"),
        fold=True,
        judge="quoted",
    ),
    Rule(
        "password",
        ("username ", "enable secret", "user "),
        r"(?:username\s\S{1,40}\s(?:privilege\s\d{1,2}\s)?(?:password|secret)|enable\s(?:secret|password))"
        r"\s\d\s(?P<s>[^\s\"']{8,128})",
        good=("username bob password 7 {HEX20}", "enable secret 5 $1${AN4}${AN22}"),
        bad=("username bob password", "enable secret 5"),
        fold=True,
        judge="any",
    ),
    Rule(
        "app-password",
        ("app password", "app-specific password", "application password", "app-password"),
        r"app(?:lication)?[ \-](?:specific )?password[^\n:]{0,16}?(?::|\sis)\s{1,3}[\"'`]?"
        r"(?P<s>[A-Za-z0-9]{4}(?:[ \-][A-Za-z0-9]{4}){3,5})(?![A-Za-z0-9])",
        good=(
            "app password is {L4} {L4} {L4} {L4}",
            "app-specific password: {L4}-{L4}-{L4}-{L4}",
        ),
        bad=("the app password is wrong", "app password: see below"),
        fold=True,
        judge="any",
    ),
    Rule(
        "recovery-code",
        ("recovery code", "backup code"),
        r"(?:recovery|backup) codes?[^\n:]{0,16}?(?::|\sis|\sare)\s{1,3}[\"'`]?"
        r"(?P<s>[a-z0-9]{4,6}(?:-[a-z0-9]{4,6}){1,4})(?![\w\-])",
        good=("recovery code: {HEX5}-{HEX5}", "backup codes are {HEX4}-{HEX4}"),
        bad=("recovery code: none", "backup codes are single-use only"),
        fold=True,
        judge="code",
    ),
)
