"""Rules for values behind a name like password or token, in code, data and prose."""

from mkg_hooks.redact_rules import Rule

_PASS = (
    *("passw", "passphrase", "passcode", "_pass", "pwd", "kennwort", "contrase", "mot de passe"),
    *("passkey", "psk", "identified by", "senha", "wachtwoord"),
)
_SECRET = (
    "secret",
    "token",
    "apikey",
    "api_key",
    "api-key",
    "api key",
    "accesskey",
    "access_key",
    "access-key",
    "privatekey",
    "private_key",
    "private-key",
    "encryption_key",
    "encryptionkey",
    "signing_key",
    "signingkey",
    "master_key",
    "masterkey",
    "auth_key",
    "authkey",
    "credential",
    "_auth",
    "sharedkey",
    "shared_key",
    "webhook_key",
    "license_key",
    "account_key",
    "service_key",
    *("subscription-key", "subscriptionkey", "auth-key", "auth key", "access key", "secret key"),
    *("app_key", "application_key", "write_key", "admin_key", "license key", "salt", "pepper"),
    *("x-honeycomb-team", "authtoken", "_password", "clearpass", "connectionstring", "session_key"),
    *("samlresponse", "samlassertion", "refresh", "securestring", "recovery code", "backup code"),
)
_ENV = (
    "_PASS=",
    "_PWD=",
    "_SECRET=",
    "PASSWORD=",
    "PASSWD=",
    "_PASSPHRASE=",
    "_PASS: ",
    "PASSWORD: ",
    "_SECRET: ",
)
_ENV_KEY = (
    "_KEY=",
    "_TOKEN=",
    "_PAT=",
    "_AUTH=",
    "_CREDENTIALS=",
    "_DSN=",
    "_SALT=",
    "_SESSION=",
    "_SEED=",
    "_REFRESH=",
    "_JWT=",
    "_COOKIE=",
    "_WEBHOOK=",
    "_COM=",
    "_NET=",
    "_KEY: ",
    "_TOKEN: ",
)
_PASS_KEY, _SECRET_KEY = (
    "|".join(_PASS),
    r"(?<!lock)(?<!lock-)(?<!next)(?<!\d:)(?:" + "|".join(_SECRET) + ")",
)
# Names of a key that say whose or what for, of vendors no rule knows; others are names in a store.
_WHOSE = (
    *("app", "deploy", "deployment", "ingestion", "ingest", "integration", "delivery", "preshared"),
    *("management", "server", "client", "developer", "live", "prod", "production", "sandbox"),
    *("sdk", "rest", "consumer", "merchant", "partner", "upload", "bot", "machine", "secure"),
)
_KEY_OF = tuple([f"{word}{between}key" for word in _WHOSE for between in ("", "_", "-", " ")])
# Not in the middle of a word, but where a capital begins the next word of a name.
_BEGIN = r"(?-i:(?<![A-Za-z])|(?=[A-Z]))"
_KEY_NAME = rf"{_BEGIN}(?:{'|'.join(_WHOSE)})[_\- ]?key"
# The rest of a name, then what stands between name and value in code, JSON, YAML, XML and queries.
_NAME = (
    r"""[A-Za-z0-9_\-.]{0,40}+\\{0,3}["'`]?(?:\[\]|\]|\*)?\)?(?:\sas\s\w{1,20})?(?:\s{0,2}:\s{0,2}(?:&'static\s)?"""
    r"""[&?A-Za-z][\w<>\[\]?.|]{0,40}(?:\s\|\s\w{1,20})?(?=\s{0,3}=))?"""
)
_OPERATOR = (
    r"""\s{0,8}(?:=>|->|:=|</key>(?:\s|\\n){0,8}<string>|(?:\s[\w:]{1,20}=\\?["'][^"'\n]{0,120}["']){1,3}>|[=!]={1,2}|=|:(?:\s{0,3}[|>][\-+]?\s{0,3}(?:\n|\\n))?"""
    r"""|,(?:\s{0,8}\\{0,3}["']value\\{0,3}["']\s{0,3}:)?(?=\s{0,16}\\{0,3}["'])|\((?=\s{0,3}\\{0,3}["'])"""
    r"""|(?:\s|\\n){1,8}value\s{0,2}[:=]|by\s\w{1,12}\s{0,2}\{(?=\s{0,3}\\{0,3}["'])"""
    r"""|>(?=[^<>\s]{4,200}</)|\s(?=\\{0,3}["'])|(?<=\s)to\s(?=["']))\s{0,16}"""
)
_QUOTED = (
    r"""[bBrRuUfF]{0,2}(?:"(?P<s>(?:[^"\\\n]|\\.){1,512})"|'(?P<s2>(?:[^'\\\n]|\\.){1,512})'"""
    r"""|`(?P<s3>[^`\n]{1,512})`|\\{1,7}["'](?P<s4>[^"'\\\n]{1,512})\\{1,7}["']"""
    r"""|\[\[(?P<s5>[^\]\n]{1,512})\]\])"""
)
_BARE = r"""(?P<s>[^\s"'`<>,;(){}\[\]\\|&]{6,512}+)(?![(\[{])"""
_PROSE_VALUE = r"""[\"'`(]{0,2}(?P<s>[^\s"'`<>]{6,256})"""
_IS = (
    r"\s(?:is|was|are|=|ist|war|lautet|es|est|e|\u00e8|equals|to|should be|will be)"
    r"(?:\s(?:now|still|just|simply|set to|changed to|reset to|jetzt))?\s"
)

