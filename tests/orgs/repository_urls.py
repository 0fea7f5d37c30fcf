"""Addresses on the code host: which page of acme/docs each is, or that it is none.

A line is an address and, after an arrow, its canonical form below `https://github.com/acme/docs`
(`.`: the repository itself). The lines of `NOBODYS` must match no claim of acme/docs; below a comment
are those of one kind. In all of them, HOST is the code host's own.
"""

PAGES = """
# the repository
https://HOST/acme/docs -> .
https://HOST/acme/docs/ -> .
https://HOST/acme/docs// -> .
http://HOST/acme/docs -> .
HTTPS://HOST/acme/docs -> .
https://HOST/Acme/DOCS -> .
https://HOST/%61cme/d%6Fcs -> .
https://HOST:443/acme/docs -> .
http://HOST:80/acme/docs -> .
https://HOST:/acme/docs -> .
https://HOST./acme/docs -> .
https://HOST/acme/docs#readme -> .
https://HOST/acme/docs?tab=readme-ov-file -> .
https://HOST/acme/docs?tab=readme-ov-file#install -> .
https://HOST/acme/docs?utm_source=x -> .
https://HOST/./acme/docs -> .
https://HOST/acme/./docs -> .
https://HOST/x/../acme/docs -> .
https://HOST/acme/x/../docs -> .
https://HOST/acme/%2E/docs -> .
https://HOST/acme/x/%2e%2E/docs -> .
https://HOST/../acme/docs -> .
https://HOST/acme/docs/blob/main/../.. -> .
https://HOST/acme/docs/issues/.. -> .
https://HOST/acme/docs/. -> .

# its start page by other names
https://HOST/acme/docs/tree/HEAD -> .
https://HOST/acme/docs/tree/main -> .
https://HOST/acme/docs/tree/master/ -> .
https://HOST/acme/docs/tree/refs/heads/main -> .
https://HOST/acme/docs/blob/HEAD/README.md -> .
https://HOST/acme/docs/blob/main/README.md -> .
https://HOST/acme/docs/blob/master/readme.MD -> .
https://HOST/acme/docs/blob/main/README -> .
https://HOST/acme/docs/blob/main/README.rst -> .
https://HOST/acme/docs/blob/main/README.adoc -> .
https://HOST/acme/docs/blob/main/README.md?plain=1 -> .
https://HOST/acme/docs/blob/main/README.md#L10-L20 -> .
https://HOST/acme/docs/raw/HEAD/README.md -> .
https://HOST/acme/docs/raw/refs/heads/main/README.md -> .

# files
https://HOST/acme/docs/blob/HEAD/docs/install.md -> blob/HEAD/docs/install.md
https://HOST/acme/docs/blob/main/docs/install.md -> blob/HEAD/docs/install.md
https://HOST/acme/docs/blob/master/docs/install.md -> blob/HEAD/docs/install.md
https://HOST/acme/docs/blob/refs/heads/main/docs/install.md -> blob/HEAD/docs/install.md
https://HOST/acme/docs/blob/refs/heads/HEAD/docs/install.md -> blob/HEAD/docs/install.md
https://HOST/acme/docs/raw/main/docs/install.md -> blob/HEAD/docs/install.md
https://HOST/acme/docs/raw/HEAD/docs/install.md -> blob/HEAD/docs/install.md
https://HOST/acme/docs/raw/refs/heads/master/docs/install.md -> blob/HEAD/docs/install.md
https://HOST/acme/docs/blob/main/docs/install.md/ -> blob/HEAD/docs/install.md
https://HOST/acme/docs/blob/main/docs/install.md?plain=1 -> blob/HEAD/docs/install.md
https://HOST/acme/docs/blob/main/docs/install.md?raw=true -> blob/HEAD/docs/install.md
https://HOST/acme/docs/blob/main/docs/install.md#L10 -> blob/HEAD/docs/install.md
https://HOST/acme/docs/blob/main/docs/install.md?plain=1#L10-L12 -> blob/HEAD/docs/install.md
https://HOST/acme/docs/blob/main/docs/./install.md -> blob/HEAD/docs/install.md
https://HOST/acme/docs/blob/main/x/../docs/install.md -> blob/HEAD/docs/install.md
https://HOST/acme/docs/blob/main/docs/%69nstall.md -> blob/HEAD/docs/install.md
https://HOST/ACME/Docs/blob/main/docs/install.md -> blob/HEAD/docs/install.md
https://HOST/acme/docs/blob/main/Docs/Install.md -> blob/HEAD/Docs/Install.md
https://HOST/acme/docs/blob/main/docs/README.md -> blob/HEAD/docs/README.md
https://HOST/acme/docs/blob/main/README.de.md -> blob/HEAD/README.de.md
https://HOST/acme/docs/blob/main/README.md/x -> blob/HEAD/README.md/x
https://HOST/acme/docs/blob/main/größe.md -> blob/HEAD/gr%C3%B6%C3%9Fe.md
https://HOST/acme/docs/blob/main/gr%c3%b6%c3%9fe.md -> blob/HEAD/gr%C3%B6%C3%9Fe.md
https://HOST/acme/docs/blob/main/a%20b.md -> blob/HEAD/a%20b.md
https://HOST/acme/docs/blob/main/a+b;c=d,e.md -> blob/HEAD/a+b;c=d,e.md
https://HOST/acme/docs/blob/main/50%25.md -> blob/HEAD/50%25.md
https://HOST/acme/docs/blob/main/issues/1 -> blob/HEAD/issues/1
https://HOST/acme/docs/blob/main/.github/x.yml -> blob/HEAD/.github/x.yml
https://HOST/acme/docs/blob/main/...md -> blob/HEAD/...md
https://HOST/acme/docs/blob/main/%3Fx%23y -> blob/HEAD/%3Fx%23y

# other branches, tags and commits are pages of their own
https://HOST/acme/docs/blob/next/README.md -> blob/next/README.md
https://HOST/acme/docs/blob/refs/heads/next/README.md -> blob/next/README.md
https://HOST/acme/docs/blob/v1.2/a.md -> blob/v1.2/a.md
https://HOST/acme/docs/blob/refs/tags/v1.2/a.md -> blob/v1.2/a.md
https://HOST/acme/docs/blob/refs/tags/main/a.md -> blob/refs/tags/main/a.md
https://HOST/acme/docs/blob/refs/heads/refs/heads/a.md -> blob/refs/heads/refs/heads/a.md
https://HOST/acme/docs/blob/a5c3785ed8d6a35868bc/a.md -> blob/a5c3785ed8d6a35868bc/a.md
https://HOST/acme/docs/blob/Main/a.md -> blob/Main/a.md
https://HOST/acme/docs/blob/head/a.md -> blob/head/a.md
https://HOST/acme/docs/blob/feature/x/a.md -> blob/feature/x/a.md
https://HOST/acme/docs/raw/v1.2/a.md -> blob/v1.2/a.md
https://HOST/acme/docs/tree/next -> tree/next
https://HOST/acme/docs/tree/v1.2/ -> tree/v1.2

# folders
https://HOST/acme/docs/tree/main/docs -> tree/HEAD/docs
https://HOST/acme/docs/tree/HEAD/docs/guide/ -> tree/HEAD/docs/guide
https://HOST/acme/docs/tree/refs/heads/next/docs -> tree/next/docs

# the wiki
https://HOST/acme/docs/wiki -> wiki
https://HOST/acme/docs/wiki/ -> wiki
https://HOST/acme/docs/wiki/Home -> wiki
https://HOST/acme/docs/wiki/home -> wiki
https://HOST/acme/docs/wiki/Home#install -> wiki
https://HOST/acme/docs/wiki/Setup -> wiki/Setup
https://HOST/acme/docs/wiki/Setup?x=1 -> wiki/Setup
https://HOST/acme/docs/wiki/a/b -> wiki/a/b
https://HOST/acme/docs/wiki/Home/x -> wiki/Home/x
"""

