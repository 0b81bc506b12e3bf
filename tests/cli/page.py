"""What a reader sees of a page."""

import re
from html import unescape


def command_on(page: str) -> str:
    """Return the command that makes the page again, as it is copied from there."""
    [found] = re.findall(r"<code>(<span>precall</span>.*?)</code>", page)
    return unescape(re.sub("</?span>", "", found))
