"""Writes the Swift blocks of documentation comments as files, which are compiled beside Prelude.swift and Comments.swift.

    comments.py OUTPUT-FOLDER SOURCE...

A block is the body of a function of `Screen`, whose `self` it may use. A block that consists of types is a namespace of its own, and a block with an
extension is a file. A block that cannot be compiled, such as code for another platform, is in the list `comments-not-compiled`: its file, and its first line.
"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
FENCE = re.compile(r"^( *)```swift$")
ATTRIBUTES = r"(@\w+(\([^)]*\))? +)*((public|private|fileprivate|final|nonisolated) +)*"
TYPE = re.compile(rf"^{ATTRIBUTES}(struct|class|actor|enum|protocol) ")
EXTENSION = re.compile(rf"^{ATTRIBUTES}extension ")


def blocks(path):
    """The blocks of a file: the number of the first line, and the lines."""
    found, block = [], None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        comment = re.match(r"^ *///(?: |$)(.*)", line)
        if not comment:
            block = None
            continue
        text = comment.group(1)
        fence = FENCE.match(text)
        if block is None and fence:
            block = (number + 1, [], len(fence.group(1)))
        elif block is not None and text.strip() == "```":
            found.append((block[0], block[1]))
            block = None
        elif block is not None:
            block[1].append(text[block[2]:])
    return found


def extensions(code):
    """The lines of the extensions at the top level, and the other lines; both with empty lines in place of the others."""
    inside, outside, is_open = [], [], False
    for line in code:
        is_extension = is_open or bool(EXTENSION.match(line))
        inside.append(line if is_extension else "")
        outside.append("" if is_extension else line)
        if is_extension:
            is_open = not (line.rstrip() == "}" or (not is_open and line.count("{") == line.count("}")))
    return inside, outside


def wrapped(number, code, place):
    """The text of the file for a block."""
    imports = "".join(f"{line}\n" for line in code if line.startswith("import "))
    inside, code = extensions(["" if line.startswith("import ") else line for line in code])
    statements = [line for line in code if line and not re.match(r"[ })/.]", line)]
    # An attribute may have a line of its own.
    heads = [line for line in statements if not re.fullmatch(r"@\w+(\(.*\))?", line)]
    text = imports + (place + "\n".join(inside) + "\n" if any(inside) else "")
    body = place + "\n".join(code) + "\n"
    if not any(line.strip() for line in code):
        return text
    if any(re.match(r"(@MainActor )?@(Test|Suite)", line) for line in statements):
        return f"{text}struct Comment{number} {{\n{body}}}\n"
    if heads and all(TYPE.match(line) for line in heads):
        return f"{text}enum Comment{number} {{\n{body}}}\n"
    return f"{text}extension Screen {{ func comment{number}() async throws {{\n{body}}} }}\n"


def main():
    output, sources = Path(sys.argv[1]), [Path(source) for source in sys.argv[2:]]
    output.mkdir(parents=True, exist_ok=True)
    lines = (HERE / "comments-not-compiled").read_text().splitlines()
    excluded = {line for line in lines if line and not line.startswith("#")}
    modules = "".join(f"import {name}\n" for name in (HERE / "Comments.swift").read_text().split()
                      if name.startswith("TaskControl") and name.isalpha())
    used, count = set(), 0
    for source in sources:
        for first, code in blocks(source):
            key = f"{source}: {code[0].strip()}"
            if key in excluded:
                used.add(key)
                continue
            count += 1
            # Also the module of the file, which not all of them import.
            own = f"import {source.parts[1]}\n" if source.parts[0] == "Sources" else ""
            head = f"{own}import Foundation\nimport Observation\nimport Testing\n{modules}"
            place = f'#sourceLocation(file: "{source}", line: {first})\n'
            (output / f"Comment{count}.swift").write_text(head + wrapped(count, code, place))
    if stale := excluded - used:
        sys.exit("there is no such block:\n" + "\n".join(sorted(stale)))
    print(f"{count} blocks of documentation comments, and {len(excluded)} that are not compiled")


main()
