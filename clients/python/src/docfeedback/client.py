"""The client: `Client` is synchronous, `AsyncClient` is awaited; both do the same."""

from __future__ import annotations

import time
from typing import (
    Any,
    AsyncIterator,
    Callable,
    Dict,
    Iterator,
    NamedTuple,
    Optional,
    Tuple,
    TypeVar,
    Union,
)

from . import (
    address,
    answers,
    discovery,
    hub,
    known,
    receipts,
    report_list,
    secret_patterns,
    settings,
    threads,
    web,
)
from .answers import Receipt, SentReport
from .errors import ValidationError
from .report import Body, Report, encode
from .shape import checked

T = TypeVar("T")


class Draft(NamedTuple):
    """A report that may be sent, as far as can be checked without the network.

    `hub_url` is None if only the page's host can name one; `page` is None if the report is about a path
    in a repository.
    """

    body: Body
    data: bytes
    headers: Dict[str, str]
    hub_url: Optional[str]
    page: Optional[address.Page]


class Client:
    """Talks to one Hub; threads may share it.

    `hub_url`: default DOCFEEDBACK_HUB_URL, the configuration file, or the Hub that the page's host names.
    `token`: for `me` and `reports`; default DOCFEEDBACK_TOKEN or the configuration file. Never sent with a report.
    `timeout`: seconds for a whole call. `allow_private`: also report http and private pages.
    `transport`: sends the requests in place of ours; it is given a `Request` and returns a `Response`.
    All calls raise the errors of `docfeedback.errors`, and no others. A copy has no token.
    """

    def __init__(
        self,
        hub_url: Optional[str] = None,
        token: Optional[str] = None,
        timeout: float = settings.DEFAULT_TIMEOUT,
        *,
        allow_private: bool = False,
        transport: Optional[web.Transport] = None,
    ) -> None:
        self.hub_url = hub_url
        self.token = token
        self.timeout = timeout
        self.allow_private = allow_private
        self._transport = transport
        self._way = web.Way(transport)
        self._closed = False
        self._check()

    @property
    def token(self) -> Optional[str]:
        """The token that was given."""
        return self._token.value

    @token.setter
    def token(self, value: Optional[str]) -> None:
        self._token = _Hidden(value)

    def __repr__(self) -> str:
        return (
            f"Client(hub_url={self.hub_url!r}, timeout={self.timeout!r}, "
            f"allow_private={self.allow_private!r})"
        )

    def __reduce__(self) -> Tuple[Any, ...]:
        return _client, (self.hub_url, self.timeout, self.allow_private, self._transport)

    def __enter__(self) -> Client:
        self._check()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Refuse further calls. There is nothing to wait for: each request has its own connection."""
        self._closed = True

    def stop(self) -> None:
        """Refuse further calls, and end those of other threads: they raise Unreachable, and send no more."""
        self.close()
        self._way.stop()

    def send(
        self, report: Union[Report, Body], idempotency_key: Optional[str] = None
    ) -> SentReport:
        """Send a report (a `Report`, or its JSON) unless a safety check stops it.

        Without `idempotency_key` the Hub recognizes repeats by page, agent and summary.
        """
        self._check()
        deadline = time.monotonic() + self.timeout
        request = self.resolve(self.draft(report, idempotency_key))
        return answers.sent_report(hub.call(request, deadline - time.monotonic(), self._way))

    def draft(self, report: Union[Report, Body], idempotency_key: Optional[str] = None) -> Draft:
        """What `send` would send, or the error that would stop it; uses no network."""
        self._check()
        body = checked(report.body() if isinstance(report, Report) else report, idempotency_key)
        page = address.check(body["doc_url"], self.allow_private)
        data, headers = encode(body), _headers(body, idempotency_key)
        secret_patterns.check(body, idempotency_key)
        if page is not None:
            discovery.refuse_opted_out(page, discovery.cached(page) or {})
        return Draft(body, data, headers, settings.hub_url(self.hub_url), page)

    def resolve(self, draft: Draft) -> web.Request:
        """The exact request that sends the draft, after looking up the page's host.

        It goes to the Hub that the user names, else to the one that the page's host names.
        """
        self._check()
        _refuse_other(draft, Draft, "draft")
        listing = self._listing(draft.page)
        known_hub = self.to_known_hub(draft)
        if known_hub is not None:
            return known_hub
        url = draft.page and discovery.endpoint(
            draft.page, listing, allow_private=self.allow_private
        )
        if not url:
            raise settings.no_hub_url()
        return web.Request(
            "POST", url, draft.headers, draft.data, public_only=not self.allow_private
        )

    def to_known_hub(self, draft: Draft) -> Optional[web.Request]:
        """What `resolve` returns, without the network; None if only the page's host can name the Hub."""
        if draft.hub_url is None:
            return None
        return web.Request("POST", draft.hub_url + settings.REPORTS, draft.headers, draft.data)

    def deliver(self, draft: Draft, request: web.Request) -> SentReport:
        """Send what `resolve` returned, at most once, unless the page's host has opted out since."""
        self._check()
        _refuse_other(draft, Draft, "draft")
        _refuse_other(request, web.Request, "request")
        deadline = time.monotonic() + self.timeout
        self._listing(draft.page)
        seconds = deadline - time.monotonic()
        return answers.sent_report(hub.call(request, seconds, self._way, again=False))

    def receipt(self, report: str) -> Receipt:
        """The status of a report, by its ID or the URL of its receipt."""
        self._check()
        request = receipts.request(report, self.hub_url, allow_private=self.allow_private)
        return answers.receipt(hub.call(request, self.timeout, self._way))

    def known(self, url: str, *, look_up: bool = True) -> Dict[str, Any]:
        """The open problems of a page that are known, as `GET /v1/pages` answers: url, problems.

        The page's host is looked up as for a report, unless `look_up` is false and a Hub is set; then the page's
        address goes to the Hub, and nothing else. Raises NotFound if its owner does not show them.
        """
        self._check()
        deadline = time.monotonic() + self.timeout
        request = self._question(url, look_up)
        seconds = deadline - time.monotonic()
        answer = hub.call(request, seconds, self._way, is_answer=known.has_problems)
        return known.of(answer.body, url)

    def me(self) -> Dict[str, Any]:
        """Your organization, as `GET /v1/orgs/me` answers: name, integration, domains, sites."""
        self._check()
        hub_url = settings.required_hub_url(self.hub_url)
        token = settings.token(self.token, hub_url)
        headers = {**web.ACCEPT, "Authorization": f"Bearer {token}"}
        request = web.Request("GET", f"{hub_url}/v1/orgs/me", headers)
        return answers.organization(hub.call(request, self.timeout, self._way).body)

    def reports(self, **filters: Optional[str]) -> Iterator[Dict[str, Any]]:
        """Your organization's reports, newest first, as `GET /v1/orgs/me/reports` lists them.

        The filters are those of the API: status, kind, q, page, agent, claim, since and until. Pages
        are fetched as they are needed; `timeout` is for each of them. Where there are more than the Hub
        takes requests for in a minute, the next one waits for as long as it says.
        """
        self._check()
        pages = self._pages(report_list.checked(filters))
        return (report for page in pages for report in page.reports)

    def _pages(self, filters: Dict[str, str]) -> Iterator[report_list.Page]:
        hub_url = settings.required_hub_url(self.hub_url)
        token = settings.token(self.token, hub_url)

        def ask(asked: Dict[str, str]) -> report_list.Page:
            return report_list.fetch(hub_url, token, asked, self.timeout, self._way)

        return report_list.pages(hub_url, filters, ask, self._way)

    def _question(self, url: str, look_up: bool) -> web.Request:
        """The question about a page, to the Hub that the user names, else to the one that its host names."""
        _refuse_other(url, str, "url")
        page = address.check(url, self.allow_private)
        if page is None:
            raise ValidationError.of("not_a_page", name=url)
        secret_patterns.check({"doc_url": url})
        hub_url = settings.hub_url(self.hub_url)
        listing = self._listing(page) if look_up or hub_url is None else {}
        if hub_url is not None:
            return known.request(url, hub_url + settings.REPORTS)
        endpoint = discovery.endpoint(page, listing, allow_private=self.allow_private)
        if not endpoint or not endpoint.endswith(settings.REPORTS):
            raise settings.no_hub_url()
        return known.request(url, endpoint, public_only=not self.allow_private)

    def _listing(self, page: Optional[address.Page]) -> discovery.Listing:
        """The document of the page's host. Raises OptedOut if it wants no reports."""
        if page is None:
            return {}
        listing = discovery.look_up(
            page, seconds=self.timeout, allow_private=self.allow_private, way=self._way
        )
        discovery.refuse_opted_out(page, listing)
        return listing

    def _check(self) -> None:
        """Raise ValidationError if it is closed, or what it was given cannot be used."""
        if self._closed:
            raise ValidationError.of("closed")
        for name, value in (("hub_url", self.hub_url), ("token", self.token)):
            _refuse_other(value, (str, type(None)), name)
        if not settings.is_timeout(self.timeout):
            raise ValidationError.of("invalid_timeout")
        _refuse_other(self.allow_private, bool, "allow_private")
        if self._transport is not None and not callable(self._transport):
            raise ValidationError.of("wrong_type", name="transport")

    def _alone(self) -> Client:
        """The same client with a way of its own, so that one call can be stopped."""
        self._check()
        return Client(
            self.hub_url,
            self.token,
            self.timeout,
            allow_private=self.allow_private,
            transport=self._transport,
        )


