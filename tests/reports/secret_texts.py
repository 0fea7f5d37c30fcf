"""400 texts with a secret in them, and 800 reports without one: what the patterns are measured by.

Secrets are drawn when a test runs, from a fixed seed, so that no scanner trips over this file.
"""

import base64
from collections.abc import Callable, Iterator
from typing import NamedTuple

from tests.reports import secret_formats
from tests.reports.dice import ALNUM, BASE64, DIGITS, HEX, LETTERS, UPPER, URL64, Dice
from tests.reports.labels import LABELS


class Pasted(NamedTuple):
    """`text` as it is reported; `core` is a part of the secret that must not be left in it."""

    family: str
    text: str
    core: str


TOKENS: dict[str, Callable[[Dice], str]] = {
    "AWS access key": lambda d: "AKIA" + d.of(UPPER, 16),
    "AWS temporary key": lambda d: "ASIA" + d.of(UPPER, 16),
    "Google API key": lambda d: "AIza" + "Sy" + d.of(URL64, 33),
    "Google client secret": lambda d: "GOCSPX" + "-" + d.of(URL64, 28),
    "Google access token": lambda d: "ya29" + ".a0" + d.of(URL64, 160),
    "Google service token": lambda d: "ya29" + ".c." + d.of(URL64, 180),
    "GitHub personal": lambda d: "ghp" + "_" + d.of(ALNUM, 36),
    "GitHub server": lambda d: "ghs" + "_" + d.of(ALNUM, 36),
    "GitHub fine-grained": lambda d: "github" + f"_pat_{d.of(ALNUM, 22)}_{d.of(ALNUM, 59)}",
    "GitLab personal": lambda d: "glpat" + "-" + d.of(URL64, 20),
    "GitLab routable": lambda d: "glpat" + f"-{d.of(URL64, 27)}.{d.of(HEX, 2)}.{d.of(HEX, 9)}",
    "GitLab runner": lambda d: "glrt" + "-" + d.of(URL64, 20),
    "GitLab runner, routable": lambda d: "glrt" + f"-t1_{d.of(URL64, 27)}.01.{d.of(HEX, 9)}",
    "GitLab deploy": lambda d: "gldt" + "-" + d.of(URL64, 20),
    "Slack bot": lambda d: "xoxb" + f"-{d.of(DIGITS, 12)}-{d.of(DIGITS, 13)}-{d.of(ALNUM, 24)}",
    "Slack app": lambda d: "xapp" + f"-1-A{d.of(UPPER, 10)}-{d.of(DIGITS, 13)}-{d.of(HEX, 64)}",
    "Slack cookie": lambda d: (
        "xoxd" + f"-{d.of(ALNUM, 30)}%2B{d.of(ALNUM, 40)}%2F{d.of(ALNUM, 30)}"
    ),
    "Slack webhook": lambda d: (
        f"https://hooks.{'slack'}"
        f".com/services/T{d.of(UPPER, 9)}/B{d.of(UPPER, 10)}/{d.of(ALNUM, 24)}"
    ),
    "Discord webhook": lambda d: (
        "https://discord" + f".com/api/webhooks/{d.of('123456789', 18)}/{d.of(URL64, 68)}"
    ),
    "Stripe": lambda d: "sk" + "_live_" + d.of(ALNUM, 99),
    "Stripe restricted": lambda d: "rk" + "_live_" + d.of(ALNUM, 24),
    "Stripe webhook": lambda d: "whsec" + "_" + d.of(ALNUM, 32),
    "Svix webhook": lambda d: "whsec" + "_" + d.of(BASE64, 31) + "=",
    "Anthropic": lambda d: "sk-" + "ant-api03-" + d.of(URL64, 93) + "AA",
    "OpenAI": lambda d: "sk-" + d.of(ALNUM, 48),
    "OpenAI project": lambda d: "sk-" + f"proj-{d.of(URL64, 74)}T3BlbkFJ{d.of(URL64, 74)}",
    "OpenAI service account": lambda d: (
        "sk-" + f"svcacct-{d.of(URL64, 74)}T3BlbkFJ{d.of(URL64, 74)}"
    ),
    "OpenRouter": lambda d: "sk-" + "or-v1-" + d.of(HEX, 64),
    "Hugging Face": lambda d: "hf" + "_" + d.of(LETTERS, 34),
    "Groq": lambda d: "gsk" + "_" + d.of(ALNUM, 52),
    "xAI": lambda d: "xai" + "-" + d.of(ALNUM, 80),
    "npm": lambda d: "npm" + "_" + d.of(ALNUM, 36),
    "PyPI": lambda d: "pypi" + "-AgEIcHlwaS5vcmc" + d.of(URL64, 150),
    "JWT": lambda d: d.jwt(),
    "Hub": lambda d: "hub" + "_" + d.of(URL64, 43),
    "Docker": lambda d: "dckr" + "_pat_" + d.of(URL64, 27),
    "Shopify": lambda d: "shpat" + "_" + d.of(HEX, 32),
    "SendGrid": lambda d: "SG" + f".{d.of(URL64, 22)}.{d.of(URL64, 43)}",
    "DigitalOcean": lambda d: "dop" + "_v1_" + d.of(HEX, 64),
    "Vault": lambda d: "hvs" + ".CAESI" + d.of(URL64, 90),
    "Vault, short": lambda d: "hvs" + "." + d.of(ALNUM, 24),
    **secret_formats.TOKENS,
}

