"""Rules for secrets that only their surroundings give away: keys, headers, URLs."""

from mkg_hooks.redact_rules import Rule

CONTEXT: tuple[Rule, ...] = (
    Rule(
        "private-key",
        ("-----BEGIN ", "---- BEGIN SSH2 ENCRYPTED PRIVATE", "PuTTY-User-Key-File-"),
        r"(?P<s>-{4,5} ?BEGIN [A-Z0-9 ]{0,40}(?:PRIVATE KEY(?: BLOCK)?|PGP MESSAGE) ?-{4,5}"
        r"|PuTTY-User-Key-File-[0-9]:)",
        good=(
            "-----BEGIN RSA PRIVATE KEY-----\n{B64x14}\n-----END RSA PRIVATE KEY-----",
            '{"key":"-----BEGIN PRIVATE KEY-----\\n{B64x12}\\n-----END PRIVATE KEY-----\\n"}',
            "-----BEGIN OPENSSH PRIVATE KEY-----\n{B64x20}\n-----END OPENSSH PRIVATE KEY-----",
            "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{B64x30}\n"
            "-----END PGP PRIVATE KEY BLOCK-----",
            "cut off: -----BEGIN EC PRIVATE KEY-----\n{B64x2}",
        ),
        bad=(
            "-----BEGIN CERTIFICATE-----\n{B64x12}\n-----END CERTIFICATE-----",
            'if "-----BEGIN PRIVATE KEY-----" in text: raise ValueError',
            "-----BEGIN PUBLIC KEY-----\n{B64x4}\n-----END PUBLIC KEY-----",
        ),
        judge="any",
    ),
    Rule(
        "private-key-end",
        ("-----END ",),
        r"(?P<s>-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)",
        good=("{B64x4}\n-----END RSA PRIVATE KEY-----", "{B64x3}\n-----END PRIVATE KEY-----"),
        bad=("-----END CERTIFICATE-----", "the line -----END PRIVATE KEY----- ends it"),
        judge="any",
    ),
    Rule(
        "url-password",
        ("://",),
        r"""://[^\s/:@"'<>\[\]]{0,128}:(?!\d{1,5}[/?#])(?P<s>(?:[^\s/"'<>`]{1,256}(?=@[\w.\[\-$%{])|(?!/)[^\s"'<>@`]{1,128}(?=@[\w.\[\-])))@""",
        good=(
            "neo4j+s://neo4j:{U43}@a1b2c3d4.databases.neo4j.io",
            "postgres://svc:{AN16}@127.0.0.1:5432/app",
            "mongodb+srv://app:{AN12}@cluster0.example.net/db",
            "redis://:{AN20}@cache:6379",
            "amqp://u:{AN10}@mq",
            "https://user:{AN12}@example.com/x.git",
            "mysql://root:p@ss{D4}@db/app",
        ),
        bad=(
            "postgres://user:password@localhost/db",
            "https://example.com:8080/@scope/pkg",
            "redis://$USER:$PASS@host",
            "http://[::1]:8000/",
            "postgres://{u}:{p}@{h}",
        ),
        judge="url",
    ),
    Rule(
        "url-token",
        ("://",),
        r"""https?://(?P<s>[A-Za-z0-9_\-]{20,256})(?::x-oauth-basic)?@""",
        good=(
            "https://{HEX32}@o{D6}.ingest.sentry.io/{D7}",
            "git clone https://{AN40}@github.com/x/y",
        ),
        bad=("https://someone@example.com", "https://registry.example.com/@scope"),
        back=(5, 4),
        least=28,
    ),
    Rule(
        "netrc",
        ("machine ", "login "),
        r"(?:machine\s{1,8}\S{1,128}\s{1,8})?login\s{1,8}\S{1,128}\s{1,8}password\s{1,8}(?P<s>\S{1,256})",
        good=(
            "machine api.example.test login bob password {AN12}",
            "machine git.example.test\n  login bob\n  password {AN8}!",
        ),
        bad=("machine learning login form", "login with your password today"),
        judge="credential",
    ),
    Rule(
        "authorization",
        ("authorization", "x-api-key", "x-auth-token", "private-token", "x-vault-token"),
        r"""(?:proxy-)?(?:authorization|x-api-key|x-auth-token|private-token"""
        r"""|x-vault-token)\\{0,3}["'`]?\]?\s{0,4}[:=,]\s{0,4}\\{0,3}["'`]?"""
        r"""(?:[a-z][a-z0-9\-]{1,30}[ :=]{1,3})?(?P<s>[^\s"'`<>,;\\{}()]{8,4096})""",
        good=(
            'curl -H "Authorization: Bearer {U43}" https://api.example.test',
            "Authorization: Basic {B64:{AN6}:{AN12}}",
            "'x-api-key': '{AN32}'",
            "Proxy-Authorization: Basic {B64:bob:{AN12}}",
            "Authorization: Acme-Key {HEX32}",
            "Authorization: token {HEX40}",
        ),
        bad=(
            "Authorization: Bearer <token>",
            "Authorization: Bearer $TOKEN",
            "authorization = headers.get",
            "Authorization: required-scope-list",
        ),
        fold=True,
        judge="header",
    ),
    Rule(
        "bearer",
        ("bearer ", "bearer%20"),
        r"bearer(?:\s{1,3}|%20)(?P<s>[A-Za-z0-9._~+/\-]{16,4096}={0,2})",
        good=("Bearer {U43}", "sends bearer {HEX40} along"),
        bad=("bearer authentication-scheme-name", "Bearer your-access-token-here"),
        fold=True,
        judge="secret",
    ),
    Rule(
        "cookie",
        ("cookie:", 'cookie": ', "cookie': "),
        r"""(?:set-)?cookie\\{0,3}["']?:\s{0,4}\\{0,3}["']?(?P<s>[^\n"'\\]{16,4096})""",
        good=("Cookie: session={U43}; theme=dark", "Set-Cookie: sid={HEX40}; HttpOnly"),
        bad=("Cookie: theme=dark; lang=en-GB", "cookie: the word"),
        fold=True,
        judge="cookie",
    ),
    Rule(
        "aws-secret-key",
        ("aws_secret", "secretaccesskey", "secret_access_key", "secret access key", "aws-secret"),
        r"""(?:aws[_\-]?secret[_\-]?(?:access[_\-]?)?key"""
        r"""|secret[_\- ]?access[_\- ]?key)[A-Za-z0-9_]{0,20}"""
        r"""\\{0,3}["']?[^A-Za-z0-9\n]{1,12}(?:is )?["']?"""
        r"""(?P<s>[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/]))""",
        good=(
            "aws_secret_access_key = {B64_40}",
            '"SecretAccessKey": "{AN40}"',
            "AWS_SECRET_ACCESS_KEY={AN40}",
        ),
        bad=(
            "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "secret_access_key = <secret>",
        ),
        fold=True,
    ),
    Rule(
        "aws-session-token",
        ("session_token", "sessiontoken", "security-token", "security_token"),
        r"""(?:aws[_\-]?)?(?:session"""
        r"""|security)[_\-]?token\\{0,3}["']?[^A-Za-z0-9\n]{1,8}(?P<s>[A-Za-z0-9+/=%]{80,4096})""",
        good=("aws_session_token = {B64_300}", '"SessionToken": "{B64_400}"'),
        bad=("aws_session_token = <token>", "session_token = make_session_token()"),
        fold=True,
    ),
    Rule(
        "password-hash",
        (
            "$2a$",
            "$2b$",
            "$2y$",
            "$5$",
            "$6$",
            "$y$",
            "$apr1$",
            "$argon2",
            "pbkdf2_sha256$",
            "{SSHA}",
            "{SHA}",
        ),
        r"(?P<s>\$2[aby]\$\d\d\$[A-Za-z0-9./]{53}|\$(?:5|6|y"
        r"|apr1)\$[A-Za-z0-9./$=]{8,40}\$[A-Za-z0-9./]{22,90}"
        r"|\$argon2(?:id|i|d)\$[A-Za-z0-9+/=,$]{30,300}"
        r"|pbkdf2_sha256\$\d{2,9}\$[A-Za-z0-9]{4,40}\$[A-Za-z0-9+/=]{40,50}"
        r"|\{S?SHA\}[A-Za-z0-9+/=]{28,64})",
        good=(
            "$2b$12${AN53}",
            "root:$6${AN16}${AN86}:19000:0:99999:7:::",
            "bob:$apr1${AN8}${AN22}",
        ),
        bad=("$2b$", "cost $6$ and $5$"),
        judge="any",
    ),
    Rule(
        "curl-user",
        (" -u ", " --user ", " --user="),
        r"""(?<=[a-z0-9\"'/]) (?:-u |--user[ =])["']?[^\s:"'$]{1,64}:(?P<s>[^\s"'$<>{]{4,128})""",
        good=(
            "curl -u bob:{AN12} https://api.example.test",
            "curl -s --user admin:{AN10}! http://x",
        ),
        bad=(
            "curl -u $USER:$PASS https://x",
            "docker run -u 1000:1000 image",
            "curl -u user:password x",
        ),
        judge="account",
    ),
    Rule(
        "command-password",
        (
            "sshpass -p",
            "mysql",
            "--password",
            "--passphrase",
            "--token",
            "--secret",
            "--api-key",
            "login -p",
            "-pass pass:",
            "--pass ",
        ),
        r"""(?:sshpass -p ?|mysql(?:dump|admin)?\s[^\n|;]{0,80}?\s?-p(?=[^\s\-])|login -p ?"""
        r"""|-pass pass:|--(?:[a-z]{1,12}-)?(?:password|passphrase|pass|token|secret"""
        r"""|api-key)(?:=|\s{1,3}))["']?(?P<s>[^\s"'`$<>{|]{6,256})""",
        good=(
            "sshpass -p {AN10} ssh bob@host",
            "mysql -u root -p{AN12} app",
            "tool --password {AN10}!",
            "x --token={AN24}",
        ),
        bad=(
            "tool --password-file path",
            "mysql -u root -p",
            "tool --password <password>",
            "--token TOKEN",
        ),
        judge="argument",
    ),
)
