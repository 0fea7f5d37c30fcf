"""The hostile table, second part: what is wrong with request lines, headers and framing, by its name."""

from collections.abc import Callable

from tests.hostile.letter import Letter

KIB = 1024
MIB = 1024 * KIB
Written = Callable[[Letter], bytes]


def _line(template: bytes) -> Written:
    """Another first line; `M` stands for the method, `T` for the target."""

    def written(letter: Letter) -> bytes:
        parts = {b"M": letter.method, b"T": letter.target}
        line = b" ".join(parts.get(each, each) for each in template.split(b" "))
        return letter.written(line=line + b"\r\n")

    return written


def _path(change: Callable[[bytes], bytes]) -> Written:
    return lambda letter: letter._replace(path=change(letter.path)).written()


def _headers(*lines: bytes) -> Written:
    more = b"".join(each + b"\r\n" for each in lines)
    return lambda letter: letter.written(more=more)


def _framed(framing: bytes, body: bytes = b"{}") -> Written:
    """A body that is framed so; the rest of the request is as it should be."""
    return lambda letter: letter._replace(body=body).written(framing=framing)


def _host(line: bytes) -> Written:
    return lambda letter: letter.written(host=line)


CHUNKED = b"Transfer-Encoding: chunked\r\n"
LINES: dict[str, Written] = {
    "absolute form": _line(b"M http://127.0.0.1T HTTP/1.1"),
    "absolute form of another host": _line(b"M http://evil.example/ HTTP/1.1"),
    "absolute form that is none": _line(b"M http:// HTTP/1.1"),
    "authority form": _line(b"CONNECT 127.0.0.1:80 HTTP/1.1"),
    "CONNECT to the path": _line(b"CONNECT T HTTP/1.1"),
    "asterisk form": _line(b"OPTIONS * HTTP/1.1"),
    "GET of an asterisk": _line(b"GET * HTTP/1.1"),
    "TRACE": _line(b"TRACE T HTTP/1.1"),
    "HEAD": _line(b"HEAD T HTTP/1.1"),
    "an unknown method": _line(b"BREW T HTTP/1.1"),
    "a method in small letters": _line(b"get T HTTP/1.1"),
    "a method of 8,000 letters": _line(b"A" * 8000 + b" T HTTP/1.1"),
    "a method that is no token": _line(b"G\x00T T HTTP/1.1"),
    "HTTP/1.0": _line(b"M T HTTP/1.0"),
    "HTTP/0.9": lambda letter: b"GET " + letter.path + b"\r\n\r\n",
    "HTTP/1.2": _line(b"M T HTTP/1.2"),
    "HTTP/2.0": _line(b"M T HTTP/2.0"),
    "HTTP/9999": _line(b"M T HTTP/9999.1"),
    "the preface of HTTP/2": lambda letter: b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0" * 9,
    "an upgrade to HTTP/2": _headers(b"Upgrade: h2c", b"HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA"),
    "an upgrade to WebSocket": _headers(
        b"Upgrade: websocket", b"Sec-WebSocket-Key: x", b"Sec-WebSocket-Version: 13"
    ),
    "TLS": lambda letter: b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 64,
    "no version": _line(b"M T"),
    "two spaces": _line(b"M  T HTTP/1.1"),
    "tabs": lambda letter: letter.written(line=letter.line().replace(b" ", b"\t")),
    "a space in the path": _line(b"M T x HTTP/1.1"),
    "nothing but line breaks": lambda letter: b"\r\n" * 4000,
    "line feeds only": lambda letter: letter.written().replace(b"\r\n", b"\n"),
    "carriage returns only": lambda letter: letter.written().replace(b"\r\n", b"\r"),
    "empty lines first": lambda letter: b"\r\n\r\n" + letter.written(),
    "noise": lambda letter: bytes(range(256)) * 64 + b"\r\n\r\n",
}
ENDLESS = {
    "nothing but line breaks"
}  # for which the Hub waits, as for any headers, unless they end
PATHS: dict[str, Written] = {
    "a second slash": _path(lambda path: b"/" + path),
    "slashes at the end": _path(lambda path: path + b"//"),
    "dots": _path(lambda path: b"/static/../.." + path),
    "escaped dots": _path(lambda path: b"/%2e%2e" + path + b"/%2e"),
    "escaped slashes": _path(lambda path: path.replace(b"/", b"%2f")),
    "a backslash": _path(lambda path: path + b"\\..\\"),
    "a NUL at the end": _path(lambda path: path + b"%00"),
    "bad UTF-8 at the end": _path(lambda path: path + b"%ff"),
    "raw bytes at the end": _path(lambda path: path + b"\xff\x80"),
    "a raw NUL at the end": _path(lambda path: path + b"\0"),
    "parameters": _path(lambda path: path + b";jsessionid=x"),
    "a bad escape at the end": _path(lambda path: path + b"%"),
    "a fragment": _path(lambda path: path + b"#x"),
    "8 KiB": _path(lambda path: path + b"/x" * (4 * KIB)),
    "64 KiB": _path(lambda path: path + b"x" * (64 * KIB)),
    "4,000 slashes": _path(lambda path: path + b"/" * 4000),
    "without a slash": _path(lambda path: path[1:] or b"x"),
    "in capitals": _path(bytes.upper),
    "twice escaped": _path(lambda path: path + b"%2500%252f"),
    "a static file outside": _path(lambda path: b"/static/%2e%2e/%2e%2e/hub/settings.py"),
    "a static file with a NUL": _path(lambda path: b"/static/hub.css%00"),
}
FRAMINGS: dict[str, Written] = {
    "no length": _framed(b"", b""),
    "no length, and a body": _framed(b"Content-Type: application/json\r\n"),
    "chunked": _framed(CHUNKED, b"2\r\n{}\r\n0\r\n\r\n"),
    "chunked, and empty": _framed(CHUNKED, b"0\r\n\r\n"),
    "chunked with extensions": _framed(CHUNKED, b'2;a="b";c\r\n{}\r\n0\r\n\r\n'),
    "chunked with trailers": _framed(CHUNKED, b"2\r\n{}\r\n0\r\nX-A: b\r\nHost: evil\r\n\r\n"),
    "1,000 chunks": _framed(CHUNKED, b"1\r\n \r\n" * 1000 + b"0\r\n\r\n"),
    "a chunk size that is none": _framed(CHUNKED, b"zz\r\n{}\r\n0\r\n\r\n"),
    "a negative chunk size": _framed(CHUNKED, b"-2\r\n{}\r\n0\r\n\r\n"),
    "a chunk beyond 64 bits": _framed(CHUNKED, b"fffffffffffffffff\r\n{}\r\n0\r\n\r\n"),
    "a chunk of 64 bits": _framed(CHUNKED, b"ffffffffffffffff\r\n{}\r\n0\r\n\r\n"),
    "a chunk longer than its size": _framed(CHUNKED, b"1\r\n{}\r\n0\r\n\r\n"),
    "chunked and a length": _framed(CHUNKED + b"Content-Length: 2\r\n", b"2\r\n{}\r\n0\r\n\r\n"),
    "a length and chunked": _framed(b"Content-Length: 15\r\n" + CHUNKED, b"2\r\n{}\r\n0\r\n\r\n"),
    "chunked in HTTP/1.0": lambda letter: _framed(CHUNKED, b"0\r\n\r\n")(
        letter._replace(version=b"HTTP/1.0")
    ),
    "chunked twice": _framed(b"Transfer-Encoding: chunked, chunked\r\n", b"0\r\n\r\n"),
    "gzip, chunked": _framed(b"Transfer-Encoding: gzip, chunked\r\n", b"0\r\n\r\n"),
    "chunked, but not last": _framed(b"Transfer-Encoding: chunked, gzip\r\n", b"0\r\n\r\n"),
    "chunked, disguised": _framed(b"Transfer-Encoding: \x0bchunked\r\n", b"0\r\n\r\n"),
    "an unknown transfer coding": _framed(b"Transfer-Encoding: nonsense\r\n"),
    "two lengths": _framed(b"Content-Length: 2\r\nContent-Length: 3\r\n"),
    "the same length twice": _framed(b"Content-Length: 2\r\nContent-Length: 2\r\n"),
    "a list of lengths": _framed(b"Content-Length: 2, 2\r\n"),
    "a negative length": _framed(b"Content-Length: -1\r\n"),
    "a length with a sign": _framed(b"Content-Length: +2\r\n"),
    "a length with an underscore": _framed(b"Content_Length: 99\r\nContent-Length: 2\r\n"),
    "a length that is none": _framed(b"Content-Length: two\r\n"),
    "an empty length": _framed(b"Content-Length:\r\n"),
    "a length in hexadecimal": _framed(b"Content-Length: 0x2\r\n"),
    "a length of 64 bits": _framed(b"Content-Length: 18446744073709551615\r\n"),
    "a length beyond 64 bits": _framed(b"Content-Length: 99999999999999999999\r\n"),
    "a length of 4,000 digits": _framed(b"Content-Length: " + b"9" * 4000 + b"\r\n"),
    "a length of a terabyte": _framed(b"Content-Length: 1099511627776\r\n"),
    "a length in Arabic digits": _framed("Content-Length: ٢\r\n".encode()),
    "a length that is too short": _framed(b"Content-Length: 1\r\n"),
    "a second request behind it": _framed(b"Content-Length: 2\r\n", b"{}GET / HTTP/1.1\r\n\r\n"),
    "Expect: 100-continue": _headers(b"Expect: 100-continue"),
    "Expect: something else": _headers(b"Expect: a-miracle"),
}
HEADERS: dict[str, Written] = {
    "no Host": _host(b""),
    "an empty Host": _host(b"Host:\r\n"),
    "two Hosts": _host(b"Host: 127.0.0.1\r\nHost: evil.example\r\n"),
    "another Host": _host(b"Host: evil.example\r\n"),
    "a Host that is none": _host(b"Host: a b/%00@[::1\r\n"),
    "a Host of 8 KiB": _host(b"Host: " + b"a" * 8000 + b"\r\n"),
    "a Host with bytes": _host(b"Host: \xff\xfe\r\n"),
    "100 headers": _headers(*(b"X-%d: y" % n for n in range(90))),
    "10,000 headers": _headers(*(b"X-%d: y" % n for n in range(10_000))),
    "one header of 9 KiB": _headers(b"X-Long: " + b"x" * 9 * KIB),
    "one header of 1 MiB": _headers(b"X-Long: " + b"x" * MIB),
    "a name of 9 KiB": _headers(b"X" * 9 * KIB + b": y"),
    "a folded header": _headers(b"X-Folded: a", b" b", b"\tc"),
    "a folded first header": _host(b" Host: 127.0.0.1\r\n"),
    "a NUL in a header": _headers(b"X-Nul: a\0b"),
    "a NUL in a name": _headers(b"X-\0: a"),
    "control characters": _headers(b"X-Control: a\x01\x7fb"),
    "bytes beyond ASCII": _headers(b"X-Bytes: \xff\xfe\x80", b"User-Agent: \xc3\xa9\xff"),
    "no colon": _headers(b"X-Nothing"),
    "a space before the colon": _headers(b"X-Space : y"),
    "an empty name": _headers(b": y"),
    "a cookie of 3 KiB": _headers(b"Cookie: a=" + b"x" * 3000),
    "a cookie of 15 KiB": _headers(b"Cookie: a=" + b"x" * 15_000),
    "1,000 cookies": _headers(b"Cookie: " + b"; ".join(b"c%d=x" % n for n in range(450))),
    "escapes in a cookie": _headers(b'Cookie: a="' + b"\\" * 60 + b'"'),
    "cookies that are none": _headers(b'Cookie: ;;=;a;=b;"; session; csrf=; messages=\xff\0x'[:40]),
    "a session that is none": _headers(b"Cookie: session=\xff%00; csrf=\xfe; messages=\xfd"),
    "messages that are none": _headers(b"Cookie: messages=" + b"[" * 3000),
    "an Accept of its own": _headers(b"Accept: text/html;q=x, */*;q=-1, ;;;, a/b;c*=utf-16''d"),
    "an Accept that is none": _headers(b"Accept: \xff/\xfe, text/html;q=" + b"9" * 400),
    "a token that is none": _headers(b"Authorization: Bearer"),
    "a token of bytes": _headers(b"Authorization: Bearer \xff\xfe\xc3"),
    "a token of 8,000 letters": _headers(b"Authorization: Bearer hub_" + b"x" * 8000),
    "Basic": _headers(b"Authorization: Basic \xff:::="),
    "addresses that are none": _headers(b"X-Forwarded-For: \xff, ::::, 999.1.1.1, " + b"1," * 500),
    "a scheme that is none": _headers(
        b"X-Forwarded-Proto: gopher, https", b"X-Forwarded-Host: evil"
    ),
    "days that are none": _headers(b"If-Modified-Since: Thu, 99 Foo 0000 99:99:99 GMT"),
    "a day of long ago": _headers(b"If-Modified-Since: Mon, 01 Jan 0001 00:00:00 GMT"),
    "tags that are none": _headers(b'If-None-Match: W/"\xff, "a, *, ' + b'"x",' * 1000),
    "ranges that are none": _headers(b"Range: bytes=-1-2,99999999999999999999-,a-b,0-0"),
    "an origin that is none": _headers(b"Origin: null", b"Referer: http://[::1/\xff"),
    "a preflight": _headers(b"Origin: x", b"Access-Control-Request-Method: \xff"),
    "keys that are none": _headers(
        b"Idempotency-Key: \xff", b"X-Docs-Feedback-Protocol-Version: \xff"
    ),
    "languages": _headers(b"Accept-Language: " + b"aa-bb;q=0.1," * 500),
    "an id of a request": _headers(b"X-Request-Id: \xff\x80" + b"x" * 5000),
    "another method": _headers(b"X-HTTP-Method-Override: DELETE", b"X-Original-URL: /admin/"),
    "a signature that is none": _headers(
        b"X-Hub-Signature-256: sha256=\xff", b"X-GitHub-Event: \xff"
    ),
}
