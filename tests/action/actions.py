"""The action as a runner plays it: its own ``action.yml``, step by step, with a GitHub of the test's own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import yaml
from shell import clean_environment

ROOT = Path(__file__).resolve().parents[2]
ACTION = ROOT / ".github/actions/ctxc"
BOT = {"login": "github-actions[bot]", "type": "Bot"}
TOKEN = "a-token-of-the-test"


def action() -> dict[str, Any]:
    """The file as YAML reads it."""
    found = yaml.safe_load((ACTION / "action.yml").read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


@dataclass
class Github:
    """What the server knows and was asked. ``answer`` overrides a method's status."""

    comments: list[dict[str, Any]] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    sent: list[Any] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)
    answer: dict[str, int] = field(default_factory=dict)
    url: str = ""

    def writes(self) -> list[tuple[str, str]]:
        """Requests that change something."""
        return [a for a in self.asked if a[0] != "GET"]


@contextmanager
def github() -> Iterator[Github]:
    """A server on this machine that knows comments and code scanning."""
    state = Github()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.handle_call("GET")

        def do_POST(self) -> None:
            self.handle_call("POST")

        def do_PATCH(self) -> None:
            self.handle_call("PATCH")

        def handle_call(self, method: str) -> None:
            path = urlsplit(self.path)
            state.asked.append((method, self.path))
            state.tokens.add(self.headers["Authorization"])
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            value = json.loads(body) if body else None
            if value is not None:
                state.sent.append(value)
            if method in state.answer:
                self.reply(state.answer[method], {"message": "Resource not accessible by integration"})
            elif method == "GET":
                asked = parse_qs(path.query)
                page, size = int(asked["page"][0]), int(asked["per_page"][0])
                self.reply(200, state.comments[(page - 1) * size : page * size])
            elif path.path.endswith("/sarifs"):
                self.reply(202, {"id": "1"})
            elif method == "POST":
                state.comments.append({"id": 900 + len(state.comments), "user": BOT, "body": value["body"]})
                self.reply(201, state.comments[-1])
            else:
                number = int(path.path.rpartition("/")[2])
                found = next(c for c in state.comments if c["id"] == number)
                found["body"] = value["body"]
                self.reply(200, found)

        def reply(self, status: int, value: object) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            if status in (301, 302, 307):
                self.send_header("Location", state.url + "/elsewhere")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()


@dataclass
class Played:
    """What a use of the action left: outputs, the summary, the log, and each step's status in the order they ran."""

    outputs: dict[str, str]
    summary: str
    log: str
    steps: dict[str, int]

    @property
    def status(self) -> int:
        """Zero where no step failed, as of a job."""
        return next((s for s in self.steps.values() if s), 0)


class Job:
    """A job whose checkout is ``checkout``. Steps with ``uses:`` are left out; ``install`` gives this Python."""

    def __init__(self, checkout: Path, temporary: Path, **environment: str) -> None:
        self.checkout = checkout
        self.temporary = temporary
        temporary.mkdir(parents=True, exist_ok=True)
        self.environment = {k: v for k, v in clean_environment().items() if not k.startswith("PYTHON")}
        self.environment |= {
            "CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_WORKFLOW": "context", "GITHUB_JOB": "gate",
            "GITHUB_REPOSITORY": "ada/desk", "RUNNER_TEMP": str(temporary), "GITHUB_ACTION_PATH": str(ACTION),
            "no_proxy": "127.0.0.1",
        }  # fmt: skip
        self.environment |= environment

    def event(self, name: str, value: Mapping[str, Any], **environment: str) -> None:
        """The event that started the workflow."""
        place = self.temporary / "event.json"
        place.write_text(json.dumps(value), encoding="utf-8")
        self.environment |= {"GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": str(place), **environment}

    def play(self, *, installed: bool = True, **given: str) -> Played:
        """Run the action. An input is written with underscores: ``fail_on``."""
        what = action()
        inputs = {name: str(one.get("default", "")) for name, one in what["inputs"].items()}
        for name, value in given.items():
            assert name.replace("_", "-") in inputs, name
            inputs[name.replace("_", "-")] = value
        inputs["token"] = TOKEN if inputs["token"] == "${{ github.token }}" else inputs["token"]
        outputs: dict[str, dict[str, str]] = {"install": {"python": sys.executable}} if installed else {}
        played = Played(outputs={}, summary="", log="", steps={})
        for number, step in enumerate(what["runs"]["steps"]):
            name = step.get("id", step["name"])
            # Without a word about it, a step runs only while none before it has failed.
            condition = str(step.get("if", "success()"))
            if "cancelled()" not in condition:
                condition = f"success() && ({condition})"
            if not evaluated(condition, inputs, outputs, played.status == 0):
                continue
            if "uses" in step:
                continue
            if name == "install":
                played.steps[name] = 0 if installed else 1
                continue
            played.steps[name] = self._step(step, f"{number}", inputs, outputs, played)
        for name, one in what["outputs"].items():
            played.outputs[name] = expanded(one["value"], inputs, outputs)
        return played

    def _step(
        self, step: Mapping[str, Any], number: str, inputs: Mapping[str, str], outputs: dict[str, dict[str, str]],
        played: Played,
    ) -> int:  # fmt: skip
        assert step["shell"] == "bash"
        files = {n: self.temporary / f"{n}-{number}" for n in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for file in files.values():
            file.write_bytes(b"")
        environment = {**self.environment, **{n: str(f) for n, f in files.items()}}
        environment |= {n: expanded(str(v), inputs, outputs) for n, v in step.get("env", {}).items()}
        # As the runner starts bash: https://docs.github.com/actions, "jobs.<job_id>.steps[*].shell"
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.checkout, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
        played.log += done.stdout.decode("utf-8")
        played.summary += files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8")
        lines = files["GITHUB_OUTPUT"].read_text(encoding="utf-8").splitlines()
        outputs[step.get("id", step["name"])] = dict(line.split("=", 1) for line in lines)
        return done.returncode


_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
_NAME = re.compile(r"'[^']*'|\b(?:inputs|steps|github)\.[\w.-]+")


def expanded(text: str, inputs: Mapping[str, str], outputs: Mapping[str, Mapping[str, str]]) -> str:
    """A text of the file with its expressions replaced."""
    return _EXPRESSION.sub(lambda m: str(evaluated(m[1], inputs, outputs) or ""), text)


def evaluated(
    text: str, inputs: Mapping[str, str], outputs: Mapping[str, Mapping[str, str]], success: bool = True
) -> object:
    """An expression as GitHub reads it, as far as the action uses them: names, texts, ``==``, ``!=``, ``&&``, ``||``."""
    text = _EXPRESSION.sub(lambda m: m[1], text)

    def value(found: re.Match[str]) -> str:
        name = found[0]
        if name.startswith("'"):
            return repr(name[1:-1])
        parts = name.split(".")
        if parts[0] == "inputs":
            return repr(inputs[parts[1]])
        if parts[0] == "github":
            return repr({"token": TOKEN}[parts[1]])
        assert parts[2] == "outputs"
        return repr(outputs.get(parts[1], {}).get(parts[3], ""))

    code = _NAME.sub(value, text).replace("&&", " and ").replace("||", " or ").replace("!cancelled()", "True")
    return eval(code.replace("success()", repr(success)), {"__builtins__": {}})