CONTEXTS = [
    "{}",
    "I used {} and it answers 401.",
    "export SERVICE_TOKEN={}",
    "$ SERVICE_TOKEN='{}' acme deploy --all",
    'curl -H "X-Api-Key: {}" https://api.acme.com/v1/pages',
    "curl -sS https://api.acme.com/v1/pages -u {}: | jq .",
    '{{"service": "docs", "token": "{}", "ttl": 3600}}',
    'body = "{{\\"token\\": \\"{}\\"}}"',
    "service:\n  token: {}\n  region: eu-west-1",
    "# .env\nSERVICE_URL=https://api.acme.com\nSERVICE_TOKEN={}\nDEBUG=1",
    'SERVICE_TOKEN="{}" # staging',
    "2026-11-22T02:45:10Z ERROR auth: login failed for {} (401 Unauthorized)",
    '127.0.0.1 - - "GET /v1/pages?key={}&page=2 HTTP/1.1" 401 -',
    'client = Client("{}", timeout=5)',
    "The page says to paste `{}` there.",
    "```\nacme login --token {}\n```\nThen nothing happens.",
    "Output:\\n{}\\nDone.",
    "<code>{}</code>",
    "| token | {} | works |",
    "$env:SERVICE_TOKEN = '{}'",
    "ENV SERVICE_TOKEN {}",
    "  - name: SERVICE_TOKEN\n    value: {}",
    "docs,{},2026-11-22",
    "(see {})",
    "&lt;add key=&quot;token&quot; value=&quot;{}&quot; /&gt;",
]

# What has a shape only with what stands around it: (text, what must go).
PHRASES: dict[str, Callable[[Dice], tuple[str, str]]] = {}


def phrase(family: str, around: str, secret: Callable[[Dice], str]) -> None:
    def make(dice: Dice) -> tuple[str, str]:
        core = secret(dice)
        return around.replace("{}", core), core

    PHRASES[family] = make


def _basic(d: Dice) -> str:
    return base64.b64encode(f"alice:{d.password()}".encode()).decode()