NAMED: tuple[Rule, ...] = (
    Rule(
        "password",
        _PASS,
        rf"(?P<k>(?:{_PASS_KEY}){_NAME})(?P<op>{_OPERATOR}){_QUOTED}",
        good=(
            'password = "{AN12}"',
            '{"password": "{AN10}!x"}',
            "os.environ[\"DB_PASSWORD\"] = '{AN14}'",
            '{\\"passwd\\": \\"{AN12}\\"}',
            'setPassword("{AN6}#{AN6}")',
            "const dbPassword: string = '{AN12}'",
        ),
        bad=(
            'password = "your-password"',
            'password: "string"',
            'label = {"password": "Enter your password"}',
            'password="${DB_PASSWORD}"',
        ),
        fold=True,
        judge="quoted",
    ),
    Rule(
        "password",
        _PASS,
        rf"(?P<k>(?:{_PASS_KEY}){_NAME})(?P<op>{_OPERATOR}){_BARE}",
        good=(
            "password: hunter{D2}{L2}",
            "Server=db;User Id=sa;Password={AN8}!{AN3};",
            "pwd={AN12}",
            "<password>{AN12}</password>",
        ),
        bad=(
            "password = getpass.getpass()",
            "password: Optional",
            "password=self.password",
            "pwd=/home/someone/project",
            "password: sha256",
        ),
        fold=True,
        judge="bare",
    ),
    Rule(
        "password",
        ("passw", "passphrase", "passcode", "pwd", "kennwort", "contrase", "mot de passe"),
        rf"(?:passwor[dt]|passwd|passphrase|passcode|pwd|kennwort|contrase[n\u00f1]a"
        rf"|mot de passe)s?(?:[^.\n=:]{{0,60}}?{_IS}"
        rf"|\s{{0,3}}[:=\-]{{1,2}}\s{{1,3}}){_PROSE_VALUE}",
        good=(
            "the staging password is {AN6}-{AN6}!",
            "password for the db is {AN10}",
            "Passwort ist {AN12}",
            "the wifi password was changed to `{AN9}!`",
        ),
        bad=(
            "the password is wrong",
            "password is required for login",
            "the password is sha256-hashed",
            "password is stored in 1password",
        ),
        fold=True,
        judge="prose",
    ),
    Rule(
        "secret",
        _SECRET,
        rf"(?P<k>(?:{_SECRET_KEY}){_NAME})(?P<op>{_OPERATOR}){_QUOTED}",
        good=(
            'api_key = "{AN32}"',
            '{"access_token": "{U40}"}',
            "clientSecret: '{AN24}'",
            "token: `{HEX40}`",
        ),
        bad=(
            'api_key = "your-api-key-here"',
            'token = "some_identifier_name"',
            'secret: "my-secret-name"',
            "tokens = ['NAME', 'OP']",
        ),
        fold=True,
        judge="secret",
    ),
    Rule(
        "secret",
        _SECRET,
        rf"(?P<k>(?:{_SECRET_KEY}){_NAME})(?P<op>{_OPERATOR}){_BARE}",
        good=(
            "api_key: {AN32}",
            "client_secret={AN40}",
            "?access_token={U40}&x=1",
            "<apiKey>{AN32}</apiKey>",
        ),
        bad=(
            "token = next_token",
            "secret: settings.secret",
            "token=tokenize.TOKEN",
            "api_key: ${API_KEY}",
        ),
        fold=True,
        judge="secret",
    ),
    Rule(
        "secret",
        (
            *("secret", "token", "api key", "apikey", "api_key", "api-key", "access key"),
            *(" pat is", " pat:", "license key", "webhook", "credential"),
        ),
        rf"(?<!lock)(?<!next)(?<!\d:)(?:secret(?: key)?|token|api[ _\-]?key"
        rf"|access key| pat|license key|webhook|credential)s?"
        rf"(?:[^.\n=:]{{0,60}}?(?:{_IS}|:\s{{1,3}})"
        rf"|\s{{0,3}}(?:->|[:=\-]{{1,2}}|\u2192)\s{{1,3}}|\s){_PROSE_VALUE}",
        good=("my token is {AN32}", "the api key for staging is {HEX40}", "use api key {AN32}"),
        bad=("the token is expired", "a token is 512-dimensional", "secret is kept in vault-2"),
        fold=True,
        judge="secret",
    ),
    Rule(
        "env-secret",
        _ENV,
        r"""[A-Z_]{4,13}(?:=|: )["']?(?P<s>[^\s"'`]{6,1024})""",
        good=(
            "DB_PASSWORD=opensesameopen",
            "PGPASSWORD={AN8}x psql",
            "APP_SECRET={HEX64}",
            "ROOT_PASS: {AN10}",
        ),
        bad=(
            "DB_PASSWORD=${DB_PASSWORD}",
            "APP_SECRET=your-secret",
            "APP_SECRET=",
            "DB_PASSWORD=some.module.attr",
        ),
        judge="env",
    ),
    Rule(
        "env-secret",
        _ENV_KEY,
        r"""[A-Z_]{4,13}(?:=|: )["']?(?P<s>[^\s"'`]{6,1024})""",
        good=("export STRIPE_KEY={AN24}", "MY_TOKEN: {AN24}", "GH_PAT={AN32}"),
        bad=(
            "API_KEY=your-api-key",
            "MAX_TOKEN=4096",
            "CACHE_KEY=my_cache_key_name",
            "_KEY=some.module.attr",
        ),
        judge="secret",
    ),
    Rule(
        "secret",
        (*_KEY_OF, "seed"),
        rf"(?P<k>(?:{_KEY_NAME}|{_BEGIN}seed){_NAME})(?P<op>{_OPERATOR}){_QUOTED}",
        good=('"deployKey": "{AN32}"', "app_key = '{HEX40}'", '{"seed": "SU{B32_56}"}'),
        bad=('"app_key": "name-of-the-app"', "seed = '42'", 'public_key = "{HEX64}"'),
        fold=True,
        judge="secret",
    ),
    Rule(
        "secret",
        (*_KEY_OF, "seed"),
        rf"(?P<k>(?:{_KEY_NAME}|{_BEGIN}seed){_NAME})(?P<op>{_OPERATOR}){_BARE}",
        good=("x.app-key: {HEX40}", "ingestion_key={HEX32}", "seed: SU{B32_56}"),
        bad=("app_key: settings.app_key", "seed: 1234567890123", "seed = random_state"),
        fold=True,
        judge="secret",
    ),
    Rule(
        "secret",
        (*_KEY_OF, "auth key", "master key", "admin key", "signing key", "write key", "seed"),
        rf"(?:{_KEY_NAME}|{_BEGIN}(?:auth|master|admin|signing|write) key|{_BEGIN}seed)"
        rf"(?:[^.\n=:]{{0,60}}?(?:{_IS}|:\s{{1,3}})|\s{{0,3}}(?:->|[:=\-]{{1,2}}|\u2192)\s{{1,3}}|\s)"
        rf"{_PROSE_VALUE}",
        good=(
            "the deploy key of x is {AN40}",
            "preshared key: `{AN42}=`",
            "the seed is SU{B32_56}",
        ),
        bad=("the app key is missing", "the seed is 20240101", "client key -> server-side-only"),
        fold=True,
        judge="secret",
    ),
    Rule(
        "told-secret",
        tuple(
            [f" {verb} {whose} " for verb in ("as", "is") for whose in ("the", "my", "our", "your")]
        ),
        r" (?:as|is) (?:the|my|our|your) ",
        good=(
            "use {AN32} as the api key for staging",
            "`{HEX40}` is my token",
            "set {AN24} as our client secret",
        ),
        bad=(
            "{HEX40} is the commit with the token",
            "use {HEX32} as the cache key",
            "use {AN32} as the next page token",
        ),
        fold=True,
        judge="secret",
    ),
)
