"""`/settings/integration/`: the app, the repository, the template."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.html import format_html
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt

from core import as_shown, client_address, rates
from core.errors import ApiError
from hub.screen import issue_choice, one_issue, own_files, previews, setup_steps
from hub.screen.access import MemberRequest, members_only, only_post
from hub.screen.overview import integration_of, next_of, standing_of
from integrations.api import setup
from integrations.delivery import holds
from integrations.issue.rendering import DEFAULT_TEMPLATE
from integrations.models import Integration
from integrations.setup import configuration, installing, labels, mentions, values
from orgs.models import Membership, Site, User
from orgs.people import counted

INTEGRATION_PAGE = "settings-integration"
# For each organization, and each person: three issues of any template, each time.
PREVIEWS = "60/minute"
READ_BY_ALL = "Everybody can read the issues about lapsed claims and stopped reports there."
NOT_THERE = (
    "No issue about lapsed claims and stopped reports is opened there, unless you choose it."
)
REPOSITORY_ID = "repository_id"
# For each organization, and each person: Pause and Resume stop or send all that waits.
PRESSES = "10/minute"


class IntegrationForm(issue_choice.ChoiceFields):
    """The form for the repository, the template and what issues get. Saving asks GitHub about the repository."""

    repository = forms.RegexField(
        r"\A[\w.-]{1,100}/[\w.-]{1,100}\Z",
        widget=forms.Select,
        error_messages={"required": "Choose a repository.", "invalid": "Choose a repository."},
    )
    issue_template = forms.CharField(
        required=False,
        strip=False,
        label="Issue template",
        help_text="Markdown. The title is [docs] and the summary. Leave it empty for the default.",
        widget=forms.Textarea(attrs={"rows": 16, "spellcheck": "false", "class": "code"}),
    )

    alerts = forms.TypedChoiceField(
        required=False,
        choices=[("yes", "Open an issue"), ("no", "Show it only in the Hub")],
        coerce=lambda choice: choice == "yes",
        empty_value=None,
        label="When a claim lapses or sending stops",
        help_text="One issue in the repository for each event; the Hub closes it when that is solved. "
        "In a public repository, everybody can read it.",
        widget=forms.RadioSelect,
    )
    field_order = [
        "repository", "own_files", "issue_template", *issue_choice.ChoiceFields.base_fields, "alerts",
    ]  # fmt: skip
    own_files = forms.BooleanField(
        required=False,
        help_text="README.md, docs/… as they are shown on the code host. Agents that work in a repository "
        "report about those. If it is private, the Hub tells nobody else that it exists.",
    )

    template_now = ""  # what is stored, where somebody else has changed it, too

    def clean_issue_template(self) -> str:
        """The template, checked; an error of the form if it is not valid."""
        try:
            return configuration.checked_template(self.cleaned_data["issue_template"])
        except ApiError as error:
            raise forms.ValidationError(str(error.detail)) from None

    @property
    def shown(self) -> dict[str, str]:
        """The hidden fields that say what the page has shown, the repository by GitHub's number of it."""
        known = self.data or self.initial
        here = {REPOSITORY_ID: str(known[REPOSITORY_ID])} if REPOSITORY_ID in known else {}
        return here | as_shown.sent(known)

    def _wanted(self) -> dict[str, Any]:
        """What was sent, by the names of the fields."""
        sent, choice = self.cleaned_data, labels.checked(self.choice())
        return values.wanted(sent["issue_template"], sent["alerts"], choice)

    def _show_now(self, member: Membership, names: Iterable[str]) -> None:
        """Show what is stored, with what the member has changed, and say which fields somebody else has changed, too.

        A choice that was made about another repository than the one of now is dropped.
        """
        mine = integration_of(member.organization)
        if mine is None:
            return self.add_error("repository", configuration.NotInstalled.default_detail)
        wanted, shown, now = self._wanted(), self.shown, _stored(mine)
        both = {*names, *as_shown.changed_by_both(wanted, values.stored(mine), shown)}
        changed = {each for each in wanted if not as_shown.is_left(each, wanted[each], shown)}
        kept = {"repository", "own_files"} | changed
        if "repository" in both:
            kept -= {"repository", values.ALERTS}
        self.data = now | {name: self.data.get(name, "") for name in kept}
        self.template_now = now[values.TEMPLATE] if values.TEMPLATE in both else ""
        for name in both:
            self.add_error(name, _changed(self[name], now[name]))
        return None

    def save(self, member: Membership) -> Integration | None:
        """The integration; None if it is refused, with the reason as an error of the form."""
        owner, _, name = self.cleaned_data["repository"].partition("/")
        try:
            return configuration.configure(
                member,
                repo_owner=owner,
                repo_name=name,
                issue_template=self.cleaned_data["issue_template"],
                alerts=self.cleaned_data["alerts"],
                choice=self.choice(),
                shown=self.shown,
            )
        except mentions.TemplateAddressesOthers as error:
            self.add_error("issue_template", str(error.detail))
        except as_shown.ChangedMeanwhile as error:
            self._show_now(member, error.names)
        except configuration.RepositoryChanged:
            self._show_now(member, ["repository"])
        except ApiError as error:
            self.add_error("repository", str(error.detail))
        return None