phrase("AWS secret key", "aws_secret_access_key = {}", lambda d: d.of(BASE64, 40))
phrase("AWS secret key, JSON", '"SecretAccessKey": "{}",', lambda d: d.of(BASE64, 40))
phrase("AWS secret key, shell", "export AWS_SECRET_ACCESS_KEY={}", lambda d: d.of(BASE64, 40))
phrase(
    "Azure storage",
    "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey={}==;EndpointSuffix=core",
    lambda d: d.of(BASE64, 86),
)
phrase(
    "Azure bus",
    "Endpoint=sb://acme/;SharedAccessKeyName=root;SharedAccessKey={}=",
    lambda d: d.of(BASE64, 43),
)
phrase(
    "Bearer, curl",
    'curl -H "Authorization: Bearer {}" https://api.acme.com',
    lambda d: d.of(ALNUM, 40),
)
phrase("Bearer, log", "> authorization: Bearer {}\n> accept: */*", lambda d: d.of(HEX, 32))
phrase("Bearer, JSON", '"headers": {"Authorization": "Bearer {}"}', lambda d: d.of(URL64, 64))
phrase("Bearer, JavaScript", "headers: { Authorization: 'Bearer {}' }", lambda d: d.of(ALNUM, 28))
phrase(
    "Bearer, two parts",
    "Authorization: Bearer {}",
    lambda d: f"{d.of(ALNUM, 20)}.{d.of(URL64, 40)}",
)
phrase("Basic, curl", "curl -H 'Authorization: Basic {}' https://api.acme.com", _basic)
phrase("Basic, log", "Authorization: Basic {}", _basic)
phrase("Basic, proxy", "Proxy-Authorization: Basic {}", _basic)
phrase(
    "SQL Server",
    "Server=tcp:db.acme.com,1433;User ID=docs;Password={};Encrypt=True;",
    Dice.password,
)
phrase("SQL Server, short", "Data Source=db;Initial Catalog=docs;uid=docs;pwd={};", Dice.password)
phrase("Npgsql", '"Host=db;Username=docs;Password={}"', Dice.password)
phrase("ODBC", "Driver={PostgreSQL};Server=db;Uid=docs;Pwd={};", Dice.password)
phrase("a password in an address", "GET /login?user=alice&password={} HTTP/1.1", Dice.password)
phrase(
    "a password in an address, first",
    "https://acme.com/login?password={}&user=alice",
    Dice.password,
)
phrase(
    "a token in an address", "https://api.acme.com/v1?access_token={}", lambda d: d.of(ALNUM, 40)
)
phrase("a key in an address", "https://api.acme.com/v1?q=a&api_key={}&b=1", lambda d: d.of(HEX, 32))
phrase(
    "a key in an address, HTML",
    "https://api.acme.com/v1?q=a&amp;apikey={}",
    lambda d: d.of(HEX, 32),
)
phrase(
    "a secret in an address", "https://acme.com/token?client_secret={}", lambda d: d.of(URL64, 40)
)
phrase("PostgreSQL", "DATABASE_URL=postgres://docs:{}@db.acme.com:5432/docs", Dice.password)
phrase(
    "PostgreSQL, slash",
    "postgresql://docs:{}@db.acme.com/docs",
    lambda d: f"{d.of(ALNUM, 6)}/{d.of(ALNUM, 6)}7",
)
phrase(
    "MongoDB, slash",
    "mongodb+srv://docs:{}@c0.acme.net/",
    lambda d: f"a{d.of(ALNUM, 6)}/{d.of(ALNUM, 6)}+/9",
)
phrase("AMQP", "amqps://docs:{}@rabbit.acme.com/%2f", Dice.password)
phrase("Redis", "redis://:{}@cache.acme.com:6379/0", Dice.password)
phrase("git", "git clone https://alice:{}@git.acme.com/docs.git", lambda d: d.of(ALNUM, 20))
phrase("JDBC", "jdbc:mysql://db.acme.com/docs?user=docs&password={}&useSSL=true", Dice.password)
phrase("key", "{}", lambda d: d.pem("PRIVATE KEY"))
phrase("RSA key", "cat key.pem\n{}\n$", lambda d: d.pem("RSA PRIVATE KEY"))
phrase("SSH key", "```\n{}\n```", lambda d: d.pem("OPENSSH PRIVATE KEY"))
phrase(
    "key in JSON", '{"private_key": "{}\\n"}', lambda d: d.pem("PRIVATE KEY").replace("\n", "\\n")
)

for _family, (_around, _secret) in secret_formats.NAMED.items():
    phrase(_family, _around, _secret)