OF_GITHUB = """
# what only github.com has
https://www.github.com/acme/docs -> .
https://WWW.GitHub.com/acme/docs/blob/main/a.md -> blob/HEAD/a.md
https://github。com/acme/docs -> .
https://ｇithub.com/acme/docs -> .
https://raw.githubusercontent.com/acme/docs/HEAD/a.md -> blob/HEAD/a.md
https://raw.githubusercontent.com/acme/docs/main/a.md -> blob/HEAD/a.md
https://raw.githubusercontent.com/acme/docs/refs/heads/main/a.md -> blob/HEAD/a.md
https://raw.githubusercontent.com/acme/docs/refs/heads/next/a.md -> blob/next/a.md
https://raw.githubusercontent.com/acme/docs/refs/tags/v1/a.md -> blob/v1/a.md
https://raw.githubusercontent.com/acme/docs/main/README.md -> .
https://raw.githubusercontent.com/Acme/Docs/master/README.md?token=x -> .
https://raw.githubusercontent.com/acme/docs/main/x/../a.md -> blob/HEAD/a.md
https://RAW.githubusercontent.com./acme/docs/main/a.md -> blob/HEAD/a.md
http://raw.githubusercontent.com/acme/docs/main/wiki -> blob/HEAD/wiki
https://raw.githubusercontent.com/acme/docs/blob/main/a.md -> blob/blob/main/a.md
https://raw.github.com/acme/docs/main/a.md -> blob/HEAD/a.md
"""