def _changed(field: forms.BoundField, now: str) -> str:
    """What to say of a field that somebody else has changed to what it is now."""
    is_now = f": it is now “{now}”" if now else ": it is empty now"
    if field.name in (values.TEMPLATE, values.ALERTS):  # the page shows them
        is_now = ""
    return f"“{field.label}” was changed in the meantime{is_now}. Nothing was saved. Look at it, and save again."


@members_only
def integration(request: MemberRequest) -> HttpResponse:
    """The page of the integration; without an installation, a page that leads to one."""
    mine = integration_of(request.membership.organization)
    if mine is None:
        if request.method == "POST":
            messages.error(request, configuration.NotInstalled.default_detail)
        return render(request, "hub/install.html")
    only_looks = request.POST.keys() & {"preview", "live", "page", "default"}
    if request.method == "POST" and not only_looks:
        form = IntegrationForm(request.POST)
        if form.is_valid() and "sure" not in request.POST and (lost := _lost(mine, form)):
            return render(request, "hub/switch.html", _switch(mine, form, lost))
        before = own_files.standing(mine).mine
        if form.is_valid() and (saved := form.save(request.membership)):
            _tell(request, form, mine, saved)
            _claim_files(request, form, saved, before)
            return redirect(INTEGRATION_PAGE)
    else:
        form = IntegrationForm(initial=_stored(mine) | _typed(request))
    if "live" in request.POST:
        return render(request, "hub/_preview.html", _preview(request, form))
    claims = setup_steps.Claims.of(request.membership.organization)
    context = {
        "form": form,
        "integration": mine,
        "files": own_files.standing(mine),
        "other_page": _offer_repositories(request, form, mine),
        "only_choice": _only_choice(form),
        "is_owner": request.membership.is_owner,
        "next": next_of(mine, claims),
        "standing": standing_of(mine, claims),
        "placeholders": previews.PLACEHOLDERS,
        "options": one_issue.OPTIONS,
        "choices_shown": one_issue.shown(mine),
        **_preview(request, form),
    }
    return render(request, "hub/integration.html", context)


@only_post(INTEGRATION_PAGE)
def install(request: MemberRequest) -> HttpResponse:
    """Redirect to GitHub, to install the app or to use an existing installation."""
    try:
        begun = installing.begin(request.membership)
    except rates.RateLimited as error:
        messages.error(request, str(error.detail))
        return redirect(INTEGRATION_PAGE)
    existing = "existing" in request.POST
    return redirect(begun.use_existing_url if existing else begun.install_url)


@csrf_exempt  # nothing is posted here: the state is the proof
@never_cache
def callback(request: HttpRequest) -> HttpResponseBase:
    """The browser returns from GitHub: show people a page, answer programs with JSON."""
    is_read = request.method in ("GET", "HEAD")  # the API refuses other methods
    sees_pages = "text/html" in request.headers.get("Accept", "")
    if not (is_read and sees_pages and isinstance(request.user, User)):
        return setup.Callback.as_view()(request)
    try:
        network = client_address.network_of(request)
        done = setup.completed(request.GET, request.user, network)
    except ApiError as error:
        messages.error(request, str(error.detail))
        return redirect(INTEGRATION_PAGE)
    match done:
        case installing.SignInFirst():
            return redirect(done.url)
        case installing.Choose():
            context = {"installations": done.installations}
            return render(request, "hub/choose_installation.html", context)
    messages.success(request, f"The app is installed on {done.installation.account}.")
    return redirect(INTEGRATION_PAGE)


