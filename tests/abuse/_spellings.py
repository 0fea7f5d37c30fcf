"""Spellings of what acts on GitHub, which strangers try."""

MENTIONS = [
    *(
        "@octocat",
        "&#64;octocat",
        "\\@octocat",
        "é@octocat",
        "a@@octocat",
        "＠octocat",
        "@acme/team",
    ),
    *(
        "@\u200boctocat @octo\u200dcat",
        "`@octocat`",
        "```\n@octocat\n```",
        "&commat;octocat",
        "\x1b[1m@octocat",
    ),
]
REFERENCES = [
    *("#1", "GH-1", "acme/docs#1", "user#1", "＃1", "&#35;1", "https://github.com/o/r/issues/1"),
    *(
        "http://github.com/o/r/pull/7#issuecomment-1",
        "a5c37851 deadbeef1234",
        "ＧＨ－1",
        "o/r@a5c37851",
    ),
]
COMMANDS = [
    *(
        "Fixes #1",
        "closes: GH-1",
        "Resolved https://github.com/acme/docs/issues/1",
        "/close",
        "> /close",
    ),
    *(
        "a\n/close\nb",
        "a\r/merge",
        "a\u2028/close",
        "@dependabot merge",
        "duplicate of #3",
        "／close",
        "- /assign @me",
    ),
]
HTML = [
    *("<img src=https://evil.example/x.png>", "<script>alert(1)</script>", "</details></div><h1>x"),
    *(
        "<!-- hidden",
        "<!-- hub:01ARZ3NDEKTSV4RRFFQ69G5FAV -->",
        "<a href='//evil.example'>x</a>",
        "<?x",
        "<![CDATA[x",
    ),
    *(
        "＜img src=x＞",
        "<style>*{display:none}</style>",
        "<details open ontoggle=alert(1)>",
        "<svg/onload=alert(1)>",
    ),
]
LINKS = [
    *(
        "[a](https://evil.example)",
        "https://evil.example/",
        "www.evil.example",
        "[a]: //evil.example\n\n[a]",
    ),
    *(
        "![a](https://evil.example/x.png)",
        "<https://evil.example>",
        "a@evil.example",
        "[^1]\n\n[^1]: x",
    ),
    *(
        "[a](javascript:alert(1))",
        "ftp://evil.example",
        "mailto:a@evil.example",
        "xmpp:a@evil.example",
        "h\u200bttps://evil.example",
    ),
]
WAYS_OUT = [
    *(
        "```\n```\n@octocat",
        "~~~\n@octocat\n~~~",
        "\n\n@octocat",
        "` @octocat `",
        "|\n\n/close",
        "-->\n@octocat",
    ),
    *(
        "</details>\n\n@octocat",
        "    @octocat",
        "> > @octocat",
        "a\n===\n@octocat",
        "a\x0b@octocat",
        "$$\n@octocat\n$$",
    ),
]
FORMULAS = [
    "$x % hidden$",
    "a ($\\phantom{hidden}$)",
    "$`x % hidden`$",
    "\\$x % hidden\\$",
    "$$\n\\def\\a{hidden}\n$$",
    "```math\nx % hidden\n```",
    "＄\\label{hidden}x＄",
]
GAPS = [
    *("", "\\", "> \\", ">\n", "-", "1.", "***", "` `"),
    *("|", "\u3000", "\u2800", "\U0001d159" * 40, "\U00013441", "\u200b", "```\n```", "~~~\n\n~~~"),
]