# Ways in which a token is divided: prefix, low line or hyphen, two halves.
DIVIDED = {
    "grep --color": "\x1b[01;31m\x1b[K{0}{1}\x1b[m\x1b[K{2}{3}",
    "zero-width space": "{0}{1}\u200b{2}{3}",
    "soft hyphen": "{0}{1}{2}\u00ad{3}",
    "full-width sign": "{0}{4}{2}{3}",
    "Markdown's escape": "{0}\\{1}{2}{3}",
    "zero-width joiner": "{0}{1}{2}\u200d{3}",
    "tag characters": "{0}{1}{2}\U000e0020\U000e007f{3}",
    "bidirectional marks": "\u202a{0}{1}\u2066{2}\u2069{3}\u202c",
    "mathematical letters": "{5}{1}{2}{3}",
    "combining marks": "{0}\u0332{1}{2}\u0301{3}",
    "entity": "{0}{6}{2}{3}",
    "wrapped line": "{0}{1}{2}\n{3}",
}
FAMILIES = {*TOKENS, *PHRASES, *DIVIDED}
_DIVIDABLE = ["GitHub personal", "Hugging Face", "Groq", "npm", "Shopify", "xAI", "GitLab deploy"]


def real_looking(seed: int = 11) -> list[Pasted]:
    """400 texts, each with one secret."""
    dice = Dice(seed)
    found = [
        Pasted(family, context.format(token), token)
        for family, make in TOKENS.items()
        for context in dice.sample(CONTEXTS, 3)
        for token in [make(dice)]
    ]
    for family, divided in DIVIDED.items():
        for name in dice.sample(_DIVIDABLE, 2):
            found.append(_divided(family, divided, TOKENS[name](dice)))
    for _ in range(2):
        for family, made in PHRASES.items():
            found.append(Pasted(family, *made(dice)))
    return _each_family_and(dice, found, 400)


def divided(seed: int = 13) -> list[Pasted]:
    """Every way of dividing, with every token that it can divide."""
    dice = Dice(seed)
    return [
        _divided(family, around, TOKENS[name](dice))
        for family, around in DIVIDED.items()
        for name in _DIVIDABLE
    ]


def _each_family_and(dice: Dice, found: list[Pasted], length: int) -> list[Pasted]:
    """One of each family, and as many others as there is room for."""
    dice.shuffle(found)
    first = {each.family: each for each in found}
    others = [each for each in found if first[each.family] is not each]
    return [*first.values(), *others][:length]


def _divided(family: str, divided: str, token: str) -> Pasted:
    at = next(place for place, sign in enumerate(token) if sign in "_-")
    prefix, sign, rest = token[:at], token[at], token[at + 1 :]
    halves = rest[:12], rest[12:]
    wide = {"_": "\uff3f", "-": "\uff0d"}[sign]
    bold = "".join(chr(0x1D41A + ord(letter) - ord("a")) for letter in prefix)
    text = divided.format(prefix, sign, *halves, wide, bold, f"&#{ord(sign)};")
    return Pasted(family, f"It says: {text} is not valid.", halves[1])


