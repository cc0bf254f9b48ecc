# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""What MkDocs needs to show files that are written to be read without it.

README.md, CONTRIBUTING.md, CHANGELOG.md and SECURITY.md stand outside of docs/, where people expect them:
they become pages. Links between them and docs/ are bent to that, and the second word of
a fence (which tells the tests what an example needs) is left out.
"""

import os
import re

from mkdocs.structure.files import File

OUTSIDE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
    "SECURITY.md": "report.md",
}
LINK = re.compile(r"\]\(([^)\s#:]+)")
FENCE = re.compile(r"^(```\w+) \w+$", re.MULTILINE)


def on_files(files, config):
    root = os.path.dirname(config.config_file_path)
    for name, page in OUTSIDE.items():
        with open(os.path.join(root, name), encoding="utf-8") as file:
            files.append(File.generated(config, page, content=file.read()))
    return files


def on_page_markdown(markdown, page, **_):
    """The links of a page, which are relative to its place in the repository, relative to docs/."""
    source = {page: name for name, page in OUTSIDE.items()}.get(page.file.src_uri)
    folder = "" if source else os.path.join("docs", os.path.dirname(page.file.src_uri))

    def bend(match):
        in_repository = os.path.normpath(os.path.join(folder, match.group(1)))
        in_docs = OUTSIDE.get(in_repository) or os.path.relpath(in_repository, "docs")
        return "](" + os.path.relpath(in_docs, os.path.dirname(page.file.src_uri) or ".")

    return FENCE.sub(r"\1", LINK.sub(bend, markdown))
