"""Integer literals that watches can't hold.

`Int` has 32 bits on those of watchOS 9 to 11 (arm64_32), and 64 in the modules that are here.
"""

import re

LITERAL = re.compile(r"^  (%\d+) = integer_literal \$Builtin\.Int64, (-?\d+)")
STRUCT = re.compile(r"^  %\d+ = struct \$(Int|UInt) \((%\d+)\)")
PLACE = re.compile(r'loc (?:\* )?"([^"]+)":(\d+):(\d+)')
# The values that `Int.max` and its like are folded into; there they have 32 bits too.
BOUNDS = {"Int": (2**63 - 1, -(2**63)), "UInt": (2**64 - 1,)}
RANGES = {"Int": range(-(2**31), 2**31), "UInt": range(2**32)}


def wide_literals(sil):
    """Reads a module as canonical SIL with locations; returns the errors as the compiler would write them."""
    errors, literals = set(), {}
    for line in sil:
        if line.startswith("sil "):
            literals = {}
        elif literal := LITERAL.match(line):
            # As an unsigned number it is printed as a signed one.
            value = int(literal[2])
            if value not in RANGES["Int"]:
                literals[literal[1]] = value
        elif literals and (struct := STRUCT.match(line)) and struct[2] in literals:
            value = literals[struct[2]]
            value = value % 2**64 if struct[1] == "UInt" else value
            place = PLACE.search(line)
            if value not in RANGES[struct[1]] and value not in BOUNDS[struct[1]] and place:
                errors.add(f"{place[1]}:{place[2]}:{place[3]}: error: "
                           f"integer literal '{value}' overflows when stored into '{struct[1]}' of 32 bits")
    return sorted(errors)
