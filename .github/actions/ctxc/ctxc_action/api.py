"""GitHub's REST interface, as far as the action needs it. Every answer is a status and a value, never an exception."""

from __future__ import annotations

import json
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

TIMEOUT = 30  # seconds
_ANSWER_LIMIT = 16 * 1024 * 1024  # bytes; a page of 100 comments has at most a few

MAY_NOT = frozenset({401, 403, 404})
"""What GitHub answers where a token may not do something; 404 where not even its existence is shown."""


class _Stay(HTTPRedirectHandler):
    """A redirect would carry the token to wherever it leads."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class Api:
    """One server and one token. ``url`` is GITHUB_API_URL, which an enterprise server sets to its own."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url.rstrip("/")
        self._token = token
        self._opener = build_opener(_Stay)

    def call(self, method: str, path: str, value: object = None) -> tuple[int, Any]:
        """The status with the JSON of the answer; 0 where there was none, None where it is not JSON."""
        if not self._url.startswith(("https://", "http://")):
            return 0, None
        data = None if value is None else json.dumps(value).encode()
        headers = {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {self._token}",
            "Content-Type": "application/json",
            "User-Agent": "ctxc-gate",
            "X-GitHub-Api-Version": "2022-11-28",
        }
        request = Request(self._url + path, data=data, headers=headers, method=method)
        try:
            with self._opener.open(request, timeout=TIMEOUT) as answer:
                return answer.status, _value(answer.read(_ANSWER_LIMIT))
        except HTTPError as error:
            with error:
                return error.code, None
        except (URLError, OSError, ValueError):
            return 0, None


def _value(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return None


def told(status: int) -> str:
    """A status in words of ours."""
    return "GitHub did not answer" if status == 0 else f"GitHub answered {status}"
