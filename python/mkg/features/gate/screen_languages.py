"""The screen's phrases in other languages; accents are already folded when they are matched."""

OVERRIDE = (
    # German
    r"\b(?:ignorier\w*|vergiss|vergesst|missacht\w*|ubergeh\w*)\b[^.!?]{0,20}\b(?:vorherig\w*"
    r"|bisherig\w*"
    r"|fruher\w*|vorig\w*|obig\w*|alle\w*)\b[^.!?]{0,20}\b(?:anweisung\w*|regeln?|vorgaben?"
    r"|befehle?)\b",
    # French
    r"\b(?:ignore[zr]?|oublie[zr]?|neglige[zr]?)\b[^.!?]{0,20}\b(?:instructions?|consignes?"
    r"|regles?)\b"
    r"[^.!?]{0,12}\b(?:precedentes?|anterieures?|ci-dessus|donnees)\b",
    # Spanish, Portuguese, Italian
    r"\b(?:ignora\w*|olvid\w*|omit\w*|esquec\w*|dimentic\w*)\b[^.!?]{0,20}\b(?:instruc\w+|ordenes"
    r"|reglas|regras"
    r"|istruzioni|regole|instrucoes)\b[^.!?]{0,12}\b(?:anterior\w*|previ\w*|precedent\w*)",
    # Russian
    r"(?:игнорируи\w*|забудь\w*)[^.!?]{0,20}(?:предыдущ\w*|прежн\w*|все)[^.!?]{0,12}(?:инструкц\w*"
    r"|правил\w*"
    r"|указани\w*)",
    # Chinese
    r"(?:忽略|无视|忘记|忘掉|不要理会|违反)[^。\uff01\uff1f]{0,8}(?:之前|以上|先前|前面|此前|所有"
    r"|上述)[^。\uff01\uff1f]{0,8}"
    r"(?:指令|规则|提示|指示|要求|命令)",
    # Japanese
    r"(?:以前|これまで|上記|前|すべて|全て)の?[^。\uff01\uff1f]{0,8}(?:指示|命令|ルール|規則"
    r"|プロンプト)[^。\uff01\uff1f]{0,4}を?"
    r"(?:無視|忘れ|破棄)",
    # Korean
    r"(?:이전|위의|모든)[^.!?]{0,12}(?:지시|명령|규칙)[^.!?]{0,6}(?:무시|잊)",
)

REVEAL = (
    r"\b(?:zeig\w*|gib|nenn\w*|druck\w*)\b[^.!?]{0,20}\b(?:system-?prompt\w*|versteckt\w* "
    r"anweisung\w*)",
    r"\b(?:affiche\w*|montre\w*|revele\w*|donne\w*|repete\w*)\b[^.!?]{0,20}\b(?:prompt systeme"
    r"|instructions? "
    r"(?:cachees?|systeme|initiales?))",
    r"\b(?:muestra\w*|revela\w*|imprime\w*|mostra\w*|repite\w*)\b[^.!?]{0,20}\b(?:prompt del "
    r"sistema"
    r"|instrucciones (?:ocultas|del sistema|iniciales)|prompt do sistema|prompt di sistema)",
    r"(?:显示|输出|打印|泄露|告诉我|重复)[^。\uff01\uff1f]{0,8}(?:系统提示|系统指令|隐藏指令"
    r"|初始指令"
    r"|隐藏的指令)",
    r"(?:システムプロンプト|隠された指示|初期指示)を?[^。\uff01\uff1f]{0,8}(?:表示|出力|教え|見せ"
    r"|繰り返)",
    r"(?:покажи|выведи|раскрои)[^.!?]{0,16}(?:системн\w* (?:промпт|инструкци)\w*)",
)

APPROVE = (
    # In each language: unless the sentence forbids it
    r"(?:^|[.!?:]\s)(?:(?!\b(?:nie|niemals|nicht|nichts|niemand|kein\w*)\b)[^.!?]){0,160}?\bohne"
    r" (?:jede |weitere )?(?:ruckfrage|bestatigung|freigabe|genehmigung|zu fragen|nachfrage"
    r"|erlaubnis)\b(?![^.!?]{0,40}\b(?:nie|niemals|nicht|verboten|untersagt)\b)",
    r"\bfrag\w*\b[^.!?]{0,12}\b(?:nie|niemals|nicht)\b[^.!?]{0,12}\b(?:bevor|nach|vorher|mehr|um)\b",
    r"(?:^|[.!?:]\s)(?:(?!\b(?:jamais|ne|rien|aucun\w*|personne)\b|\bn')[^.!?]){0,160}?\bsans"
    r" (?:aucune )?(?:confirmation|demander|approbation|validation|autorisation)\b",
    r"\bne (?:me |nous )?demande\w*\b[^.!?]{0,12}\b(?:jamais|pas|plus)\b",
    r"(?:^|[.!?:]\s)(?:(?!\b(?:nunca|no|nada|nadie|jamas|mai|nao|non)\b)[^.!?]){0,160}?\b(?:sin"
    r" (?:pedir |ninguna )?(?:confirmacion|preguntar|aprobacion|permiso|autorizacion)"
    r"|sem (?:confirmacao|perguntar|aprovacao)|senza (?:conferma|chiedere|approvazione))\b",
    r"\bno (?:me )?preguntes?\b[^.!?]{0,12}\b(?:antes|nunca|mas)\b|\bnunca (?:me )?preguntes\b",
    r"(?:^|[.!?:]\s)(?:(?!\b(?:не|никогда|нельзя|запрещ\w*|никто)\b)[^.!?]){0,160}?"
    r"\b\u0431\u0435\u0437 (?:подтверждени\w*|разрешени\w*|согласовани\w*|спроса)",
    # Chinese: unless the sentence forbids it
    r"(?:^|[。\uff01\uff1f;])(?![^。\uff01\uff1f;]{0,120}(?:不得|不能|禁止|不可|切勿|严禁|不允许"
    r"|不许|绝不|不应))[^。\uff01\uff1f;]{0,120}?(?:未经|没有"
    r"|无)[^。\uff01\uff1f]{0,4}(?:确认|批准|审核|授权"
    r"|许可|审批)[^。\uff01\uff1f]{0,12}(?:删除|部署|合并|执行|提交|修改|推送|发布|允许|可以)",
    r"(?:允许|可以|能够)[^。\uff01\uff1f]{0,8}(?:未经|不经|无需)[^。\uff01\uff1f]{0,4}(?:确认|批准"
    r"|审核|授权|许可"
    r"|审批)",
    r"(?:无需|不需要|不用|不必|免去|跳过|省略|绕过)[^。\uff01\uff1f]{0,6}(?:确认|批准|审批|审核"
    r"|审查|询问"
    r"|授权|许可|检查|验证)",
    # Japanese: unless the sentence forbids it
    r"(?:確認|承認|許可|レビュー)(?:なし|無し|せず|を得ず|を取らず|なく)(?:で"
    r"|に)?[^。\uff01\uff1f]{0,20}"
    r"(?:し|行っ|削除|変更|実行|マージ|デプロイ)(?!ないで|てはいけ|ては(?:なら|だめ)"
    r"|ない)(?![^。\uff01\uff1f]{0,10}"
    r"(?:ないで|いけません|いけない|ならない|禁止|ません))",
    # Korean
    r"(?:확인|승인|허가)\s?없이",
)

