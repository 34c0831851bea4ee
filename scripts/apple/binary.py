"""What would end a process on the oldest systems, found in the LLVM IR and the SIL of a module: README.md says what, and why.

A finding is a pair: its kind, and a text.
"""

import bisect
import functools
import re
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent

# Functions of the runtime that the compiler itself puts into code, newer than macOS 13, by the version of Swift that has them. The compiler knows the
# version of most of them (RuntimeFunctions.def), and imports them weakly. Where it is wrong, nothing but this table knows.
EMITTED = {
    "swift_conformsToProtocol2": (5, 9), "swift_getOpaqueTypeConformance2": (5, 9), "swift_getOpaqueTypeMetadata2": (5, 9),
    "swift_getTypeByMangledNameInContext2": (5, 9), "swift_getTypeByMangledNameInContextInMetadataState2": (5, 9),
    "swift_taskGroup_initializeWithFlags": (5, 9), "swift_nonDefaultDistributedActor_initialize": (5, 9),
    "swift_getExtendedFunctionTypeMetadata": (6, 0), "swift_initRawStructMetadata": (6, 0),
    "swift_updatePureObjCClassMetadata": (6, 0), "swift_clearSensitive": (6, 0), "swift_task_deinitOnExecutor": (6, 1),
    "swift_coroFrameAlloc": (6, 2), "swift_getFixedArrayTypeMetadata": (6, 2), "swift_initRawStructMetadata2": (6, 2),
    "swift_task_addPriorityEscalationHandler": (6, 2), "swift_task_dealloc_through": (6, 2),
    "swift_task_removePriorityEscalationHandler": (6, 2), "swift_taskGroup_initializeWithOptions": (6, 2),
    "swift_task_cancellationShieldPop": (6, 4), "swift_task_cancellationShieldPush": (6, 4),
    "swift_task_hasActiveCancellationShield": (6, 4),
}
# Swift of the minimum of each system.
SWIFT = {"macOS": (5, 7), "iOS": (5, 7), "tvOS": (5, 7), "watchOS": (5, 7), "visionOS": (5, 9)}

RUNTIME = re.compile(r"_?swift_\w+")
NAME = r'@("[^"]*"|[-\w.$]+)'
FORCED = re.compile(r"_swift_FORCE_LOAD_")
DECLARATION = re.compile(rf"^declare (extern_weak )?[^\n]*?{NAME}\(", re.M)
VARIABLE = re.compile(rf"^{NAME} = (extern_weak|external) ", re.M)
FUNCTION = re.compile(rf"^define ([^\n]*?){NAME}\([^\n]*\{{\n", re.M)
LOCAL = r'%(?:"[^"]*"|[-\w.$]+)'
HIDDEN = re.compile(r"\b(?:internal|private|hidden)\b")
# Read by a mirror only.
REFLECTION = re.compile(r'section "[^"]*swift5_(?:fieldmd|capture|builtin|assocty)')
TYPE_REFERENCE = re.compile(r'section "[^"]*swift5_typeref')
RETAINED = re.compile(r"^@llvm\.(?:compiler\.)?used = ")


