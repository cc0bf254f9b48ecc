# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Who may ask: the Host and Origin headers, the token, and what answers tell a browser."""

import os
import socket

import pytest

from daemon import own_address, refused

TOKEN = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def daemon(daemons):
    return daemons()


def code(daemon, **headers):
    return daemon.ask("/healthz", headers={name.replace("_", "-"): value
                                           for name, value in headers.items()})[0]


def test_only_names_of_this_host(daemon):
    port = daemon.port
    for host in ("localhost", f"localhost:{port}", "LOCALHOST", "127.0.0.1", f"127.0.0.1:{port}",
                 "127.8.9.10", "[::1]", f"[::1]:{port}", socket.gethostname()):
        assert code(daemon, Host=host) == 200, host
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", "localhost.evil",
                 "128.0.0.1", "[::2]", "localhost@evil.example"):
        assert code(daemon, Host=host) == 421, host


def test_a_request_without_one_host(daemon):
    for hosts in ("", "Host:\r\n", "Host: localhost\r\nHost: evil.example\r\n"):
        answer = daemon.raw(f"GET /healthz HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n".encode())
        assert answer.startswith(b"HTTP/1.1 400 "), hosts


def test_only_pages_of_its_own(daemon):
    host = f"127.0.0.1:{daemon.port}"
    assert code(daemon, Host=host, Origin=f"http://{host}") == 200
    for origin in ("http://evil.example", "null", f"http://localhost:{daemon.port}",
                   f"http://{host}.evil.example", "http://127.0.0.1"):
        assert code(daemon, Host=host, Origin=origin) == 403, origin


def test_what_answers_tell_a_browser(daemon):
    for path in ("/", "/api", "/api/v1/snapshot", "/nothing.js", "/metrics"):
        _, headers, _ = daemon.ask(path)
        assert headers["Content-Security-Policy"].startswith("default-src 'self';")
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cache-Control"] == ("no-cache" if path == "/" else "no-store")
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert "Access-Control-Allow-Origin" not in headers


def test_two_origins_are_none_of_ours(daemons):
    daemon = daemons()
    own = f"Origin: http://127.0.0.1:{daemon.port}\r\n"
    for origins in (own + "Origin: http://evil.example\r\n", own + own):
        answer = daemon.raw(f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{daemon.port}\r\n{origins}"
                            "Connection: close\r\n\r\n".encode())
        assert answer.startswith(b"HTTP/1.1 403 "), answer


def test_every_answer_has_the_headers_that_protect(daemons):
    daemon = daemons()
    for request in (b"nonsense\r\n\r\n", b"GET /%zz HTTP/1.1\r\nHost: localhost\r\n\r\n",
                    b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 20_000 + b"\r\n\r\n"):
        head = daemon.raw(request).split(b"\r\n\r\n")[0]
        assert b"nosniff" in head and b"Content-Security-Policy" in head, head


def test_a_pipe_as_token_file_is_not_waited_for(folder):
    path = os.path.join(folder, "pipe")
    os.mkfifo(path, 0o600)
    code, said = refused(folder, "--token-file", path, "--allow-remote")
    assert code == 2 and "is not a regular file" in said


def token_file(folder, text=TOKEN, mode=0o600):
    path = os.path.join(folder, "token")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + "\n")
    os.chmod(path, mode)
    return path


def test_another_address_needs_both(folder):
    token = token_file(folder)
    for options in ([], ["--allow-remote"], ["--token-file", token]):
        ended, said = refused(folder, "--http", "0.0.0.0:0", *options)
        assert ended == 2 and "--allow-remote and --token-file" in said


def test_a_token_that_is_none(folder):
    remote = ["--http", "0.0.0.0:0", "--allow-remote", "--token-file"]
    ended, said = refused(folder, *remote, token_file(folder, "short"))
    assert ended == 2 and "too short" in said
    ended, said = refused(folder, *remote, token_file(folder, TOKEN, 0o644))
    assert ended == 2 and "chmod 600" in said
    ended, said = refused(folder, *remote, os.path.join(folder, "missing"))
    assert ended == 2 and "cannot be read" in said


def test_from_elsewhere_only_with_the_token(daemons, folder):
    address = own_address()
    if address is None or address.startswith("127."):
        pytest.skip("this machine has no other address than loopback ones")
    daemon = daemons("--allow-remote", "--token-file", token_file(folder), http=f"{address}:0")
    assert code(daemon) == 401
    assert code(daemon, Authorization="Bearer wrong") == 401
    assert code(daemon, Authorization=f"Bearer {TOKEN}x") == 401
    assert code(daemon, Authorization=f"Basic {TOKEN}") == 401
    assert code(daemon, Authorization=f"Bearer {TOKEN}") == 200
    assert code(daemon, Authorization=f"bearer {TOKEN}") == 200
    assert code(daemon, Authorization=f"Bearer {TOKEN}", Origin="http://evil.example") == 403
    assert daemon.ask("/healthz")[1]["WWW-Authenticate"] == "Bearer"
    # The page has no figures in it, and asks its user for the token; everything with figures needs it.
    for path in ("/", "/d/0", "/index.html", "/favicon.svg"):
        assert daemon.ask(path)[0] == 200, path
        assert daemon.ask(path, headers={"Origin": "http://evil.example"})[0] == 403
        assert daemon.ask(path, method="POST")[0] == 405
    for path in ("/api", "/api/", "/api/v1/snapshot", "/api/v1/events", "/metrics", "/nothing.js"):
        assert daemon.ask(path)[0] == 401, path
