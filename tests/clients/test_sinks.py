"""Each place where a client reaches out of itself is in this table, with what it asks for first.

Who adds one (a connection, a program, a file, a variable, a line for people) finds it missing here, and
either passes it through a row that is there, or says what it asks for, in both packages, and which tests
hold that.
"""

from typing import NamedTuple

from tests.clients import sinks
from tests.clients.conftest import CLIENTS, HERE


class Row(NamedTuple):
    """Places of Python and of Node, what they ask for first, and the files of tests that hold it."""

    python: set[str]
    node: set[str]
    asks: str
    held: set[str]


TABLE = {
    "looks a name up": Row(
        {"web._addresses"},
        {"look_up.SCRIPT", "look_up.ask", "look_up.askHere"},
        "the text has no secret, the address reads as public; given up in time, in a process in Node",
        {"test_address", "test_silent_names", "test_mcp_look_up"},
    ),
    "connects and sends": Row(
        {"web._connected", "web._Attempt._open", "web._HTTPConnection.connect"},
        {"web.send", "web.sendBy", "proxy.connectThrough", "proxy.tunnel"},
        "to a Hub that the person names, or by https to the public address that was checked; a Hub's redirects "
        "are not followed; time, size, interim responses and addresses are bounded; not once it was stopped",
        {"test_pinning", "test_giving_up", "test_transport", "test_mcp_cancel"},
    ),
    "goes through a proxy": Row(
        {"web._goes_through_a_proxy"},
        {"proxy.variable"},
        "of the environment, not of a request; not for this machine; no password without TLS to one of TLS",
        {"test_transport", "test_cli"},
    ),
    "starts git": Row(
        {"git.ask", "git._kill"},
        {"git.started", "git.kill"},
        "found in a whole path; nobody's words in a shell; no network, and no program of the repository; "
        "memory, time and output are bounded",
        {"test_checkout"},
    ),
    "starts a browser": Row(
        {"terminal._opened", "terminal.open_browser", "terminal._opener"},
        {"terminal.openBrowser", "terminal.opener"},
        "a person sits there; the address is on the Hub's origin; by a whole path, without a shell",
        {"test_sign_in"},
    ),
    "hands its environment on to a program": Row(
        {"programs.environment"},
        {"programs.environment"},
        "without the token",
        {"test_checkout", "test_sign_in"},
    ),
    "finds a program": Row(
        {"programs.find"},
        {"programs.find"},
        "only folders of PATH with a whole path",
        {"test_mcp_consent", "test_sign_in"},
    ),
    "reads a file that a person names, or of a repository": Row(
        {"files._content", "files._look", "files._open_no_link", "roots._starts_with"},
        {"files.contentOf", "files.look", "roots.startsWith"},
        "no device; 1 MiB; what was found is in the repository, behind nobody else's link",
        {"test_files", "test_init"},
    ),
    "changes such a file": Row(
        {"files.write", "files._hand_over", "files.replace", "files.remove"},
        {"files.write", "files.handOver", "files.replace", "files.remove"},
        "completely or not at all, by a new draft beside it, which is open to no more people; not a read-only one",
        {"test_files", "test_init"},
    ),
    "reads and writes settings, sign-ins and the cache": Row(
        {
            "private_files._read",
            "private_files._open_at_once",
            "private_files._made",
            "private_files._make_folder",
            "private_files._take_away",
            "private_files.remove",
            "config._write",
        },
        {
            "private_files.readIf",
            "private_files.made",
            "private_files.ageOf",
            "private_files.makeFolder",
            "private_files.release",
            "private_files.remove",
            "private_files.takeAway",
            "config.write",
        },
        "no other user chooses where; 0600 in 0700; under a lock, but for the cache; what names who is sent "
        "something is cached only if its host was public",
        {"test_config_file", "test_sign_in", "test_discovery"},
    ),
    "reads its own files": Row(
        {"contract.text"},
        {"contract.text", "version.VERSION"},
        "by names of ours",
        {"test_packages"},
    ),
    "writes for people": Row(
        {
            "terminal.write",
            "terminal.ask",
            "terminal.Progress._write",
            "terminal.Progress.clear",
            "cli.run",
            "mcp.__main__.main",
            "mcp.__main__._end",
        },
        {
            "terminal.write",
            "terminal.writeNow",
            "terminal.ask",
            "terminal.showProgress",
            "terminal.clearProgress",
            "terminal.endLine",
            "terminal.forget",
        },
        "no character that steers a terminal; others' words in quotes, cut; a failed write ends the command",
        {"test_outcomes", "test_questions", "test_cli"},
    ),
    "reads the environment": Row(
        {
            "checkout._roots",
            "config._notes",
            "settings._folder",
            "settings.code_host",
            "settings.environment_token",
            "settings.home",
            "settings.hub_url",
            "settings.refuse_token_of_another",
            "settings.timeout",
            "terminal.is_attended",
            "mcp.consent.preapproved",
            "mcp.tool.refuse_where_disabled",
        },
        {
            "checkout.rootsOf",
            "config.notesOn",
            "settings.codeHost",
            "settings.environmentToken",
            "settings.folder",
            "settings.hubUrl",
            "settings.refuseTokenOfAnother",
            "settings.timeout",
            "terminal.isAttended",
        },
        "a token goes to the Hub that it belongs to; folders are whole paths; no file of the current folder is read",
        {"test_sdk", "test_reference", "test_mcp_reference"},
    ),
}


def test_every_place_of_the_python_client_and_of_the_mcp_server_is_in_the_table():
    server = sinks.of_python(CLIENTS / "mcp" / "src" / "docfeedback_mcp")

    found = sinks.of_python(CLIENTS / "python" / "src" / "docfeedback")
    found |= {f"mcp.{place}" for place in server}

    assert found == set().union(*(row.python for row in TABLE.values()))


def test_every_place_of_the_node_client_is_in_the_table():
    found = sinks.of_node(CLIENTS / "node" / "src")

    assert found == set().union(*(row.node for row in TABLE.values()))


def test_the_tests_that_hold_what_is_asked_for_are_there():
    held = set().union(*(row.held for row in TABLE.values()))

    assert held <= {path.stem for path in HERE.glob("test_*.py")}