class Module:
    """LLVM IR as text, before the passes of LLVM, so that an asynchronous function is a single one."""

    def __init__(self, text, sil="", platform=None):
        self.text = text
        # Each with its place in the text, its name and its linkage.
        self.functions = [(match.end(), text.find("\n}", match.end()), unquoted(match[2]), match[1]) for match in FUNCTION.finditer(text)]
        self.starts = [function[0] for function in self.functions]
        declared = [(bool(match[1]), unquoted(match[2])) for match in DECLARATION.finditer(text)]
        self.weak = {name for is_weak, name in declared if is_weak and not FORCED.match(name)}
        self.strong = {name for is_weak, name in declared if not is_weak}
        self.strong |= {unquoted(match[1]) for match in VARIABLE.finditer(text) if match[2] == "external"}
        # Where a newer system is required, the compiler has refused uses without a test: in functions and types with @available.
        newer = functools.partial(is_newer, minimum=platform.minimum) if platform else None
        self.available = {name for version, name in re.findall(r"^sil [^@\n]*\[available ([\d.]+)\] [^@\n]*@(\S+) : [^\n]*\{$", sil, flags=re.M)
                          if newer(version)}
        types = re.findall(r"^ *@available\((.*)\)\n(?: *@.*\n)* *[^\n]*?\b(?:class|struct|enum|protocol|actor) (\w+)", sil, flags=re.M)
        types = {name for versions, name in types
                 if (version := re.search(rf"\b{platform.name} ([\d.]+)", versions)) and newer(version[1])}
        self.available_type = re.compile(rf"\b(?:{'|'.join(types)})\b") if types else None

    def is_available(self, name):
        return name in self.available or bool(self.available_type and self.available_type.search(demangled("-compact", name)))

    def untested(self):
        """The functions that call a weak function, although nothing shows that it is there."""
        findings = set()
        for symbol in sorted(self.weak - oldest_runtime()):
            findings |= {(symbol, place) for place in self.unsafe_uses(symbol, {symbol})}
        return findings

    def unsafe_uses(self, symbol, seen):
        """Where a symbol is used without a test, directly or through functions that nothing else calls."""
        found = set()
        for position in self.mentions(symbol):
            index = bisect.bisect(self.starts, position) - 1
            if index >= 0 and position < self.functions[index][1]:
                start, end, name, linkage = self.functions[index]
                body = self.text[start:end]
                line = body[body.rfind("\n", 0, position - start) + 1:].split("\n", 1)[0]
                if " icmp " in line or name == symbol or self.is_available(name) or is_default(symbol, name) or is_tested(body, position - start, symbol):
                    continue
                if not HIDDEN.search(linkage):
                    found.add(name)
            else:
                line = self.text[self.text.rfind("\n", 0, position) + 1:].split("\n", 1)[0]
                if line.startswith(("declare", "define", "!", ";")) or REFLECTION.search(line) or RETAINED.match(line):
                    continue
                name = unquoted(re.match(NAME, line)[1])
                if name == symbol or self.is_available(name):
                    continue
                # Whatever reads a table of functions calls them without a test. Not so the pointer to an asynchronous function.
                if not TYPE_REFERENCE.search(line) and name != symbol + "Tu":
                    found.add(f"{symbol}, through {name}")
                    continue
            if name not in seen and name not in found:
                seen.add(name)
                found |= self.unsafe_uses(name, seen)
        return found

    def mentions(self, symbol):
        for form in [f"@{symbol}", f'@"{symbol}"']:
            position = self.text.find(form)
            while position >= 0:
                following = self.text[position + len(form):position + len(form) + 1]
                if form.endswith('"') or not re.match(r"[-\w.$]", following):
                    yield position
                position = self.text.find(form, position + 1)


def is_default(symbol, name):
    """Whether a function is the witness of a requirement, and the symbol the implementation that it has by default. It is called by those who know the
    requirement: an older system does not.
    """
    requirement = re.sub(r"^.*\(extension in \w+\):", "", demangled("-compact", symbol)).split("(", 1)[0]
    return f"protocol witness for {requirement}(" in demangled("-compact", name)


def is_tested(body, position, symbol):
    """Whether each path to a position of a function leads over the right side of a branch that depends on a test of the version or of the symbol."""
    blocks, branches, lines, current, at, offset = {}, {}, [], "entry", None, 0
    for line in body.split("\n"):
        if label := re.match(r'("[^"]*"|[-\w.$]+):', line):
            current = label[1]
        if offset <= position:
            at = current
        offset += len(line) + 1
        successors = re.findall(r'label %("[^"]*"|[-\w.$]+)', line)
        blocks.setdefault(current, set()).update(successors)
        if branch := re.match(rf"  br i1 ({LOCAL}), ", line):
            branches[current] = (branch[1], *successors)
        elif value := re.match(rf"  ({LOCAL}) = (.*)", line):
            lines.append((value[1], value[2]))
        elif value := re.match(rf"  store [^%\n]*({LOCAL}), ptr ({LOCAL})", line):
            lines.append((value[2], "store " + value[1]))
    # The values that depend on a test, with 1 if a true value says that the symbol is there, -1 if a false one does, 0 if it is not known. And for each
    # right side of a branch, the blocks that are reached over it only.
    values, sides = {}, {}
    while True:
        for block, (condition, positive, negative) in branches.items():
            if condition in values:
                for successor in {1: [positive], -1: [negative], 0: [positive, negative]}[values[condition]]:
                    if (block, successor) not in sides:
                        sides[block, successor] = set(blocks) - reachable(blocks, "entry", (block, successor))
        if any(at in side for side in sides.values()):
            return True
        found = {}
        for result, operation in lines:
            if result not in values and (sign := dependence(operation, values, sides, symbol)) is not None:
                found[result] = sign
        if not found:
            return False
        values |= found