OF_ENTERPRISE = """
# what only Enterprise has, with and without isolated subdomains
https://raw.HOST/acme/docs/main/a.md -> blob/HEAD/a.md
https://raw.HOST/acme/docs/refs/heads/next/a.md -> blob/next/a.md
https://HOST/raw/acme/docs/main/a.md -> blob/HEAD/a.md
https://HOST/raw/Acme/docs/refs/heads/main/README.md -> .
https://HOST/raw/acme/docs/v1/a.md?token=x -> blob/v1/a.md
"""

NOBODYS = """
# other repositories, some of which look like it
https://HOST/acme/docs-fork
https://HOST/acme/docs-fork/blob/main/a.md
https://HOST/acme/docsblob/main/a.md
https://HOST/acme/doc
https://HOST/acme/docs.
https://HOST/acme/docs.md
https://HOST/acme/-docs
https://HOST/acme/.docs
https://HOST/acme/docs_
https://HOST/initech/docs
https://HOST/initech/docs/blob/main/acme/docs
https://HOST/acmee/docs
https://HOST/acme-/docs
https://HOST/docs/acme
https://HOST/initech/x/../docs
https://HOST/acme/docs/../evil
https://HOST/acme/docs/../evil/blob/main/a.md
https://HOST/acme/docs/%2e%2e/evil
https://HOST/acme/docs/%2E./evil/blob/main/a.md
https://HOST/acme/docs/.%2e/evil
https://HOST/acme/docs/../../initech/docs
https://HOST/acme/docs/blob/main/../../../evil/blob/main/a.md
https://HOST/acme/docs/blob/main/../../../../initech/docs
https://HOST/acme/../initech/docs
https://HOST/acme/docs/x/../../evil/wiki

# not a repository
https://HOST
https://HOST/
https://HOST/acme
https://HOST/acme/
https://HOST/acme/docs/..
https://HOST/orgs/acme
https://HOST/orgs/acme/docs/blob/main/a.md
https://HOST/settings/acme/docs
https://HOST/topics/docs
https://HOST/search?q=acme/docs
https://HOST/?x=/acme/docs
https://HOST/#/acme/docs
https://HOST/login?return_to=/acme/docs

# not a page of its content
https://HOST/acme/docs/issues
https://HOST/acme/docs/issues/1
https://HOST/acme/docs/issues/new?title=x
https://HOST/acme/docs/pull/1
https://HOST/acme/docs/pull/1/files
https://HOST/acme/docs/pulls
https://HOST/acme/docs/discussions/1
https://HOST/acme/docs/settings
https://HOST/acme/docs/actions
https://HOST/acme/docs/actions/runs/1
https://HOST/acme/docs/releases
https://HOST/acme/docs/releases/tag/v1
https://HOST/acme/docs/releases/download/v1/a.zip
https://HOST/acme/docs/commits/main
https://HOST/acme/docs/commit/a5c3785ed8d6a35868bc169f07e40e889087fd2e
https://HOST/acme/docs/compare/main...next
https://HOST/acme/docs/edit/main/README.md
https://HOST/acme/docs/blame/main/README.md
https://HOST/acme/docs/delete/main/README.md
https://HOST/acme/docs/new/main
https://HOST/acme/docs/upload/main
https://HOST/acme/docs/archive/refs/heads/main.zip
https://HOST/acme/docs/zipball/main
https://HOST/acme/docs/security/advisories
https://HOST/acme/docs/labels/bug
https://HOST/acme/docs/milestones
https://HOST/acme/docs/network
https://HOST/acme/docs/graphs/contributors
https://HOST/acme/docs/projects
https://HOST/acme/docs/packages
https://HOST/acme/docs/branches
https://HOST/acme/docs/tags
https://HOST/acme/docs/find/main
https://HOST/acme/docs/stargazers
https://HOST/acme/docs/info/refs?service=git-upload-pack
https://HOST/acme/docs/blob
https://HOST/acme/docs/blob/main
https://HOST/acme/docs/blob/refs/heads/main
https://HOST/acme/docs/raw/main
https://HOST/acme/docs/tree
https://HOST/acme/docs/Blob/main/a.md
https://HOST/acme/docs/WIKI
https://HOST/acme/docs/wikis
https://HOST/acme/docs/wiki/_new
https://HOST/acme/docs/wiki/_pages
https://HOST/acme/docs/wiki/Setup/_edit
https://HOST/acme/docs/wiki/Setup/_history
https://HOST/acme/docs/wiki/Home/_compare/a...b

# to clone it
https://HOST/acme/docs.git
https://HOST/acme/docs.GIT
https://HOST/acme/docs.git/info/refs
https://HOST/acme/docs.wiki.git
https://HOST/acme/docs.wiki

# what a browser and a server may read in different ways
https://HOST//acme/docs
https://HOST//acme/docs/blob/main/a.md
https://HOST/acme//docs
https://HOST/acme/docs//blob/main/a.md
https://HOST/acme/docs/blob//main/a.md
https://HOST/acme/docs/blob/main//a.md
https://HOST/acme%2Fdocs
https://HOST/acme%2fdocs/blob/main/a.md
https://HOST/acme/docs%2Fblob/main/a.md
https://HOST/acme/docs%2F..%2Fevil
https://HOST/acme/docs/blob/main%2F..%2F..%2Fevil/a.md
https://HOST/acme/docs/..%2Fevil
https://HOST/acme/docs/%2e%2e%2Fevil/blob/main/a.md
https://HOST/acme%5Cdocs
https://HOST/acme/docs/blob/main/a%5C..%5Cb.md
https://HOST/acme/docs%00
https://HOST/acme/docs/blob/main/a%00.md
https://HOST/acme/docs/blob/main/a%0A.md
https://HOST/acme/docs/blob/main/a%7F.md
https://HOST/acme/docs;x
https://HOST/acme;x/docs
https://HOST/acme/docs;/blob/main/a.md
https://HOST/acme/docs:80
https://HOST/acme/docs%20
https://HOST/acme/docs%3F
https://HOST/acme/docs%23
https://HOST/acme/docs%25
https://HOST/acme/docs%252Fblob/main/a.md
https://HOST/acme/%252e%252e/docs
https://HOST/acme/docs&x
https://HOST/acme/docs@main
https://HOST/@acme/docs
https://HOST/~acme/docs
https://HOST/acme/docs*
https://HOST/acme/dоcs
https://HOST/аcme/docs
https://HOST/acme/docſ
https://HOST/acme/ｄocs
https://HOST/acme/do%63s%E2%80%8B

# other ports
https://HOST:8443/acme/docs
https://HOST:80/acme/docs
http://HOST:443/acme/docs
http://HOST:8080/acme/docs/blob/main/a.md
"""

