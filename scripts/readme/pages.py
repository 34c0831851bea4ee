"""The fenced blocks of Markdown pages, and the marks before them: `<!-- MARK -->` on a line of its own."""

import re
from typing import NamedTuple


class Block(NamedTuple):
    path: str
    line: int
    mark: str
    language: str
    lines: list


def blocks_of(path):
    """The blocks of a page; `line` is the number of the first line within the block."""
    found, block, mark = [], None, ""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("```"):
            if block:
                found.append(block)
                block, mark = None, ""
            else:
                block = Block(str(path), number + 1, mark, line.removeprefix("```").strip(), [])
        elif block:
            block.lines.append(line)
        elif comment := re.fullmatch("<!-- (.*) -->", line):
            mark = comment[1]
    if block or re.match("not compiled:|from |typed|printed|file: |compiled for|refused for", mark):
        raise SystemExit(f"{path}: a block is missing, or not closed: {mark}")
    return found