def dependence(operation, values, sides, symbol):
    """How an operation depends on a test, or nothing if it does not."""
    flip = -1 if operation.startswith("icmp eq ") or re.match(r"xor .*, (?:true|-?1)$", operation) else 1
    if re.match(r"call [^\n]*VersionAtLeast", operation):
        return 1
    if operation.startswith("icmp ") and re.search(rf'@"?{re.escape(symbol)}(?![-\w.$])', operation):
        return flip
    if operation.startswith("phi "):
        # Another value on one side: nothing, or something that is made where the system is new enough.
        incoming = re.findall(r'%("[^"]*"|[-\w.$]+) \]', operation)
        if any(0 < sum(block in side for block in incoming) < len(incoming) for side in sides.values()):
            return 0
    operands = [values[operand] for operand in re.findall(LOCAL, operation) if operand in values]
    if not operands or "call " in operation:
        return None
    return flip * operands[0] if len(set(operands)) == 1 and operation.startswith(
        ("icmp ", "xor ", "trunc ", "zext ", "load ", "store ", "freeze ", "and ", "phi ")) else 0


def is_newer(version, minimum):
    def numbers(text):
        return [int(part) for part in (text + ".0.0").split(".")][:3]

    return numbers(version) > numbers(minimum)


def reachable(blocks, entry, removed):
    found, waiting = {entry}, [entry]
    while waiting:
        block = waiting.pop()
        for successor in blocks.get(block, ()):
            if (block, successor) != removed and successor not in found:
                found.add(successor)
                waiting.append(successor)
    return found


# MARK: Findings


def strong_imports(module, platform, declared=None):
    """Functions of the runtime that the oldest system lacks, without which dyld does not start the process.

    `declared` are the names that the sources declare by hand; without it, all are.
    """
    findings = set()
    for name in module.strong:
        if not RUNTIME.fullmatch(name) and not (name.startswith("$s") and name in (declared or ())) or name in oldest_runtime():
            continue
        version = EMITTED.get(name)
        if version and version <= SWIFT[platform]:
            continue
        # The standard library says since when it has the function. With Apple's modules the compiler imports it weakly; those of Linux do not
        # record the version in the bodies that clients inline.
        if not version and declared is not None and name not in declared and name in newer_declarations():
            continue
        findings.add(("strong import", name))
    return findings


def untested_calls(module):
    return {("untested call", f"{symbol} in {place}") for symbol, place in module.untested()}


def wide_payloads(module):
    """Task-local values that are neither a reference nor a word."""
    locals = sorted(set(re.findall(r"\$ss9TaskLocalCy\w+?G(?=MD|Ma|MR|WOe|WOs|vpZ|\"|\b)", module.text)))
    findings = set()
    for name in locals:
        text, tree = demangled("-compact", name), demangled("-tree-only", name)
        if not (payload := re.fullmatch(r"Swift\.TaskLocal<(.*)>", text)):
            continue
        nodes = re.findall(r'kind=(?!Type\b|TypeList\b)(\w+)(?:, text="(\w+)")?', tree.split("kind=TypeList", 1)[1])
        if nodes[0][0] == "BoundGenericEnum" and nodes[3] == ("Identifier", "Optional"):
            nodes = nodes[4:]
        if nodes[0][0] in ("Class", "BoundGenericClass"):
            continue
        if nodes[0][0] == "BoundGenericStructure" and nodes[3][1] in ("Array", "Dictionary", "Set"):
            continue
        size = module_sizes(module).get(payload[1])
        if size is None or size > 8:
            findings.add(("wide payload", f"{payload[1]}: {'unknown size' if size is None else f'{size} bytes'}"))
    return findings


def module_sizes(module):
    """The size of each type of Swift that the module has values of, by its name."""
    if not hasattr(module, "sizes"):
        bodies = dict(re.findall(r'^%("?T[^ "\n]+"?) = type (.*)$', module.text, flags=re.M))
        bodies = {name.strip('"'): body for name, body in bodies.items()}
        names = [name for name in bodies if re.fullmatch(r"T\w+", name)]
        output = subprocess.run(["swift-demangle", "-compact"], input="\n".join("$s" + name[1:] for name in names),
                                capture_output=True, text=True).stdout.splitlines()
        module.sizes = {text: size_of(bodies[name], bodies) for name, text in zip(names, output)}
    return module.sizes


