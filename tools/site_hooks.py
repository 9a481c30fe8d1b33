"""What mkdocs does to each page before it becomes HTML (see mkdocs.yml)."""

import re


def on_page_markdown(markdown, **_):
    r"""In tables GitHub needs `a\|b` where Python-Markdown shows the backslash: take it away inside of code."""

    def without_backslashes(code):
        return code.group(0).replace(r"\|", "|")

    return re.sub(r"(?m)^\|.*$", lambda row: re.sub(r"`[^`]*`", without_backslashes, row.group(0)), markdown)
