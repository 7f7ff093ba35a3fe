"""Rules for tokens of more vendors, by their public prefixes, and for prefixes nobody knows."""

from mkg_hooks.redact_rules import AN, LEFT, Rule, W, token

VENDORS: tuple[Rule, ...] = (
    token(
        "vendor-hex-token",
        (
            *("squ_", "sqp_", "sqa_", "sgp_", "sgd_", "crsr_", "KGAT_", "shippo_live_", "rdme_"),
            *("shippo_test_", "sk_", "pat_", "lsv2_", "phs_", "dsapi_", "mlsn."),
        ),
        "a-f0-9_",
        32,
        left=LEFT,
        high=160,
        good=("squ_{HEX40}", "sgp_{HEX16}_{HEX40}", "KGAT_{HEX32}", "sk_{HEX48}", "rdme_{HEX70}"),
        bad=("sk_", "squ_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "mask_{HEX40}"),
    ),
    token(
        "vendor-token",
        (
            *("wandb_v1_", "esecret_", "napi_", "AVNS_", "CCDB1_", "vercel_blob_rw_", "hcaik_"),
            *("duffel_live_", "duffel_test_", "fio-u-", "pnu_", "sm_pat_", "sm_aat_", "dnkey-"),
            *("GR1348941", "gocard_live_", "live_", "test_", "y0_", "AQVN", "YCAJE", "YCM", "IGQ"),
            *("EZAK", "EZTK", "ABSK", "GOOG1E", "AQE", "EAA", "re_", "sess-", "hcxik_", "hcxlk_"),
            *("patu_", "cfut_", "cfat_", "v1.public.", "ntn_", "secret-token:", "ory_at_", "cal_"),
            *("ory_rt_", "ory_pat_", "sbp_", "pplx-", "app-", "dc_", "ATTA", "ghost_", "kpt_"),
            *("zpka_", "nrak-", "lip_", "syt_", "mxb_", "ptr_", "e2b_", "exa_", "sl.", "t1."),
            *("bws_", "gta_", "fw_", "st.", "bkpt_", "bkuat_", "tk-us-", "oauth:", "hapi_"),
            *("apify_api_", "browserless_", "dg_", "rpa_", "runpod_", "lip-", "cgk_", "nsp_"),
        ),
        r"A-Za-z0-9_.\-",
        20,
        left=LEFT,
        high=2048,
        judge="vendor",
        good=(
            *("wandb_v1_{AN77}", "napi_{AN64}", "AVNS_{AN30}", "CCDB1_{AN22}_{AN40}"),
            *("live_{AN30}", "key EZAK{AN54}", "EAA{AN150}", "dnkey-{AN26}-{AN52}", "sl.{U130}"),
            *("oauth:{AN30}", "re_{AN8}_{AN24}", "t1.{U120}.{U86}", "y0_{U55}"),
        ),
        bad=(
            "test_a_long_name_of_a_function_that_tests_something",
            "live_reload_of_the_whole_page_is_not_possible_here",
            "app-shell-layout-container-with-a-long-class-name",
        ),
    ),
    token(
        "vendor-key",
        ("ops_eyJ", "eyJrIjoi", "APA91b"),
        r"A-Za-z0-9_%+/=\-",
        60,
        left=r"(?:(?<![A-Za-z0-9])|(?<=:))",
        high=4096,
        judge="blob",
        good=("ops_eyJ{U300}", "eyJrIjoi{AN90}", "AAAA{U7}:APA91b{U134}"),
        bad=("ops_eyJ", "eyJrIjoiAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"),
    ),
    Rule(
        "vendor-key",
        ("AAAAAAAAAAAAAAAAAAAAA",),
        r"(?<![A-Za-z0-9+/])(?P<s>A{21}(?P<v>[A-Za-z0-9]{20,120}%3D[A-Za-z0-9%]{20,120}))",
        good=(
            "AAAAAAAAAAAAAAAAAAAAA{AN80}%3D{AN30}",
            "bearer AAAAAAAAAAAAAAAAAAAAA{AN30}%3D{AN50}",
        ),
        bad=("AAAAAAAAAAAAAAAAAAAAA{AN80}", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA%3D"),
        judge="any",
    ),
    Rule(
        "vendor-key",
        ("jqqj99", "amzn.mws.", "_mmk", "access_token$production$", "azdo"),
        r"(?P<s>(?:[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{22,24}"
        r"|amzn\.mws\.[0-9a-f\-]{36}|[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"
        r"|access_token\$production\$[a-z0-9]{16}\$[a-f0-9]{32}"
        r"|[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}))",
        good=(
            "{AN52}JQQJ99{AN23}",
            "amzn.mws.{HEX8}-{HEX4}-{HEX4}-{HEX4}-{HEX12}",
            "{AN6}_{AN29}_mmk",
            "{AN76}AZDO{AN4}",
        ),
        bad=("amzn.mws.", "a_mmk"),
        back=(0, 52, 36, 76),
        dense=False,
        fold=True,
    ),
    Rule(
        "asana-token",
        ("1/", "2/"),
        r"(?<![\w/.])(?P<s>[12]/\d{12,20}(?:/\d{12,20})?:[a-f0-9]{32})(?![\w])",
        good=("1/{D16}:{HEX32}", "2/{D16}/{D16}:{HEX32}"),
        bad=("1/2", "page 1/{D16}"),
        dense=False,
    ),
    token(
        "clickup-token",
        ("pk_",),
        "0-9A-Z_",
        36,
        left=LEFT,
        high=48,
        good=("pk_{D8}_{UP32}", "clickup pk_{D8}_{UP32}"),
        bad=("pk_", "pk_XXXXXXXX_XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX"),
    ),
    Rule(
        "bech32-key",
        ("nsec1", "ncryptsec1", "age-secret-key-1", "age-plugin-", "cosmosvaloperpriv"),
        r"(?P<s>(?:nsec1|ncryptsec1|age-secret-key-1|age-plugin-[a-z0-9]{2,20}-1)"
        r"[02-9ac-hj-np-z]{38,200})(?![A-Za-z0-9])",
        good=("nsec1{BECH58}", "AGE-SECRET-KEY-1{BECH58}"),
        bad=("nsec1", "npub1{BECH58}"),
        fold=True,
    ),
    Rule(
        "extended-key",
        ("xprv", "yprv", "zprv", "tprv"),
        LEFT + r"(?P<s>[xyzt]prv[1-9A-HJ-NP-Za-km-z0OIl]{90,115})",
        good=("xprv9s21ZrQH143K{AN96}", "wallet tprv8{AN104}"),
        bad=("xprv", "xpub6{AN106}"),
    ),
    Rule(
        "onepassword-key",
        ("A3-",),
        LEFT + r"(?P<s>A3-[A-Z0-9]{6}-[A-Z0-9]{6}(?:-[A-Z0-9]{5}){4})(?![A-Za-z0-9])",
        good=(
            "A3-{UP6}-{UP6}-{UP5}-{UP5}-{UP5}-{UP5}",
            "key A3-{UP6}-{UP6}-{UP5}-{UP5}-{UP5}-{UP5}",
        ),
        bad=("A3-", "A3-PAPER-SIZE"),
        judge="key",
    ),
    # The key of this rule is not searched for: see `_tails` of redact_scan.
    Rule(
        "prefixed-token",
        ("_", "-"),
        rf"[_\-](?P<s>[{AN}]{{16,256}})(?![{W}])",
        good=("acme_live_{AN40}", "zzk-{AN40}", "fooapi_sk_{AN32}", "acme_pat_{HEX40}"),
        bad=(
            "toolu_01{AN22}",
            "chatcmpl-{AN29}",
            "sha256-{HEX64}",
            "some_function_name_withAVeryLongCamelCaseTailHere",
            "asset_{HEX16}",
        ),
        judge="tail",
    ),
)
