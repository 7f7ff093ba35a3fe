"""Rules for secrets by the place they stand in: headers, URLs, commands, files of known form."""

from mkg_hooks.redact_rules import Rule

_VALUE = r"""["']?(?P<s>[^\s"'`$<>{|;,]{6,256})"""

PLACES: tuple[Rule, ...] = (
    Rule(
        "authorization",
        ("authorization",),
        r"""authorization\\{0,3}["'`]?\]?\s{0,4}[:=,]\s{0,4}\\{0,3}["'`]?"""
        r"""(?:digest|hawk|oauth|signature|aws4-hmac-sha256|acs3-hmac-sha256|escher|mac)\s"""
        r"""(?P<s>[^\n]{0,64}=\\{0,3}["']?[^\n]{16,2048})""",
        good=(
            'Authorization: Hawk id="x", mac="{B64_44}"',
            "Authorization: AWS4-HMAC-SHA256 Credential=x/s3, Signature={HEX64}",
        ),
        bad=("Authorization: Digest", "the Authorization header, see OAuth 2"),
        fold=True,
        judge="any",
    ),
    Rule(
        "basic-auth",
        ("basic ",),
        r"(?<![A-Za-z])basic\s{1,3}(?P<s>[A-Za-z0-9+/]{12,512}={0,2})(?![A-Za-z0-9+/=])",
        good=("Basic {B64:bob:{AN14}}", "with basic {B64:api:{AN20}} it works"),
        bad=("Basic authentication", "the Basic Understanding"),
        fold=True,
        judge="basic",
    ),
    Rule(
        "ssws-token",
        ("ssws ",),
        r"(?<![a-z])ssws\s(?P<s>[A-Za-z0-9_\-]{20,64})",
        good=("SSWS 00{U40}", "uses SSWS 00{U40}"),
        bad=("SSWS tokens", "SSWS your-api-token-goes-here"),
        fold=True,
    ),
    Rule(
        "form-password",
        ('name="password"', 'name=\\"password', 'name="token"', 'name="secret"'),
        r"""name=\\?"(?:password|token|secret)\\?"(?:\r?\n|\\r\\n|\\n){2}(?P<s>[^\s\\]{6,256})""",
        good=('name="password"\r\n\r\n{AN10}!', 'name="token"\n\n{AN32}'),
        bad=('name="password"', '<input name="token" type="hidden">'),
        fold=True,
        judge="credential",
    ),
    Rule(
        "mail-login",
        ("]:587", "]:465", "]:25 "),
        r"\]:\d{2,3}\s{1,4}[\w.@+\-]{1,80}:(?P<s>[^\s:\"\\]{6,128})",
        good=("[smtp.example.net]:587 bob@example.net:{AN12}", "[m.example.net]:465 bob:{AN10}!"),
        bad=("[smtp.example.net]:587", "[h]:465 bob:password"),
        judge="account",
    ),
    Rule(
        "eap-secret",
        (": eap ", ": psk ", ": xauth "),
        r"""\s?:\s(?:eap|psk|xauth)\s\\{0,3}["'](?P<s>[^"'\\\n]{6,128})""",
        good=('bob : EAP "{AN14}"', '%any : PSK "{AN20}"'),
        bad=(': PSK "password"', ": EAP is a protocol"),
        fold=True,
        judge="credential",
    ),
    Rule(
        "signing-argument",
        ("jwt.sign(", "createhmac(", "hmac.new("),
        r"""(?:jwt\.sign|createhmac|hmac\.new)\((?:[^,\n"']{1,60},|["'][\w\-]{1,20}["'],)?\s{0,3}"""
        r"""b?\\{0,3}["'](?P<s>[^"'\\\n]{12,256})""",
        good=("createHmac('sha256', '{AN32}')", "jwt.sign(payload, '{AN10}!{AN10}')"),
        bad=("createHmac('sha256', secret)", "jwt.sign(payload, key)"),
        fold=True,
        judge="secret",
    ),
    Rule(
        "zapier-webhook",
        ("/hooks/catch/",),
        r"/hooks/catch/\d{4,12}/(?P<s>[a-z0-9]{5,12})",
        good=("https://hooks.zapier.com/hooks/catch/{D7}/{AN7}/", "/hooks/catch/{D6}/{AN6}"),
        bad=("/hooks/catch/", "/hooks/catch/all"),
        fold=True,
        judge="any",
        least=23,
    ),
    Rule(
        "docker-auth",
        ('auth"', "auth'", 'auth\\"'),
        r"""auth\\{0,3}["']\s{0,3}:\s{0,3}\\{0,3}["'](?P<s>[A-Za-z0-9+/]{12,2048}={0,2})\\{0,3}["']""",
        good=('{"auths":{"r.test":{"auth":"{B64:bob:{AN16}}"}}}', '{"auth": "{B64:x:{AN30}}"}'),
        bad=('{"auth": "authentication"}', '{"auth": "none"}'),
        fold=True,
        judge="basic",
    ),
    Rule(
        "url-parameter",
        (
            *("key=", "sig=", "code=", "auth=", "sid=", "signature=", "hmac=", "session=", "psk="),
            *("key%3d", "sig%3d", "code%3d", "auth%3d", "signature%3d"),
        ),
        r"(?:(?<=[?&])|(?<=%3f)|(?<=%26)|(?<=-)|(?<=_)|(?<![a-z0-9])(?=sig))(?:key|sig|code|auth|sid|signature|hmac"
        r"|session|psk)(?:=|%3d)(?P<s>(?P<v>[A-Za-z0-9_.~+/\-]{16,1024})(?:%3d|%253d|=){0,2})",
        good=(
            "https://x.test/f?key={U39}&v=2",
            "https://x.test/f?X-Amz-Signature={HEX64}",
            "https://x.test/cb?code={U40}&state=a",
            "/invoke?sig={U42}",
        ),
        bad=("?key=value", "&code=not-found-in-the-index", "https://x.test/?sid=12345678"),
        fold=True,
        judge="parameter",
        least=20,
    ),
    Rule(
        "webhook-url",
        (
            "hook",
            "/catch/",
            "integration/",
            "/robot/",
            "with/key/",
            "hc-ping.com/",
            "anaconda.org/t/",
            *("/reset", "/invite", "/verify", "/activate", "/magic"),
        ),
        r"(?:hooks?|webhooks?|/catch|integration|/robot|with/key|hc-ping\.com|anaconda\.org/t"
        r"|/reset[\w\-]{0,16}|/invite|/verify[\w\-]{0,16}|/activate|/magic[\w\-]{0,12})"
        r"(?:\.[a-z0-9.\-]{2,60})?/(?:[A-Za-z0-9_\-]{1,24}/){0,5}?"
        r"(?P<s>(?P<v>[A-Za-z0-9_\-]{16,200})(?:/[A-Za-z0-9_\-]{12,200})?)(?![\w.\-])",
        good=(
            "https://hook.eu1.make.com/{HEX32}",
            "https://mm.example.net/hooks/{AN26}",
            "https://hc-ping.com/{HEX8}-{HEX4}-4{HEX3}-a{HEX3}-{HEX12}",
            "https://open.example.cn/open-apis/bot/v2/hook/{HEX8}-{HEX4}-4{HEX3}-a{HEX3}-{HEX12}",
            "https://maker.example.com/trigger/x/with/key/{U22}",
        ),
        bad=(
            "import x from './hooks/useSomethingVeryLongNamed'",
            "https://example.com/webhooks/documentation-and-guides",
            "docs/hooks/{D4}",
        ),
        fold=True,
        judge="parameter",
        least=21,
    ),
    Rule(
        "oracle-login",
        ("@//", "sqlplus ", "jdbc:oracle", "exp ", "imp "),
        r"(?:jdbc:oracle:[a-z]{2,5}:|sqlplus\s(?:-\w\s)?)[A-Za-z]\w{0,30}/(?P<s>[^\s@/'\"]{6,64})@",
        good=("jdbc:oracle:thin:bob/{AN12}@//db:1521/x", "sqlplus scott/{AN8}7x@orcl"),
        bad=("jdbc:oracle:thin:@//db:1521/x", "sqlplus /nolog"),
        back=(0,),
        fold=True,
        judge="account",
    ),
    Rule(
        "pgpass",
        (":*:", ":5432:", ":5433:", ":6432:", ":3306:", ":5439:", ":26257:", ":1433:"),
        r"(?<=[\w.*\-]):(?:\*|\d{2,5}):(?:\*|[\w\-]{1,60}):(?:\*|[\w\-.]{1,60})"
        r":(?P<s>[^\s:\"\\]{6,128})(?=\s|\\n|\"|$)",
        good=("db.example.net:5432:app:bob:{AN12}", "*:*:*:postgres:{AN8}!{D2}"),
        bad=("localhost:5432:a:b:missing", "x:*:y"),
        judge="quoted",
    ),
    Rule(
        "command-password",
        (
            *("redis-cli", "ldap", "openssl", "zip ", "7z ", "login", "storepass", "keypass"),
            *("requirepass", "passin", "passout", "secret set", "smbclient", "authtoken"),
            *("snmp-server", "http -a", "htpasswd"),
        ),
        r"(?:redis-cli\s[^\n|;]{0,80}?-a|ldap\w{3,8}\s[^\n|;]{0,120}?-w|openssl\s[^\n|;]{0,120}?-k"
        r"|zip\s[^\n|;]{0,80}?-p|7z\s[^\n|;]{0,40}?-p(?=\S)|login\s(?:[^\n|;]{0,160}?\s)?-p(?=\s)"
        r"|(?:-?storepass|-?keypass|requirepass)|-?pass(?:in|out)\s{1,3}pass:"
        r"|secret\sset\s\S{1,60}\s(?:--body|-b)|smbclient\s[^\n|;]{0,80}?-U\s?\w{1,30}%"
        r"|(?:add-)?authtoken|snmp-server\scommunity|http\s-a\s\w{1,40}:"
        r"|htpasswd\s-\w{1,6}\s\S{1,80}\s\S{1,40})(?:\s{1,3}|=|(?<=[:%p]))" + _VALUE,
        good=(
            "redis-cli -h cache -a {AN24}",
            "ldapsearch -x -D cn=admin -w {AN12} -b dc=x",
            "keytool -storepass {AN12} -list",
            "openssl rsa -passin pass:{AN12} -in x",
            "az login --service-principal -u x -p {AN34} --tenant y",
            "ngrok config add-authtoken {AN27}_{AN21}",
        ),
        bad=("docker login -p $TOKEN x", "zip -r out.zip folder", "requirepass <password>"),
        fold=True,
        judge="argument",
    ),
    Rule(
        "curl-user",
        ("curl -u", "curl --user", "http -a ", " -u"),
        r"""(?:curl|http|\s)\s{0,1}(?:-u|--user|-a)[ =]?["']?[^\s:"'$]{1,64}"""
        r""":(?P<s>[^\s"'$<>{:/]{6,128})""",
        good=("curl -ubob:{AN12} https://x", "http -a bob:{AN12} GET x"),
        bad=("sort -uk1:2 file", "docker run -u 1000:1000 image"),
        judge="account",
    ),
    Rule(
        "piped-password",
        ("echo ", "printf "),
        r"(?:echo|printf)\s(?:-\w\s)?[\"']\w{1,32}:(?P<s>[^\s\"':]{6,128})[\"']\s?\|\s?(?:sudo\s)?chpasswd",
        good=("echo 'bob:{AN12}' | chpasswd", 'echo "root:{AN10}!" | sudo chpasswd'),
        bad=("echo $LINE | chpasswd", "echo 'a:b' | cat"),
        judge="account",
    ),
    Rule(
        "curl-cookie",
        (" -b ", "--cookie "),
        r"""(?:\s-b|--cookie)\s{1,3}["']?(?P<s>[^\s"'=]{1,60}=[^"'\n]{16,4096})""",
        good=("curl -b 'session={U43}' https://x", "curl --cookie sessionid={AN32} https://x"),
        bad=("git checkout -b feature=1", "curl --cookie theme=dark https://x"),
        judge="cookie",
    ),
    Rule(
        "wifi-password",
        ("wifi:",),
        r"wifi:[^\n]{0,120}?;p:(?P<s>(?:[^;\\\n]|\\.){6,64});",
        good=("WIFI:S:home;T:WPA;P:{AN12};;", "WIFI:T:WPA;S:x;P:{AN16};H:true;;"),
        bad=("WIFI:S:home;T:nopass;;", "wifi: works"),
        fold=True,
        judge="any",
    ),
    Rule(
        "otp-seed",
        ("otpauth://", "totp", "2fa", "otp"),
        r"(?:otpauth://[^\s]{0,200}?[?&]secret=|(?:totp|2fa|otp|mfa)[^\n=:]{0,24}?(?:secret|seed|key)"
        r"[^\n:=]{0,12}?(?:[:=]|\sis)\s{0,3}[\"']?|(?:totp|otp|mfa)_(?:seed|secret|key)[\"']?\s{0,3}[=:]\s{0,3}[\"']?)"
        r"(?P<s>[A-Z2-7]{4}(?:[ \-]?[A-Z2-7]{4}){3,15}|[A-Z2-7]{16,64})(?![A-Za-z0-9])",
        good=(
            "otpauth://totp/A:bob?secret={B32_32}&issuer=A",
            "TOTP_SEED={B32_32}",
            "my 2fa secret is {B32_16}",
        ),
        bad=("otpauth://totp/A:bob?issuer=A", "the OTP secret is required", "totp: on"),
        fold=True,
        judge="key",
    ),
    Rule(
        "seed-phrase",
        (
            "seed phrase",
            "mnemonic",
            "recovery phrase",
            "seed_phrase",
            "seed words",
            "secret phrase",
        ),
        r"(?:seed.phrase|mnemonic|recovery.phrase|seed.words|secret.phrase)"
        r"[^\n:=]{0,24}?(?:[:=]|\sis)"
        r"\s{0,3}[\"'`]?(?P<s>[a-z]{3,8}(?:[ ,]{1,2}[a-z]{3,8}){11,23})(?![a-z])",
        good=(
            "seed phrase: abandon ability able about above absent absorb abstract absurd abuse"
            " access accident",
            'mnemonic = "zoo ability able about above absent absorb abstract absurd abuse ask ace"',
        ),
        bad=("the seed phrase is stored in the safe", "mnemonic: a word that helps"),
        fold=True,
        judge="any",
    ),
    Rule(
        "jwk-private",
        ('"d"', '"k"', '\\"d\\"', '\\"k\\"'),
        r"\\{0,3}\"[dk]\\{0,3}\"\s{0,3}:\s{0,3}\\{0,3}\"(?P<s>[A-Za-z0-9_\-]{40,1400})\\{0,3}\"",
        good=('{"kty":"oct","k":"{U43}"}', '{"kty":"RSA","n":"x","d":"{U342}"}'),
        bad=('{"d":"path"}', '{"k": "some-long-identifier-in-lower-case-letters"}'),
        judge="secret",
    ),
    Rule(
        "kubernetes-secret",
        ("kind: secret", 'kind": "secret', 'kind":"secret', "stringdata:"),
        r"(?:kind\"?: ?\"?secret\"?\s|stringdata:)",
        good=(
            "kind: Secret\ntype: Opaque\ndata:\n  license: {B64:{AN24}}\n",
            "apiVersion: v1\nkind: Secret\nstringData:\n  note: {AN24}\n",
        ),
        bad=("kind: SecretStore\ndata:\n  a: b\n", "kind: Secret\nmetadata:\n  name: x\n"),
        fold=True,
        judge="any",
    ),
    Rule(
        "key-data",
        ("key-data", "key_data", "private_key", "privatekey", "presharedkey", "secure:", "keydata"),
        r"""(?:client-key-data|key[-_]?data|private_?key|presharedkey|secure)\\{0,3}["']?\s{0,3}[:=]\s{0,3}"""
        r"""\\{0,3}["']?(?P<s>(?:0x)?[A-Za-z0-9+/_\-]{40,8192}={0,2})""",
        good=(
            "client-key-data: {B64_400}",
            "PrivateKey = {B64_44}",
            "PRIVATE_KEY=0x{HEX64}",
            'secure: "{B64_344}"',
        ),
        bad=(
            "private_key: <key>",
            "private_key = load_pem_private_key_from_the_file_of_the_user_now()",
        ),
        fold=True,
        judge="blob",
    ),
    Rule(
        "private-key-text",
        ("private key", "wallet key", "signing key", "secret key", "wif"),
        r"(?:private key|wallet key|signing key|secret key|wif)"
        r"[^\n:=]{0,16}?(?::|=|\sis)?\s{1,3}[\"'`]?"
        r"(?P<s>(?:0x)?[A-Za-z0-9+/]{40,128}={0,2})(?![A-Za-z0-9])",
        good=("private key 0x{HEX64}", "wif 5{AN50}", "the private key is {B64_44}"),
        bad=("private key of the server", "secret key stored elsewhere"),
        fold=True,
        judge="blob",
    ),
    Rule(
        "key-beside-name",
        ('username"', 'username\\"'),
        r"""username\\{0,3}"\s{0,2}:\s{0,2}\\{0,3}"[^"\n]{1,64}"\s{0,2},\s{0,8}\\{0,3}"key\\{0,3}"\s{0,2}:\s{0,2}\\{0,3}"(?P<s>[a-f0-9]{32})""",
        good=('{"username":"bob","key":"{HEX32}"}', '{"username": "x", "key": "{HEX32}"}'),
        bad=('{"username":"bob","key":"value"}', '{"username":"bob"}'),
        judge="any",
    ),
    Rule(
        "static-key",
        ("static key",),
        r"-----BEGIN OpenVPN Static key V1-----(?P<s>(?:\s|\\n)[0-9a-f\s\\n]{64,1200})",
        good=(
            "-----BEGIN OpenVPN Static key V1-----\n{HEX32}\n{HEX32}\n{HEX32}\n-----END",
            "-----BEGIN OpenVPN Static key V1-----\\n{HEX32}\\n{HEX32}\\n{HEX32}\\n-----END",
        ),
        bad=("a static key", "-----BEGIN OpenVPN Static key V1-----"),
        back=(19,),
        fold=True,
        judge="any",
    ),
)