WEAKEN = (
    # German
    r"\b(?:freigaben?|genehmigung\w*|(?:code-?)?reviews?|bestatigung\w*|sicherheitsprufung\w*"
    r"|signaturprufung\w*"
    r"|backups?|sicherungen|tests?)\b(?:(?!\b(?:nie|niemals|never|not)\b)[^.!?])"
    r"{0,40}\b(?:nicht (?:notig|notwendig|erforderlich)"
    r"|uberflussig|unnotig"
    r"|optional|entbehrlich|abgeschaltet|deaktiviert)\b",
    r"\b(?:uberspring\w*|deaktivier\w*|umgeh\w*|schalt\w*)\b[^.!?]{0,30}\b(?:\w*prufung\w*"
    r"|freigabe\w*|firewall"
    r"|sandbox|\w*review\w*|verifizierung|zertifikat\w*)",
    # French
    r"\b(?:revues?(?: de code)?|validations?|approbations?|sauvegardes?"
    r"|verifications?)\b[^.!?]{0,20}\b(?:ne |n')"
    r"[^.!?]{0,12}\b(?:pas|plus)\b[^.!?]{0,6}\b(?:necessaires?|obligatoires?|requises?|utiles?)",
    r"\b(?:desactive[zr]?|contourne[zr]?|saute[zr]?|ignore[zr]?)\b[^.!?]{0,20}\b(?:verification\w*"
    r"|validation\w*"
    r"|revue\w*|controle\w*|pare-feu|signature\w*|certificat\w*|securite)",
    # Spanish, Portuguese, Italian
    r"\b(?:revision\w*|aprobacion\w*|copias de seguridad|verificacion\w*"
    r"|confirmacion\w*)\b[^.!?]{0,12}\b(?:no (?:son|es)"
    r"|ya no)\b[^.!?]{0,12}\b(?:necesari\w+|obligatori\w+|requerid\w+)",
    r"\b(?:desactiv\w*|omit\w*|salta\w*|evita\w*|desabilit\w*"
    r"|disattiv\w*)\b[^.!?]{0,20}\b(?:verificac\w*|revision\w*"
    r"|validac\w*|firmas?|cortafuegos|seguridad|aprobacion\w*|verifica|firewall|sandbox)",
    # Russian
    r"(?:отключи\w*|пропусти\w*|пропускаи\w*|обоиди)[^.!?]{0,16}(?:проверк\w*|ревью|подпис\w*"
    r"|защит\w*|брандмауэр\w*)",
    # Chinese
    r"(?<!不要)(?<!不得)(?<!不能)(?<!禁止)(?<!切勿)(?:跳过|绕过|禁用|关闭|停用"
    r"|忽略)[^。\uff01\uff1f]{0,6}(?:安全|审查|审核|检查|签名"
    r"|验证|防火墙|沙箱|备份|权限)",
    r"(?:审查|审核|备份|验证|确认|审批)[^。\uff01\uff1f]{0,6}(?:是可选的|没有必要|不必要|可以省略"
    r"|已关闭"
    r"|已禁用)",
    # Japanese
    r"(?:レビュー|承認|確認|バックアップ|検証|検査|署名)[^。\uff01\uff1f]{0,4}(?:は"
    r"|を)[^。\uff01\uff1f]{0,6}(?:不要|省略可|省略し|スキップ|無効"
    r"|必要ありません|必要ない|任意)(?!しないで|にしないで|してはいけ)",
    # Korean
    r"(?:검토|승인|검사|백업)[^.!?]{0,6}(?:필요\s?없|생략|건너)",
)

POWERFUL = (
    r"\b(?:genehmigung|berechtigung|zugangsdaten|mot de passe|contrasena|permisos|droits)\b",
    r"(?:密码|密钥|权限|凭证|パスワード|秘密鍵|権限|認証情報)",
)
