"""Finds the Swift blocks of the articles that need Apple's UI frameworks, and says how each is compiled; and the app in Examples.

A block follows one of these marks, and is a file of its own, beside `stubs/ui/Prelude.swift`:

    <!-- compiled for iOS 17 -->
    <!-- refused for iOS 17: part of the error message -->

A block of the first kind must compile without a warning, with each of `SETTINGS`. A block of the second kind must have that error, and no other, with the
first of them.
"""

import hashlib
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

from pages import blocks_of
from sdk import FOUNDATION_PARTS, HERE, run

MARK = re.compile(r"(compiled|refused) for iOS (\d+)(?:: (.+))?")
IMPORT = re.compile(r"^import (\w+)$", flags=re.M)

# A package's default, and a project's that is created with Xcode 26.
ISOLATED = ["-default-isolation", "MainActor"] + [word for feature in [
    "NonisolatedNonsendingByDefault", "InferIsolatedConformances", "MemberImportVisibility"] for word in ("-enable-upcoming-feature", feature)]
SETTINGS = {"Swift 6": [], "Swift 6, Xcode 26's default isolation": ISOLATED}
# The app is also compiled as its project has it, which is as Xcode 26 makes one: in language mode 5, with the features that mode 6 includes.
APP_SETTINGS = SETTINGS | {"Swift 5, Xcode 26's default isolation": ["-swift-version", "5"] + ISOLATED + [word for feature in [
    "InferSendableFromCaptures", "GlobalActorIsolatedTypesUsability", "DisableOutwardActorInference"] for word in ("-enable-upcoming-feature", feature)]}


class Block(NamedTuple):
    path: str
    line: int
    is_refused: bool
    version: str
    message: str
    text: str

    @property
    def imports(self):
        return IMPORT.findall(self.text)

    def findings(self, status, output):
        """What is wrong, of the output of the compiler."""
        found = [line for line in output.splitlines() if re.search(r"(?:error|warning): ", line)]
        if not self.is_refused:
            if status != 0 and not found:
                found = [f"the compiler ended with {status}:\n{output[-2000:]}"]
            return found
        errors = [line for line in found if "error: " in line]
        if not errors:
            return [f"compiles, although the article says that it is refused: {self.message}"]
        if not any(self.message in line for line in errors):
            return errors + [f"is not refused as the article says: {self.message}"]
        # The code that a macro generates of a mistake has mistakes of its own.
        return [line for line in errors if self.message not in line and "@__swiftmacro_" not in line]


def refined(page, repository):
    """The blocks of a page that are for iOS."""
    for block in blocks_of(page):
        place = f"{Path(block.path).relative_to(repository)}:{block.line - 1}"
        if not re.match("(compiled|refused) for", block.mark):
            continue
        mark = MARK.fullmatch(block.mark)
        if not mark or block.language != "swift":
            raise RuntimeError(f"{place}: this mark is not understood, or no block of Swift follows it: {block.mark}")
        kind, version, message = mark.groups()
        if (kind == "refused") != (message is not None):
            raise RuntimeError(f"{place}: an error message is needed after 'refused', and only there")
        # The lines of the errors are those of the article.
        text = "\n" * (block.line - 1) + "\n".join(block.lines) + "\n"
        yield Block(place.split(":")[0], block.line - 1, kind == "refused", f"{version}.0", message, text)


class Articles:
    def __init__(self, sdk, repository, platform):
        self.sdk = sdk
        self.platform = platform
        self.work = sdk.work / "articles" / platform.folder
        pages = sorted(repository.glob("Sources/*/*.docc/**/*.md"))
        self.blocks = [block for page in pages for block in refined(page, repository)]
        self.app = sorted(repository.glob("Examples/App/Bookshelf/*.swift"))
        imports = {name for source in self.app for name in IMPORT.findall(source.read_text())}
        self.app_imports = sorted(name for name in imports if name.startswith("TaskControl"))

    def make(self):
        """Makes the modules of the UI frameworks, of stubs."""
        stubs = HERE / "stubs/ui"
        key = hashlib.sha256("\0".join(
            [self.sdk.stamp] + [path.read_text() for path in sorted(stubs.iterdir())]).encode()).hexdigest()
        stamp = self.work / "stamp"
        if stamp.exists() and stamp.read_text() == key:
            return
        self.work.mkdir(parents=True, exist_ok=True)
        host = self.sdk.swift / "host"
        run([str(self.sdk.toolchain / "bin/swiftc"), "-emit-library", "-parse-as-library", "-module-name", "PreviewsMacros",
             "-I", str(host), "-L", str(host), "-lSwiftSyntax", "-lSwiftSyntaxMacros", "-o", str(self.macros),
             str(stubs / "PreviewsMacros.swift")])
        for name in ["UIKit", "SwiftUI", "Network"]:
            run(self.sdk.base_command(self.platform) + self.flags + [
                "-emit-module", "-parse-as-library", str(stubs / f"{name}.swift"), "-module-name", name,
                "-swift-version", "6", "-suppress-warnings", "-o", str(self.work / f"{name}.swiftmodule")])
        stamp.write_text(key)

    @property
    def macros(self):
        return self.work / "libPreviewsMacros.so"

    @property
    def flags(self):
        return ["-I", str(self.work), "-load-plugin-library", str(self.macros), "-import-module", FOUNDATION_PARTS]

    def check(self, block, number, modules, targets):
        """Compiles a block, as far as the compiler diagnoses.

        `targets` are those whose modules it imports, and `modules` is their folder.
        """
        folder = self.work / "blocks"
        folder.mkdir(exist_ok=True)
        source = folder / f"{Path(block.path).stem}{number}.swift"
        source.write_text(block.text)
        found = []
        for name, flags in list(SETTINGS.items())[:1 if block.is_refused else None]:
            status, output = self.compile([source, HERE / "stubs/ui/Prelude.swift"], block.version, modules, targets, flags)
            found += [f"{finding.replace(str(source), block.path)} ({name})" for finding in block.findings(status, output)]
        return found

    def check_app(self, modules, targets):
        """Compiles the sources of the app together, as far as the compiler diagnoses."""
        block = Block("Examples/App", 0, False, "17.0", None, "")
        return [f"{finding} ({name})" for name, flags in APP_SETTINGS.items()
                for finding in block.findings(*self.compile(self.app, block.version, modules, targets, flags))]

    def compile(self, sources, version, modules, targets, flags):
        """Returns the status and the output of the compiler."""
        # The modules in C of this package.
        maps = {flag for target in targets for flag in target.flags if flag.startswith("-fmodule-map-file=")}
        c_flags = [part for flag in sorted(maps) for part in ("-Xcc", flag)]
        command = self.sdk.base_command(self.platform) + self.flags
        command[command.index("-target") + 1] = self.platform.triple + version
        command += ["-I", str(modules), "-emit-sil", "-parse-as-library", "-module-name", "Article", "-swift-version", "6",
                    "-o", "/dev/null"] + [str(source) for source in sources] + c_flags + flags
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return result.returncode, result.stdout
