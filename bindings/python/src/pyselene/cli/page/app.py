"""The application behind a page: who may ask for what, and what is answered."""

from __future__ import annotations

import hmac
import json
import threading
import time
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ... import OwnerAway, Refused, SeleneError
from .board import Board, Unanswered
from .prometheus import CONTENT_TYPE

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOKEN_HEADER: Final = "x-selene-token"

_KEEP: Final = 0.5
"""Seconds for which an answer is the same for all who ask, so that many readers cost as one."""

_LONGEST: Final = 4096
"""Bytes of a request that changes something: an id has at most 255."""

_READ: Final = 1_048_576
"""Bytes after which a request that is too long is not read on."""

_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
    " img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

_KEPT: Final = 64
"""So many different answers are kept at most."""

_ASSETS: Final = {
    "/report.css": ("report/report.css", "text/css; charset=utf-8"),
    "/page.css": ("page/page.css", "text/css; charset=utf-8"),
    "/live.js": ("page/live.js", "text/javascript; charset=utf-8"),
    "/moon.svg": ("page/moon.svg", "image/svg+xml"),
}


class Guard:
    """Lets only requests through that this page's own reader made, whatever other pages or names make a browser do.

    A name that is pointed here by others (DNS rebinding) is not among `hosts`; another page's request has its origin.

    What is refused is read first: a connection that is closed with something unread is reset, and who sent it would see
    that rather than the answer.
    """

    def __init__(self, app: ASGIApp, hosts: frozenset[str]) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        if scope["type"] != "http":
            raise RuntimeError(f"allowed are requests of HTTP, not of {scope['type']}")

        async def with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                more = [(name.encode(), text.encode()) for name, text in _HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        request = Request(scope, receive)
        try:
            body = await _body(request)
        except ClientDisconnect:
            return
        wrong = self._wrong(request) or ((413, "too long") if len(body) > _LONGEST else None)
        if wrong is None:
            await self._app(scope, _again(body, receive), with_headers)
        else:
            await _refused(wrong[1], wrong[0])(scope, receive, with_headers)

    def _wrong(self, request: Request) -> tuple[int, str] | None:
        host = request.headers.getlist("host")
        if len(host) != 1 or host[0].lower() not in self._hosts:
            return 421, "not a name of this server"
        origin = request.headers.get("origin")
        if origin is not None and origin.lower() not in {f"http://{name}" for name in self._hosts}:
            return 403, "another page's request"
        if request.headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return 403, "another page's request"
        return None


async def _body(request: Request) -> bytes:
    """What came with a request; of one that is too long, its begin, longer than is allowed."""
    body, read = b"", 0
    async for piece in request.stream():
        read += len(piece)
        if len(body) <= _LONGEST:
            body += piece
        if read > _READ:
            break
    return body


def _again(body: bytes, receive: Receive) -> Receive:
    """Gives a body that was read, and then what else comes."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return messages.pop() if messages else await receive()

    return receive_again


def _refused(why: str, status: int) -> JSONResponse:
    return JSONResponse({"error": why}, status)


class Page:
    """What is asked of a board; calls are made one after another, on threads."""

    def __init__(self, board: Board, token: str) -> None:
        self._board = board
        self._token = token.encode()
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[float, bytes]] = {}

    def may_change(self, request: Request) -> bool:
        """Whether the request has the token; how long that takes says nothing about it."""
        given = request.headers.get(TOKEN_HEADER, "").encode()
        return bool(self._token) and hmac.compare_digest(given, self._token)

    def kept(self, name: str, make: Callable[[], bytes]) -> bytes:
        """What was made a moment ago, or anew."""
        with self._lock:
            at, found = self._kept.get(name, (float("-inf"), b""))
            if time.monotonic() - at >= _KEEP:
                found = make()
                if len(self._kept) >= _KEPT:
                    self._kept.clear()
                self._kept[name] = (time.monotonic(), found)
            return found

    def forget(self) -> None:
        """What was made is not true any more."""
        with self._lock:
            self._kept.clear()

    def assets(self) -> list[Route]:
        """The files of the page."""
        own = self._board.name

        async def shell(_: Request) -> Response:
            text = _file("page/page.html").decode().replace("{{main}}", _file(f"page/{own}.html").decode().strip())
            return Response(text.replace("{{script}}", f"/{own}.js"), media_type="text/html; charset=utf-8")

        def route(path: str, name: str, kind: str) -> Route:
            async def asset(_: Request) -> Response:
                return Response(_file(name), media_type=kind)

            return Route(path, asset)

        script = {f"/{own}.js": (f"page/{own}.js", "text/javascript; charset=utf-8")}
        return [Route("/", shell), *(route(path, *file) for path, file in (_ASSETS | script).items())]

    async def state(self, request: Request) -> Response:
        """Everything that is shown."""
        asked = dict(request.query_params)
        body = await run_in_threadpool(
            self.kept, f"state {request.url.query}", lambda: json.dumps(self._board.state(asked)).encode()
        )
        return Response(
            body,
            media_type="application/json",
            headers={"X-Selene-May-Change": "yes" if self.may_change(request) else "no"},
        )

    async def task(self, request: Request) -> Response:
        """One task's part."""
        name = request.query_params.get("id", "")
        return JSONResponse(await run_in_threadpool(self._board.detail, name))

    async def metrics(self, _: Request) -> Response:
        """For Prometheus."""
        body = await run_in_threadpool(self.kept, "metrics", lambda: self._board.metrics().encode())
        return Response(body, headers={"Content-Type": CONTENT_TYPE})

    async def change(self, request: Request, verb: str) -> Response:
        """Does something with a task, for who has the token."""
        if not self.may_change(request):
            return _refused("the token is needed for that", 401)
        try:
            name = json.loads(await request.body())["id"]
        except (ValueError, TypeError, KeyError, RecursionError):
            name = None
        if not isinstance(name, str):
            return _refused('allowed is {"id": "…"}', 400)
        try:
            done = await run_in_threadpool(self._board.changes[verb], name)
        finally:
            # Also what was refused may have happened, where the answer was lost.
            self.forget()
        return JSONResponse({"done": done})


def _file(name: str) -> bytes:
    return files("pyselene.cli").joinpath(name).read_bytes()


async def _wrong(_: Request, error: Exception) -> Response:
    """What is refused, by the words of who refuses it."""
    status = (
        error.status if isinstance(error, Unanswered)
        else 503 if isinstance(error, OwnerAway)
        else 403 if isinstance(error, Refused)
        else 404 if isinstance(error, LookupError)
        else 400
    )  # fmt: skip
    return _refused(str(error), status)


def application(board: Board, token: str, hosts: frozenset[str]) -> ASGIApp:
    """The page of a board; `hosts` are the names, with their port, by which it may be asked for."""
    page = Page(board, token)

    def verb(name: str) -> Callable[[Request], Awaitable[Response]]:
        async def change(request: Request) -> Response:
            return await page.change(request, name)

        return change

    routes = page.assets()
    routes += [Route("/state.json", page.state), Route("/task.json", page.task), Route("/metrics", page.metrics)]
    routes += [Route(f"/{name}", verb(name), methods=["POST"]) for name in board.changes]
    handlers: Any = {SeleneError: _wrong, ValueError: _wrong, Unanswered: _wrong}
    return Guard(Starlette(routes=routes, exception_handlers=handlers), hosts)
