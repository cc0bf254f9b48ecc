# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The page as files: what is sent, packed and kept. tests/web looks at it in a browser."""

import gzip
import os
import re

import pytest
from support import built

BUILT = os.path.join(built.SOURCE, "web", "built")


@pytest.fixture
def daemon(daemons):
    return daemons()


def files():
    for folder, _, names in os.walk(BUILT):
        for name in names:
            if name not in ("MANIFEST", "report.html"):  # `ttmem report` fills that in; no daemon sends it
                yield "/" + os.path.relpath(os.path.join(folder, name), BUILT)


def content(path):
    with open(BUILT + path, "rb") as file:
        return file.read()


def test_every_file_of_the_page_packed_and_plain(daemon):
    assert len(list(files())) >= 3
    for path in files():
        code, headers, body = daemon.ask(path, headers={"Accept-Encoding": "br, gzip"})
        assert code == 200 and headers["Content-Encoding"] == "gzip", path
        assert gzip.decompress(body) == content(path)
        for accepted in ("identity", "gzip;q=0, br", ""):
            code, headers, body = daemon.ask(path, headers={"Accept-Encoding": accepted})
            assert code == 200 and "Content-Encoding" not in headers
            assert body == content(path) and headers["Vary"] == "Accept-Encoding"


def test_what_is_named_by_its_content_is_kept_and_the_rest_asked_for_again(daemon):
    for path in files():
        _, headers, _ = daemon.ask(path)
        kept = "immutable" in headers["Cache-Control"]
        assert kept == path.startswith("/assets/") and (kept or headers["Cache-Control"] == "no-cache")
        tag = headers["ETag"]
        code, headers, body = daemon.ask(path, headers={"If-None-Match": tag})
        assert (code, body, headers["ETag"]) == (304, b"", tag)
        assert daemon.ask(path, headers={"If-None-Match": '"other"'})[0] == 200


def test_types(daemon):
    ends = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
            ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
    for path in files():
        expected = ends.get(os.path.splitext(path)[1])
        if expected:
            assert daemon.ask(path)[1]["Content-Type"] == expected


def test_every_view_has_the_page_and_nothing_else_has(daemon):
    for path in ("/", "/index.html", "/d/0/c/3,4", "/p/12-34?sort=dram", "/t", "/no-such-view",
                 "/jobs/rack%2F31.0", "/jobs/train.v2"):
        code, headers, body = daemon.ask(path)
        assert code == 200 and headers["Content-Type"].startswith("text/html"), path
        assert body == content("/index.html")
    for path in ("/nothing.js", "/assets/nothing.css", "/api/v1/nothing", "/api/nothing",
                 "/../index.html"):
        assert daemon.ask(path)[0] == 404, path


def test_the_page_runs_no_script_of_its_own_text_and_asks_nobody_else(daemon):
    text = daemon.ask("/")[2].decode()
    for script in re.findall(r"<script[^>]*>(.*?)</script>", text, re.DOTALL):
        assert script.strip() == ""
    assert " style=" not in text and " onload" not in text
    for url in re.findall(r'(?:src|href)="([^"]*)"', text):
        assert url.startswith("/") and not url.startswith("//"), url
        assert daemon.ask(url)[0] == 200, url