class AsyncClient:
    """`Client`, awaited; each call runs in a thread of ours. What is cancelled sends nothing more."""

    def __init__(
        self,
        hub_url: Optional[str] = None,
        token: Optional[str] = None,
        timeout: float = settings.DEFAULT_TIMEOUT,
        *,
        allow_private: bool = False,
        transport: Optional[web.Transport] = None,
    ) -> None:
        self._client = Client(
            hub_url, token, timeout, allow_private=allow_private, transport=transport
        )

    def __repr__(self) -> str:
        return f"Async{self._client!r}"

    async def __aenter__(self) -> AsyncClient:
        self._client._check()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """As `Client.close`."""
        self._client.close()

    async def send(
        self, report: Union[Report, Body], idempotency_key: Optional[str] = None
    ) -> SentReport:
        """As `Client.send`."""
        return await self._in_thread(Client.send, report, idempotency_key)

    async def receipt(self, report: str) -> Receipt:
        """As `Client.receipt`."""
        return await self._in_thread(Client.receipt, report)

    async def known(self, url: str, *, look_up: bool = True) -> Dict[str, Any]:
        """As `Client.known`."""
        return await self._in_thread(Client.known, url, look_up=look_up)

    async def me(self) -> Dict[str, Any]:
        """As `Client.me`."""
        return await self._in_thread(Client.me)

    async def reports(self, **filters: Optional[str]) -> AsyncIterator[Dict[str, Any]]:
        """As `Client.reports`, for `async for`."""
        client = self._client._alone()
        try:
            pages = client._pages(report_list.checked(filters))
            while (page := await threads.run(next, pages, None)) is not None:
                for report in page.reports:
                    yield report
        finally:
            client.stop()

    async def _in_thread(self, call: Callable[..., T], *arguments: Any, **options: Any) -> T:
        """What a method of `Client` returns; stopped when it is cancelled."""
        client = self._client._alone()
        try:
            return await threads.run(call, client, *arguments, **options)
        finally:
            client.stop()


class _Hidden:
    """A secret that no `repr` shows."""

    __slots__ = ("value",)

    def __init__(self, value: Optional[str]) -> None:
        self.value = value

    def __repr__(self) -> str:
        return "<hidden>" if self.value else "None"


def _client(
    hub_url: Optional[str],
    timeout: float,
    allow_private: bool,
    transport: Optional[web.Transport],
) -> Client:
    return Client(hub_url, None, timeout, allow_private=allow_private, transport=transport)


def _refuse_other(value: object, kind: Union[type, Tuple[type, ...]], name: str) -> None:
    """Raise ValidationError unless it is of the kind."""
    if not isinstance(value, kind):
        raise ValidationError.of("wrong_type", name=name)


def _headers(body: Body, idempotency_key: Optional[str]) -> Dict[str, str]:
    headers = {
        **web.ACCEPT,
        "Content-Type": "application/json",
        "X-Docs-Feedback-Protocol-Version": body["protocol_version"],
    }
    if idempotency_key is None:
        return headers
    return {**headers, "Idempotency-Key": idempotency_key}