NOBODYS_OF_GITHUB = """
# other hosts
https://gist.github.com/acme/docs
https://gist.github.com/acme/docs/blob/main/a.md
https://api.github.com/repos/acme/docs
https://api.github.com/acme/docs
https://codeload.github.com/acme/docs/zip/main
https://codeload.github.com/acme/docs/blob/main/a.md
https://docs.github.com/acme/docs
https://github.com.evil.example/acme/docs
https://evilgithub.com/acme/docs
https://github.com-evil.example/acme/docs
https://github.co/acme/docs
https://githυb.com/acme/docs
https://gіthub.com/acme/docs
https://gist.githubusercontent.com/acme/docs/raw/main/a.md
https://media.githubusercontent.com/media/acme/docs/main/a.md
https://raw.githubusercontent.com.evil.example/acme/docs/main/a.md
https://raw.githubusercontent.com/acme/docs
https://raw.githubusercontent.com/acme/docs/main
https://raw.githubusercontent.com/acme/docs/refs/heads/main
https://raw.githubusercontent.com/acme/docs-fork/main/a.md
https://raw.githubusercontent.com/acme/docs/../evil/main/a.md
https://raw.githubusercontent.com/wiki/acme/docs/Home.md
https://raw.githubusercontent.com//acme/docs/main/a.md
https://raw.githubusercontent.com:8443/acme/docs/main/a.md
https://github.com/raw/acme/docs/main/a.md
https://github.dev/acme/docs/blob/main/a.md
https://acme.github.io/docs/
https://127.0.0.1/acme/docs
"""