def _filled(dice: Dice, snippet: str) -> str:
    """`snippet` with what changes from report to report, by marks that no snippet means."""
    marks = {
        "§uuid": f"{dice.of(HEX, 8)}-{dice.of(HEX, 4)}-4{dice.of(HEX, 3)}-a{dice.of(HEX, 3)}-{dice.of(HEX, 12)}",
        "§sha256": dice.of(HEX, 64),
        "§sha1": dice.of(HEX, 40),
        "§short": dice.of(HEX, 7),
        "§sha512": base64.b64encode(dice.randbytes(64)).decode(),
        "§sri": base64.b64encode(dice.randbytes(48)).decode(),
        "§png": "iVBORw0KGgo" + dice.of(BASE64, 200),
        "§ulid": "01" + dice.of("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 24),
        "§port": str(dice.randint(1024, 65535)),
        "§number": str(dice.randint(2, 4096)),
        "§id": dice.of(ALNUM, 11),
        "§cursor": base64.urlsafe_b64encode(dice.randbytes(24)).decode(),
        "§word": dice.choice(["install", "deploy", "upgrade", "webhook", "tokens", "billing"]),
        "§tool": dice.choice(["acme", "kubectl", "terraform", "docker", "psql", "openssl"]),
    }
    for mark, value in marks.items():
        snippet = snippet.replace(mark, value)
    return snippet


SAMPLE_JWT = ".".join(  # the one that everybody copies
    [
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
        "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ",
        "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
    ]
)
OPENINGS = [
    "The page about §word is out of date.",
    "Step §number of the §word guide fails.",
    "The §word example does not run as it stands.",
    "`§tool §word` prints something else than the page says.",
    "Broken link in the §word section.",
    "The table of parameters misses an option for §word.",
    "I followed the §word page word for word on a clean machine.",
    "La page « §word » n’est plus à jour.",
    "Die Seite über §word ist veraltet: der Befehl heißt jetzt `§tool`.",
    "安装页面(§word)的命令已经失效，请更新。",
    "§word のページのコマンドが動きません。",
]
CLOSINGS = [
    "",
    "Version §number, Linux x86_64.",
    "Please update the page.",
    "It worked at commit §short.",
    "Request id: §uuid",
    "Trace: §sha256",
    "Thanks!",
]
SNIPPETS = [
    # secrets are talked about
    "A token begins with `ghp_` and has 40 characters; the page still shows the old 40 hex digits.",
    "Tokens begin with ghp_, gho_, ghu_, ghs_ or ghr_; the page lists only the first.",
    "Use `github_pat_` tokens instead of classic ones, says the changelog.",
    "The page shows `ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx` as an example.",
    "Replace `glpat-<your-token>` by your own.",
    "The pattern for GitLab is `glpat-[A-Za-z0-9_-]{20}` and it misses `glrt-` and `gldt-`.",
    "The secret starts with whsec_ and is shown once.",
    "Set `STRIPE_KEY=sk_test_...` and not sk_live_..., the page mixes them up.",
    "`OPENAI_API_KEY=sk-...` is not read from the file `.env`.",
    "`export ANTHROPIC_API_KEY=sk-ant-...` is right, the page says `CLAUDE_KEY`.",
    "The key has the form `sk-or-v1-<64 hex digits>`.",
    "HF_TOKEN=hf_your_token_here does not work with `hf_hub_download`.",
    "from huggingface_hub import hf_hub_download, hf_hub_url, HfApi",
    "`hf_transfer` and `hf_xet` are not explained; HF_HUB_ENABLE_HF_TRANSFER=1 has no effect.",
    "gsk_init_renderer() and gsk_gl_renderer_new() are missing from the list of functions.",
    "GSK_RENDERER=cairo is needed; gsk_render_node_serialize has no example.",
    "SG.\nAlso see SG. The abbreviation SG. is not explained in SG.html nor in SG.UI.Controls.",
    "Security groups (SG) are named SG.web.frontend.production and SG.db.",
    "The xai-grok-beta model name is gone; `xai-sdk` is the package.",
    "hvs. and hvb. are the prefixes since 1.10; before it was s. only.",
    "The ya29. prefix is not documented.",
    "GOCSPX- is the prefix of new client secrets.",
    "dop_v1_ tokens cannot be limited to one project.",
    "`dckr_pat_` tokens are refused by `docker login` on old versions.",
    "shpat_ and shpca_ tokens are for custom apps.",
    "xapp- tokens need connections:write, xoxb- tokens chat:write.",
    "AKIAIOSFODNN7EXAMPLE and wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY are shown in the wrong order.",
    "aws_access_key_id = AKIAIOSFODNN7EXAMPLE\naws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "AWS_SECRET_ACCESS_KEY=<your secret access key>",
    "aws_secret_access_key = ****************************************",
    "secret key: the value of `SECRET_KEY` in settings.py, see django.core.management.utils.get_random_secret_key",
    "The file must begin with -----BEGIN PRIVATE KEY----- and end with -----END PRIVATE KEY-----.",
    "-----BEGIN CERTIFICATE-----\nMIIC§png\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMFkw§png\n-----END PUBLIC KEY-----",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI§id§id§id§id alice@laptop",
    # headers
    'curl -H "Authorization: Bearer <token>" https://api.acme.com/v1/pages',
    'curl -H "Authorization: Bearer $TOKEN" https://api.acme.com/v1/pages',
    'curl -H "Authorization: Bearer ${TOKEN}" https://api.acme.com/v1/pages',
    'curl -H "Authorization: Bearer YOUR_API_KEY" https://api.acme.com/v1/pages',
    'curl -H "Authorization: Bearer your-access-token-goes-here" https://api.acme.com/',
    "headers: { Authorization: `Bearer ${accessToken}` }",
    "headers = {'Authorization': f'Bearer {access_token}'}",
    'headers["Authorization"] = "Bearer " + get_access_token_from_environment()',
    "Authorization: Bearer ACCESS_TOKEN",
    "Authorization: Bearer eyJ...",
    "Authorization: Bearer xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "Authorization: Bearer {{ secrets.GITHUB_TOKEN }}",
    "authorization: Bearer %ACCESS_TOKEN%",
    "Authorization: Bearer ***",
    "Authorization: Bearer …",
    "Authorization: Bearer abc123",
    "Authorization: Bearer token authentication is required since version 3, the page says Basic.",
    "Send `Authorization: Bearer` followed by the token.",
    "Authorization: Basic <base64 of user:password>",
    "Authorization: Basic dXNlcjpwYXNzd29yZA==",
    "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
    "Authorization: Basic authentication over TLS only.",
    'WWW-Authenticate: Basic realm="docs", charset="UTF-8"',
    'WWW-Authenticate: Bearer error="invalid_token"',
    'Authorization: Token token="…"',
    "The `Authorization: Basic` header is not sent on redirects.",
    "X-Api-Key: <key>",
    # addresses and connection strings
    "postgres://user:password@localhost:5432/docs",
    "postgresql://<user>:<password>@<host>/<database>",
    "DATABASE_URL=postgres://$USER:$PASSWORD@$HOST/docs",
    "mysql://${DB_USER}:${DB_PASSWORD}@db:3306/docs",
    "mongodb://username:password@mongo.example.com:27017/",
    "http://admin:changeme@localhost:9200/_cluster/health",
    "The default login is admin:changeme, and the page says admin:admin.",
    "curl -u admin:changeme http://localhost:§port/",
    "https://user:***@git.acme.com/docs.git",
    "mailto:a:b@c is not a valid address, says the validator.",
    "Write to mailto:docs@acme.com or mailto:help@acme.com?subject=Docs:%20§word@v2",
    "http://localhost:§port/@alice and http://localhost:§port/a:b@c answer 404.",
    "https://docs.acme.com:8443/§word/@next/index.html",
    "https://docs.acme.com/a:b@c/§word",
    "See https://medium.acme.com/@alice/how-to-§word-§short",
    "ssh://git@git.acme.com:22/acme/docs.git",
    "git@git.acme.com:acme/docs.git",
    "git+https://git.acme.com/acme/docs.git@v§number#egg=docs",
    "docker pull registry.acme.com:5000/docs@sha256:§sha256",
    "oci://registry.acme.com:5000/charts/docs:1.2@sha256:§sha256",
    "image: acme/docs:1.2.§number@sha256:§sha256",
    "npm i @acme/docs@§number and pnpm add docs@npm:@acme/docs@1",
    "proxy_pass http://backend:8080/$request_uri;",
    "http://10.0.0.1:§port/metrics by alice@acme.com",
    "Server=myServerAddress;Database=myDataBase;User Id=myUsername;Password=myPassword;",
    "Server=db;Database=docs;User Id=sa;Password=<your password>;",
    "Server=db;User Id=sa;Password={your_password};Encrypt=true;",
    "Server=db;User Id=sa;Password=***;",
    "Server=db;User Id=sa;Password=${DB_PASSWORD};",
    "Server=db;User Id=sa;Password=%DB_PASSWORD%;",
    "Server=db;Integrated Security=true;Password=;",
    "Password=yourStrong(!)Password; is the sample of the image, and too short today.",
    "this.password=password;this.user=user;return this;",
    "let password=document.querySelector('#password').value;",
    "const pwd=process.env.DB_PASSWORD;",
    'String password=System.getenv("DB_PASSWORD");',
    "Password: \nPassword for alice: \nSorry, try again.",
    "The form has the fields username=, password= and otp=.",
    "https://acme.com/reset-password?token=<token>",
    "https://acme.com/reset?token={token}&user={id}",
    "https://api.acme.com/v1?access_token=ACCESS_TOKEN&page=2",
    "https://api.acme.com/v1?api_key=YOUR_API_KEY",
    "https://api.acme.com/v1?api_key=DEMO_KEY",
    "https://api.acme.com/v1?token=$TOKEN&limit=10",
    "https://api.acme.com/v1?token=${token}",
    "https://api.acme.com/v1?password=***&user=alice",
    "https://api.acme.com/login?password=secret&user=alice",
    "https://api.acme.com/login?user=alice&password=",
    "https://api.acme.com/v1?page_token=§cursor&max_tokens=§number",
    "https://api.acme.com/v1?cursor=§cursor&limit=50&sort=-created_at",
    "https://api.acme.com/v1?api_key=... and `?key=value` are both accepted.",
    "https://cdn.acme.com/app.js?v=§sha1",
    "https://docs.acme.com/auth?section=password&tab=api_key#token",
    "?password_reset=1&token_type=bearer&secret_name=docs/§word",
    "GET /oauth/authorize?client_id=§uuid&response_type=code&state=§cursor",
    f"The sample {SAMPLE_JWT} has expired.",
    "A JWT has three parts: `eyJhbGciOiJIUzI1NiJ9.<payload>.<signature>`.",
    # hashes, ids, data
    '"integrity": "sha512-§sha512",\n"dev": true',
    "integrity sha512-§sha512",
    '<script src="/app.js" integrity="sha384-§sri" crossorigin="anonymous"></script>',
    "acme-docs==1.2.§number --hash=sha256:§sha256 \\\n    --hash=sha256:§sha256",
    'checksum = "§sha256"',
    "github.com/acme/docs v1.2.§number h1:§cursor=",
    "git checkout §sha1 && git show §short",
    "Merge: §short §short\ncommit §sha1",
    'ETag: W/"§short" and Last-Modified are both missing.',
    "Request §uuid failed after §number ms (trace §sha256, span §short§short).",
    "id: §ulid, parent: §ulid",
    "![shot](data:image/png;base64,§png)",
    "background: url(data:font/woff2;base64,§png);",
    "The video https://youtu.be/§id is gone.",
    "MD5 (docs.tar.gz) = §short§short§short§short§short",
    "0x§sha1 is shown where the page says 0x§short.",
    "X-Request-Id: §uuid\nX-Trace: §sha1",
    "kid: §sha1, typ: JWT, alg: RS256",
    "arn:aws:iam::123456789012:role/docs-§word and AROAJ2UCCR6DPCEXAMPLE",
    "projects/acme-§number/secrets/docs-token/versions/latest",
    "pk_live_ and pk_test_ keys are public, says the page about keys.",
    # code, styles, names
    '<div class="sk-loading-spinner sk-folding-cube sk-cube1"></div>',
    ".sk-chasing-dot:before, .sk-circle-fade-dot { animation: sk-bounce 1s }",
    "sk-SK and sk-Latn-SK are missing from the list of locales.",
    "class task-list-item-checkbox, risk-assessment-table-wrapper-outer-container-element",
    "The disk-encryption-set-identity-resource-name option is not explained.",
    "kubectl get pods\ndocs-7d9f8b6c5d-x2x7k   1/1   Running\ndocs-worker-5f6b9c7d8-abcde 0/1 Pending",
    "kubernetes.io/service-account-token secrets are not made any more; default-token-x7k2p is gone.",
    "apiVersion: v1\nkind: Secret\nmetadata:\n  name: docs-tls\ntype: kubernetes.io/tls",
    "secretKeyRef:\n  name: db-credentials\n  key: password",
    "password: ${{ secrets.REGISTRY_PASSWORD }}",
    "POSTGRES_PASSWORD_FILE: /run/secrets/postgres_password",
    "vault kv get -field=password secret/docs/db",
    "token = os.environ['DOCS_TOKEN']  # KeyError: 'DOCS_TOKEN'",
    "npm_config_registry and npm_package_json are not set under pnpm.",
    'npm ERR! code ERESOLVE\nnpm ERR! peer react@"^17.0.0" from docs@1.0.§number',
    "pypi-publish and pypi-attestations are two different actions.",
    "hub_issue_rate and hub_total_rate_limit_per_minute are not in the table of settings.",
    "`--token-file`, `--password-stdin` and `--api-key-from-keychain` are missing from the help.",
    "def get_token(self, scopes: list[str], *, tenant_id: str | None = None) -> AccessToken: ...",
    "if (password === confirmPassword && password.length >= 12) { submit(); }",
    "`SELECT password_hash, api_token FROM users WHERE id = $1` has the wrong column.",
    "The regex `^[A-Za-z0-9+/]{40,}={0,2}$` on the page does not accept padding.",
    "The hash §sha256 of docs_1.2.§number_linux_amd64.tar.gz is not the one in SHA256SUMS.",
    "Warning: password_verify(): passing null is deprecated in §word.php on line §number",
    "Escape it as `\\_` and `\\-`: my\\_long\\_name\\_of\\_an\\_option is shown as my*long*name.",
    "\x1b[31mError\x1b[0m: cannot find \x1b[1m§word\x1b[0m in \x1b[36m§tool\x1b[0m §number",
    "The &lt;token&gt; element &amp; its `password` attribute are not in the schema; use &#95;id.",
    "zero\u200bwidth spaces and soft\u00adhyphens stand in the command that one copies from the page.",
    "`％ＰＡＴＨ％` is written with full-width signs on the page.",
    "Press Ctrl\u202f+\u202fC, then “Save” — and wait… 10\u00a0seconds.",
    "👩\u200d💻 and 🏳️\u200d🌈 are shown as two characters each.",
    "The page wraps the command in the middle of a word:\nacme deploy --environment-from-configu\nration-file prod",
    "acme\\\n  deploy \\\n  --region eu-west-1 \\\n  --name docs-§word",
    "The limit is §number tokens a minute; a token is about four characters of English.",
    "Two tokens, `<s>` and `</s>`, are added by the tokenizer: ['▁Hello', ',', '▁world'].",
    'Expected 200, got 401 with {"error": "invalid_token", "request_id": "§uuid"}.',
    'Traceback (most recent call last):\n  File "/a.py", line §number\nacme.Unauthorized: token expired',
    "at Object.<anonymous> (/app/node_modules/@acme/docs/dist/index.cjs:§number:17)",
    "C:\\Users\\alice\\AppData\\Local\\Temp\\_docs\\-build\\§short",
    "The heading “Passwords” links to #passwords-1 and the one below to #password-policy-for-members.",
    *LABELS,
]


def ordinary(seed: int = 12) -> list[str]:
    """800 texts of reports in which nobody has pasted a secret."""
    dice = Dice(seed)
    return [_filled(dice, text) for text in _reports(dice)]


def _reports(dice: Dice) -> Iterator[str]:
    order: list[str] = []
    for _ in range(800):
        parts = [dice.choice(OPENINGS)]
        for _ in range(dice.choice([1, 1, 2])):
            order = order or dice.sample(SNIPPETS, len(SNIPPETS))  # each as often as the others
            parts.append(order.pop())
        yield "\n\n".join(part for part in [*parts, dice.choice(CLOSINGS)] if part)