@only_post(INTEGRATION_PAGE)
def try_again(request: MemberRequest) -> HttpResponse:
    """Check on GitHub whether the problem is gone, and release what was held."""
    try:
        saved = configuration.try_again(request.membership)
    except ApiError as error:
        messages.error(request, str(error.detail))
    else:
        if saved.why_silent:
            why = f"{saved.repository} accepts issues again. {saved.why_silent}"
            messages.warning(request, why)
        else:
            messages.success(
                request, f"{saved.repository} accepts issues again. Held reports are sent."
            )
    return redirect(INTEGRATION_PAGE)


@only_post(INTEGRATION_PAGE)
def pause(request: MemberRequest) -> HttpResponse:
    """Pause the integration."""
    if mine := _to_be_changed(request):
        holds.pause(mine)
        messages.success(request, "Paused. Nothing is sent until you resume.")
    return redirect(INTEGRATION_PAGE)


@only_post(INTEGRATION_PAGE)
def resume(request: MemberRequest) -> HttpResponse:
    """End the pause."""
    if mine := _to_be_changed(request):
        count = holds.resume(mine)
        waiting = f" {count} report{'' if count == 1 else 's'} on the way." if count else ""
        mine.refresh_from_db()
        if why := holds.why_stopped(mine):
            messages.warning(request, f"Resumed, but nothing is sent yet. {why}")
        else:
            messages.success(request, f"Reports are sent again.{waiting}")
    return redirect(INTEGRATION_PAGE)


def _to_be_changed(request: MemberRequest) -> Integration | None:
    """The integration, unless it was paused and resumed too often, or there is none; then the member is told so."""
    what = "changes between Pause and Resume"
    try:
        counted.check(request.membership, PRESSES, "pause", what=what)
    except rates.RateLimited as error:
        messages.error(request, str(error.detail))
        return None
    mine = integration_of(request.membership.organization)
    if mine is None:
        messages.error(request, configuration.NotInstalled.default_detail)
    return mine


@members_only
def disconnect(request: MemberRequest) -> HttpResponse:
    """Ask for confirmation, then disconnect the repository."""
    mine = integration_of(request.membership.organization)
    if mine is None or mine.repository_id is None:
        return redirect(INTEGRATION_PAGE)
    if request.method == "POST":
        try:
            shown = request.POST.get(REPOSITORY_ID)
            configuration.disconnect(request.membership, shown=shown)
        except ApiError as error:
            messages.error(request, str(error.detail))
        else:
            messages.success(request, f"{mine.repository} no longer receives issues.")
        return redirect(INTEGRATION_PAGE)
    return render(request, "hub/disconnect.html", {"integration": mine})


def _tell(
    request: MemberRequest, form: IntegrationForm, mine: Integration, saved: Integration
) -> None:
    """Say what was saved, and what to know about this repository."""
    is_same = saved.repository_id == mine.repository_id
    told = "Template saved." if is_same else f"Issues now go to {saved.repository}."
    if is_same and saved.choice != mine.choice:
        told = "Saved. New issues get what you have chosen."
    messages.success(request, told)
    if why := _about_alerts(saved, form, is_same=is_same):
        messages.warning(request, f"{saved.repository} is public. {why}")


def _claim_files(
    request: MemberRequest, form: IntegrationForm, saved: Integration, before: Site | None
) -> None:
    """Claim the repository's files if that was ticked; if that is refused, what was saved stays.

    A claim that is there now and was not `before` is told, also one that saving has restored.
    """
    name = saved.repository
    if form.cleaned_data["own_files"] and (why := own_files.claim(request.membership, saved)):
        messages.warning(request, f"You do not receive reports about the files of {name}. {why}")
        return
    now = own_files.standing(saved).mine
    if now and now != before and not now.opted_out_at:
        messages.success(request, f"Reports about the files of {name} come to you, too.")


def _about_alerts(saved: Integration, form: IntegrationForm, *, is_same: bool) -> str:
    """What to know about issues with bad news in this repository; empty if it is as they expect."""
    if saved.repository_private:
        return ""
    if saved.alerts:
        return "" if is_same else READ_BY_ALL
    return NOT_THERE if form.cleaned_data["alerts"] else ""


def _lost(mine: Integration, form: IntegrationForm) -> list[Site]:
    """The sites whose claims would lapse, because another repository publishes them."""
    live = Site.objects.live().filter(organization=mine.organization_id)
    return list(live.exclude(repository__iexact=form.cleaned_data["repository"]))