NOBODYS_OF_ENTERPRISE = """
# other hosts, and what subdomains would be
https://github.com/acme/docs
https://raw.githubusercontent.com/acme/docs/main/a.md
https://www.HOST/acme/docs
https://gist.HOST/acme/docs
https://media.HOST/acme/docs/main/a.md
https://HOST/gist/acme/docs
https://HOST/media/acme/docs/main/a.md
https://HOST/codeload/acme/docs/blob/main/a.md
https://HOST/api/v3/repos/acme/docs
https://HOST/pages/acme/docs
https://HOST/raw/acme/docs
https://HOST/raw/acme/docs/main
https://HOST/raw/raw/acme/docs/main/a.md
https://HOST/raw/../initech/docs
https://HOST//raw/acme/docs/main/a.md
https://raw.HOST/raw/acme/docs/main/a.md
https://evilHOST/acme/docs
"""

NO_ADDRESS = """
https://alice@HOST/acme/docs
https://acme:secret@HOST/acme/docs
https://HOST@evil.example/acme/docs
https://HOST\\acme/docs
https://HOST/acme\\docs
https://HOST/acme/docs\\..\\evil
https://HOST /acme/docs
//HOST/acme/docs
ssh://git@HOST/acme/docs.git
git://HOST/acme/docs
https:HOST/acme/docs
https:/HOST/acme/docs
https://HOST%2F/acme/docs
https://HOST%40evil.example/acme/docs
javascript://HOST/acme/docs
"""


def lines(*tables: str, host: str = "github.com") -> list[list[str]]:
    """The addresses of some tables, each alone or with what is after its arrow."""
    return [
        line.replace("HOST", host).split(" -> ")
        for table in tables
        for line in table.splitlines()
        if line and not line.startswith("#")
    ]