def size_of(body, bodies, depth=0):
    """The size of a packed LLVM structure, or nothing if it is not known."""
    if depth > 20:
        return None
    total = 0
    for part in re.findall(r'\[\d+ x i8\]|%"?[^ ,"<>{}]+"?|\bptr\b|\bi\d+\b|\bdouble\b|\bfloat\b|opaque|\[', body):
        if array := re.match(r"\[(\d+) x i8\]", part):
            size = int(array[1])
        elif part == "ptr" or part == "double":
            size = 8
        elif part == "float":
            size = 4
        elif integer := re.fullmatch(r"i(\d+)", part):
            size = (int(integer[1]) + 7) // 8
        elif part in ("%AnyObject", "%swift.bridge"):
            size = 8
        elif part.startswith("%"):
            inner = bodies.get(part[1:].strip('"'))
            size = size_of(inner, bodies, depth + 1) if inner else None
        else:
            size = None
        if size is None:
            return None
        total += size
    return total


# Of the standard library: the sleeps of tasks and clocks.
SLEEP = re.compile(r"function_ref @(\$s(?:Sc[TCS]|ScTss5NeverO|s5Clock|s15ContinuousClock|s15SuspendingClock)\w*?5sleep\w*)"
                   r"|witness_method [^\n]*(#Clock\.sleep)\b")
STANDARD = re.compile(r"\$s(?:Sc[TCS]|s5Clock|s15ContinuousClock|s15SuspendingClock)\w*5sleep")
HEAD = re.compile(r"sil ([^@\n]*)@(\S+) : ")


def sleeps(sil, only_inlinable):
    """Functions that sleep by the standard library: all of them, or those that clients compile too."""
    findings = set()
    for match in SLEEP.finditer(sil):
        attributes, name = HEAD.match(sil, sil.rfind("\nsil ", 0, match.start()) + 1).groups()
        if (only_inlinable and "[serialized" not in attributes) or STANDARD.match(name):
            continue
        # Not the value of an omitted argument.
        if not re.search(r"fA\d*_$", match[1] or ""):
            findings.add(("sleep", f"{match[1] or match[2]} in {name}"))
    return findings


# MARK: Tables


@functools.cache
def oldest_runtime():
    lines = (HERE / "runtime.txt").read_text().splitlines()
    return {name for line in lines if not line.startswith("#") for name in line.split()}


@functools.cache
def newer_declarations():
    """Functions of the runtime that the interfaces of this toolchain declare with a version, by their names."""
    toolchain = Path(subprocess.run(["swiftc", "-print-target-info"], capture_output=True, text=True).stdout
                     .split('"runtimeResourcePath": "')[1].split('"')[0])
    found = set()
    for module in ["Swift", "_Concurrency"]:
        for interface in (toolchain / f"linux/{module}.swiftmodule").glob("*-linux-gnu.swiftinterface"):
            lines = interface.read_text().splitlines()
            for number, line in enumerate(lines):
                if (name := re.search(r'@_silgen_name\("(\w+)"\)', line)) and RUNTIME.fullmatch(name[1]):
                    if any("@available(macOS" in before for before in lines[max(number - 2, 0):number + 1]):
                        found.add(name[1])
    return found


def declared_by_hand(sources):
    """The names of functions of the runtime that sources declare themselves."""
    found = set()
    for source in sources:
        found |= set(re.findall(r'@(?:_silgen_name|_extern)\((?:c, )?"([$\w]+)"\)', Path(source).read_text()))
    return found


@functools.cache
def demangled(option, name):
    result = subprocess.run(["swift-demangle", option, name], capture_output=True, text=True).stdout
    return result.strip()


def readable(finding):
    """The text of a finding with the names of Swift as one reads them."""
    text = subprocess.run(["swift-demangle", "-compact"], input=finding[1], capture_output=True, text=True).stdout.strip()
    return f"{finding[0]}: {text or finding[1]}"


def unquoted(name):
    """A name as the linker sees it, without the underscore of Mach-O."""
    return name.strip('"').removeprefix("\\01_")