def _switch(mine: Integration, form: IntegrationForm, lost: list[Site]) -> dict[str, Any]:
    """What the page shows that asks before claims lapse; who had the files is offered the new ones."""
    has_files = own_files.standing(mine).mine is not None
    files = form.cleaned_data["own_files"] or has_files
    shown = form.shown | {REPOSITORY_ID: str(mine.repository_id or "")}
    return {"form": form, "mine": mine, "lost": lost, "files": files, "shown": shown}


def _stored(mine: Integration) -> dict[str, Any]:
    """What the form begins with. Files are claimed by default with the first repository alone.

    Whoever has left them out, or has removed their claim, would claim them with the next template.
    """
    template = mine.issue_template or DEFAULT_TEMPLATE
    shown = values.stored(mine) | {values.ALERTS: mine.wants_alerts}
    return {
        "repository": mine.repository,
        REPOSITORY_ID: str(mine.repository_id or ""),
        "issue_template": template,
        "alerts": "yes" if mine.wants_alerts else "no",
        "own_files": mine.repository_id is None,
        **issue_choice.stored(mine),
        **as_shown.marks(shown),
    }


def _typed(request: MemberRequest) -> dict[str, Any]:
    """What is in the form that only looks, for the next one; *Back to the default* changes its template."""
    if request.method != "POST":
        return {}
    default = {"issue_template": DEFAULT_TEMPLATE} if "default" in request.POST else {}
    return request.POST.dict() | {"own_files": "own_files" in request.POST} | default


def _offer_repositories(
    request: MemberRequest, form: IntegrationForm, mine: Integration
) -> int | None:
    """Fill the choices of the form with the repositories that this person may choose.

    Until one is chosen, bad news is told there by default only if all of them are private.

    Returns the number of the next page of the list, the first after the last; None if there is only one.
    """
    asked = request.POST.get("page", "")
    page = int(asked) if asked.isdecimal() and len(asked) < 5 else 1
    names, other_page = {(form.data or form.initial).get("repository", "")}, None
    try:
        found = configuration.repositories(request.membership, page=max(page, 1))
    except ApiError as error:
        if not mine.is_cut_off():  # which the page says anyway
            said = f"The list of repositories could not be loaded. {error.detail}"
            messages.warning(request, said)
    else:
        names.update(each.full_name for each in found.repositories)
        if mine.repository_id is None and "alerts" not in request.POST:
            is_private = all(each.is_private for each in found.repositories)
            form.initial["alerts"] = "yes" if is_private else "no"
            form.initial.update(as_shown.marks({values.ALERTS: is_private}))
        other_page = found.following or (1 if page > 1 else None)
    offered = [(name, name) for name in sorted(names - {""}, key=str.lower)]
    form.fields["repository"].widget.choices = [("", "Choose…"), *offered]
    form.fields["repository"].help_text = format_html(
        'Not in the list? <a href="{}">Give the app access to it on GitHub</a>.',
        mine.installation.configure_url,
    )
    if len(offered) == 1 and not other_page:
        form.initial["repository"] = offered[0][0]  # the only choice
    return other_page


def _only_choice(form: IntegrationForm) -> str:
    """The repository if no other can be chosen; otherwise its name would be wrong once another is."""
    names = [name for name, _ in form.fields["repository"].widget.choices if name]
    return names[0] if len(names) == 1 else ""


def _preview(request: MemberRequest, form: IntegrationForm) -> dict[str, Any]:
    """The previews of what is in the form, and what is left out; or the reason why it is refused."""
    template = form["issue_template"].value() or ""
    repository = form["repository"].value() or ""
    organization = request.membership.organization
    mine = integration_of(organization)
    try:
        counted.check(request.membership, PREVIEWS, "previews", what="previews")
        template = configuration.checked_template(template)
    except ApiError as error:
        return {"refused": str(error.detail)}
    made = previews.previews(template, organization)
    shown = {each.name: each._replace(gets=form.dressing_of(each.kind).lines) for each in made}
    open_one = request.POST.get("shown", "")
    return {
        "previews": shown.values(),
        "shown": open_one if open_one in shown else next(iter(shown)),
        "left_out": [*previews.left_out(template), *mentions.notices(template, repository, mine)],
        "app": settings.HUB_GITHUB_APP_SLUG,
        "repository": repository,
    }
