"""The maintainers' API: what a page's owner tells those who report a problem."""

from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from core.json_body import Text
from integrations.answers import saying
from integrations.api import acts, as_json
from integrations.models.answer import LONGEST
from orgs.api.authentication import MaintainerView
from orgs.api.request_body import InvalidRequest, StrictBody, read


class AnswerBody(StrictBody):
    """A text, and a link to more."""

    text: Text = Field(min_length=1, max_length=LONGEST)
    link: Text | None = Field(None, max_length=saying.LONGEST_LINK)


class OneAnswer(MaintainerView):
    """`/v1/orgs/me/reports/<id>/answer`: answer all who report the problem, or no longer."""

    def put(self, request: Request, report_id: str) -> Response:
        """Answer, in place of an earlier answer."""
        body = read(AnswerBody, request)
        delivery = acts.find(self.membership, report_id).delivery
        try:
            answer = saying.say(self.membership, delivery, body.text, body.link or "")
        except saying.InvalidAnswer as error:
            faults = [{"path": f"/{name}", "message": each} for name, each in error.faults.items()]
            raise InvalidRequest(details=faults) from None
        return Response(as_json.answer(answer))

    def delete(self, request: Request, report_id: str) -> Response:
        saying.remove(acts.find(self.membership, report_id).delivery)
        return Response(status=204)
