"""Headers and forms that Django would read in more than linear time, or memory."""

import pytest

from tests.hub.server.test_bridge import Answer, Echo, Request, talk


def answered(path: str, body: bytes = b"", *, method: str = "POST", **headers: str) -> Answer:
    async def conversation(bridge) -> Answer:
        request = Request(bridge, path, method=method, content_length=str(len(body)), **headers)
        if body:
            await request.send(body, more=False)
        return await request.answer()

    return talk(conversation, Echo())


@pytest.mark.parametrize(
    ("headers", "error"),
    [
        ({"cookie": "a=" + "b" * 4095}, "headers_too_large"),
        ({"cookie": 'a="' + '\\"' * 65 + '"'}, "headers_too_large"),
        ({"cookie": 'a="' + "\\" * 4000 + '"'}, "headers_too_large"),
        ({"content_type": "application/json; x=" + ";" * 300}, "headers_too_large"),
        ({"accept": 'a/b;q="' + ";" * 1100}, "headers_too_large"),
        ({"x_anything": "a" * 9000}, "headers_too_large"),
        ({"early_data": "1"}, "too_early"),
        ({"content_type": "application/json; x*=nosuch''a"}, "unsupported_media_type"),
        ({"accept": "a/b; x*=nosuch''a"}, "unsupported_media_type"),
        ({"accept": "text/html, a/b; q*0*=idna''a"}, "unsupported_media_type"),
        ({"accept": "a/b; x=\"y,z; x*=punycode''a\""}, "unsupported_media_type"),
    ],
)
def test_a_header_that_takes_long_to_read_is_refused(headers, error):
    """Or that says that nobody knows where the request comes from."""
    for path in ("/v1/reports", "/", "/nothing"):
        assert answered(path, **headers).error == error


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/login/", {"x_anything": "a" * 9000}),
        ("/login/", {"content_type": "text/plain"}),
        ("/healthz", {}),
    ],
)
def test_what_is_answered_without_django_is_locked_down_too(path, headers):
    answer = answered(path, **headers)

    assert answer.headers[b"x-content-type-options"] == b"nosniff"
    assert answer.headers[b"x-frame-options"] == b"DENY"
    assert b"frame-ancestors 'none'" in answer.headers[b"content-security-policy"]
    assert answer.headers[b"referrer-policy"] == b"same-origin"


@pytest.mark.parametrize(
    "headers",
    [
        {"accept": "text/html, image/jpeg, *; q=.2, */*; q=.2"},
        {"accept": "text/html,application/xml;q=0.9,image/avif,*/*;q=0.8,a/b;v=b3;q=0.7"},
        {"accept": "application/" + "x" * 500},
        {"cookie": 'csrftoken=a; seen="' + "\\054" * 64 + '"'},
    ],
)
def test_what_clients_send_is_let_in(headers):
    assert answered("/r/x/", method="GET", **headers).status == 200


def test_what_is_accepted_in_two_lines_is_looked_at_in_both():
    async def conversation(bridge) -> Answer:
        request = Request(bridge, "/r/x/", method="GET")
        two = [b"a/b; x=1", b"a/b; x*=idna''a"]
        request._talk.scope["headers"] += [(b"accept", each) for each in two]
        return await request.answer()

    assert talk(conversation, Echo()).status == 415


def test_cookies_in_many_lines_are_as_long_as_together():
    async def conversation(bridge) -> Answer:
        request = Request(bridge, "/")
        request._talk.scope["headers"] += [(b"cookie", b"a=" + b"b" * 1000)] * 5
        return await request.answer()

    assert talk(conversation, Echo()).status == 431


@pytest.mark.parametrize(
    "kind",
    [
        "multipart/form-data; boundary=b; charset=punycode",
        "multipart/form-data; boundary=b",
        "application/x-www-form-urlencoded; charset=punycode",
        "text/plain",
    ],
)
@pytest.mark.parametrize("path", ["/", "/login/", "/settings/integration/", "/admin/"])
def test_a_form_of_another_shape_is_refused_before_it_is_read(path, kind):
    answer = answered(path, content_type=kind)

    assert (answer.status, answer.error) == (415, "unsupported_media_type")


@pytest.mark.parametrize(
    "kind",
    [
        "multipart/form-data; boundary=b; charset=punycode",
        "multipart/form-data; boundary=b",
        "Multipart/Mixed",
        "application/json; charset=punycode",
        "application/json; charset=utf-8; charset=hex",
        'text/plain; x=";"; CharSet="idna"',
        "text/plain;\xa0charset=zlib",
        "text/plain; charset=",
        "text/plain; charset*=utf-8''hex",
    ],
)
@pytest.mark.parametrize("path", ["/", "/v1/reports", "/v1/integrations/github/callback", "/no"])
def test_only_utf_8_is_read_at_whatever_address_by_whatever_method(path, kind):
    methods = ["GET", "POST", "OPTIONS", "BREW"]

    answers = [answered(path, method=each, content_type=kind) for each in methods]

    assert {(each.status, each.error) for each in answers} == {(415, "unsupported_media_type")}


def test_a_charset_in_two_headers_is_found_as_django_would_join_them():
    async def conversation(bridge) -> Answer:
        request = Request(bridge, "/login/", method="GET")
        two = [b'text/plain; x="a', b'b"; charset=hex']
        request._talk.scope["headers"] += [(b"content-type", each) for each in two]
        return await request.answer()

    assert talk(conversation, Echo()).status == 415


@pytest.mark.parametrize("kind", ["application/json", 'application/json; charset="UTF-8"', "a/b"])
def test_what_a_call_of_the_api_takes_it_says_itself(kind):
    assert answered("/v1/reports", content_type=kind).status == 200


FORM = "application/x-www-form-urlencoded; charset=UTF-8"
SIGNED_IN = {"cookie": "csrf=a; __Host-session=b"}


@pytest.mark.parametrize(
    ("path", "cookies", "most"),
    [
        ("/", {}, 16),
        ("/", SIGNED_IN, 16),
        ("/login/", {}, 16),
        ("/report/", {}, 128),
        ("/settings/x/", SIGNED_IN, 256),
        ("/admin/x/", SIGNED_IN, 256),
        ("/settings/x/", {}, 16),
        ("/admin/login/", {}, 16),
        ("/settings/", {"cookie": "csrf=__Host-session=; x__Host-session=b"}, 16),
        ("/settings/", {"cookie": "session=b"}, 16),
    ],
)
def test_a_form_that_is_larger_than_any_is_refused_before_it_is_read(path, cookies, most):
    fits = answered(path, b"%" * most * 1024, content_type=FORM, **cookies)
    exceeds = answered(path, b"%" * (most * 1024 + 1), content_type=FORM, **cookies)

    assert (fits.status, exceeds.status) == (200, 413)


def test_who_was_signed_out_meanwhile_is_told_to_sign_in():
    form = b"%" * 100_000

    signed_out = answered("/settings/integration/", form, content_type=FORM)
    signed_in = answered("/settings/integration/", form * 3, content_type=FORM, **SIGNED_IN)

    assert b"Sign in again" in signed_out.body
    assert b"Shorten it" in signed_in.body
