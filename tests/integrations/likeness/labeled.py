"""Reports of five invented pages, each with the problem that it is about; None for one that says nothing."""


def row(problem, summary, details="", error="", fix=""):
    evidence = [{"kind": "error_message", "text": error}] if error else []
    report = {"summary": summary, "details": details, "suggested_fix": fix, "evidence": evidence}
    return problem, report


PAGES = {
    "https://docs.acme.example/cli/snapshots": [
        row(
            "keep",
            "`snap prune --keep-last` was removed, the retention example fails",
            "With snap 7.1 the command stops right away.",
            "unknown option: --keep-last",
            fix="Use `--retain`.",
        ),
        row(
            "keep",
            "Retention sample uses an option that snap 7 no longer knows",
            "Running `snap prune --keep-last 5` prints unknown option: --keep-last. `snap prune --help` has --retain.",
        ),
        row(
            "age",
            "`snap prune --keep-age` takes hours, page says days",
            "`--keep-age 7` removed everything older than 7 hours.",
        ),
        row(None, "needs work"),
        row(
            "age",
            "Unit of --keep-age is hours and not days",
            fix="Say that --keep-age is in hours.",
        ),
        row(
            "keep",
            "--keep-last: unknown option",
            "snap 7.1.2 on Fedora 40",
            "unknown option: --keep-last",
        ),
        row(
            "lock",
            "A stale lock after an interrupted snapshot isn't mentioned",
            "After Ctrl-C each further command says `repository is locked by pid 4711`. `snap unlock` helps.",
        ),
        row(
            "lock",
            "How to remove a stale lock?",
            "An interrupted snapshot leaves the repository locked; I found `snap unlock` in the help only.",
            "repository is locked by pid 90112",
        ),
        row(
            "windows",
            "Path in step 2 doesn't work on Windows",
            "`~/.snap/repo` isn't expanded by cmd.exe.",
        ),
        row(
            "macos",
            "Path in step 2 doesn't work on macOS",
            "`~/Library` is protected; full disk access has to be granted.",
        ),
        row(
            "lock",
            "Page doesn't tell about `snap unlock`",
            "When a snapshot has been interrupted, a stale lock stays behind.",
        ),
    ],
    "https://api.acme.example/reference/rate-limits": [
        row(
            "header",
            "Response has `RateLimit-Reset`, page documents `X-RateLimit-Reset`",
            "My client reads X-RateLimit-Reset and gets null.",
        ),
        row(
            "seconds",
            "`Retry-After` is in milliseconds, page says seconds",
            "I got Retry-After: 30000.",
        ),
        row(
            "header",
            "Wrong name of the reset header",
            "It's RateLimit-Reset without the X- in all responses that I captured.",
        ),
        row(
            "burst",
            "Burst allowance for writes isn't documented",
            "The first 20 POST requests pass at once, then 429 comes after each.",
            "429 Too Many Requests: write burst exceeded",
        ),
        row(
            "burst-read",
            "Burst allowance for reads isn't documented",
            "GET has one as well, about 100.",
            "429 Too Many Requests: read burst exceeded",
        ),
        row("seconds", "Unit of `Retry-After`: milliseconds rather than seconds"),
        row(
            "header",
            "X-RateLimit-Reset doesn't exist, the header is called RateLimit-Reset",
            fix="Drop the X-.",
        ),
        row("go", "No Go example for backing off"),
        row("rust", "No Rust example for backing off"),
        row(
            "burst",
            "Undocumented write burst of 20 requests",
            "429 Too Many Requests: write burst exceeded. Nothing is said about bursts for writes.",
        ),
        row(
            "seconds",
            "Retry-After: 30000 can't be seconds",
            "The page promises seconds, these are milliseconds.",
        ),
    ],
    "https://docs.acme.example/ja/storage/lifecycle": [
        row(
            "days",
            "`expireDays` の既定値が間違っています（30 ではなく 90）",
            "コンソールでは 90 と表示されます。",
        ),
        row("days", "Default of expireDays is 90, the Japanese page says 30"),
        row(
            "rule",
            "ライフサイクルルールの JSON 例が解析エラーになる",
            "閉じ括弧が足りません。",
            "InvalidLifecycle: unexpected end of input",
        ),
        row(
            "rule",
            "JSON sample can't be parsed",
            "A closing bracket is missing in the lifecycle rule.",
            "InvalidLifecycle: unexpected end of input",
        ),
        row("tag", "タグによるフィルタの説明がない"),
        row("days", "expireDays の既定値は 90 です"),
        row(
            "min",
            "Minimum size for transitions isn't stated",
            "Objects under 128 KB are never moved.",
        ),
        row(
            "max", "Maximum size for transitions isn't stated", "Objects over 5 TB are never moved."
        ),
        row(
            "rule",
            "ライフサイクルルールの例に閉じ括弧がない",
            error="InvalidLifecycle: unexpected end of input",
        ),
    ],
    "https://docs.acme.example/de/konsole/benutzer": [
        row(
            "knopf",
            "Schaltfläche „Mitglied einladen“ heißt jetzt „Person hinzufügen“",
            "In Schritt 2 gibt es keine Schaltfläche „Mitglied einladen“.",
        ),
        row(
            "knopf",
            'The button in step 2 is called "Person hinzufügen" and not "Mitglied einladen"',
        ),
        row(
            "gast",
            "Rolle `guest` darf Berichte nicht exportieren, laut Tabelle schon",
            error="PERMISSION_DENIED: reports.export",
        ),
        row(
            "gast",
            "`guest` can't export reports although the table says so",
            error="PERMISSION_DENIED: reports.export",
        ),
        row(
            "pruefer",
            "Rolle `auditor` darf Berichte nicht exportieren, laut Tabelle schon",
            error="PERMISSION_DENIED: reports.export",
        ),
        row(None, "Seite unklar"),
        row("frist", "Einladungen verfallen nach 3 Tagen, nicht nach 7"),
        row("frist", "Invitations expire after 3 days, page says 7"),
        row("knopf", "Schritt 2: „Mitglied einladen“ gibt es nicht mehr, nur „Person hinzufügen“"),
    ],
    "https://handbook.acme.example/lang/iterators": [
        row(
            "chunk",
            "Listing 6-2 doesn't compile: `chunks_by` was renamed to `group_by`",
            error="error[E0599]: no method named `chunks_by`",
        ),
        row(
            "lazy",
            "Listing 6-4 doesn't compile: `lazy` needs an import",
            error="error[E0433]: undeclared type `Lazy`",
        ),
        row(
            "chunk",
            "no method named chunks_by in listing 6-2",
            "Compiler 1.90. It's group_by since 1.88.",
        ),
        row("zip", "`zip` stops at the shorter iterator, text says that it pads"),
        row("chain", "`chain` stops at the shorter iterator, text says that it pads"),
        row("zip", "Text on `zip` is wrong about padding, it ends with the shorter iterator"),
        row("link", "Link to the chapter on closures leads to a 404"),
        row("link", "Broken link: closures", "The link to the chapter on closures answers 404."),
        row(None, "I don't get it"),
        row(
            "chunk",
            "Listing 6-2: chunks_by has become group_by",
            error="error[E0599]: no method named `chunks_by`",
        ),
    ],
}
