"""What SwiftPM would compile for a platform: targets, their sources and flags, as it plans them itself."""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from sdk import FOUNDATION_PARTS

# Of the driver, or of a build of more than modules; with the number of the arguments that follow.
DRIVER_ONLY = {
    "-incremental": 0, "-enable-batch-mode": 0, "-serialize-diagnostics": 0, "-parseable-output": 0, "-g": 0,
    "-emit-objc-header": 0, "-whole-module-optimization": 0, "-j2": 0, "-target": 1, "-sdk": 1, "-index-store-path": 1,
    "-emit-objc-header-path": 1, "-module-cache-path": 1, "-Xlinker": 1,
}


IMPORT_OF_FOUNDATION = re.compile(r"^[^/\n]*\bimport Foundation\b", flags=re.M)
EXPORT_OF_FOUNDATION = re.compile(r"^@_exported public import Foundation$", flags=re.M)


@dataclass
class Target:
    name: str
    sources: list
    flags: list
    dependencies: list
    # Of this package, not of one that it depends on.
    is_own: bool

    @property
    def is_test(self):
        """Whether it belongs to the tests, rather than to a product."""
        return self.name.endswith("Tests") or self.name == "TestSupport"

    @property
    def import_flags(self):
        """Those flags by which a file finds the modules of C."""
        return [word for pair in zip(self.flags, self.flags[1:]) if pair[0] in ("-I", "-Xcc") for word in pair]


class Plan:
    """The plan of a build of everything, for a platform and with some traits of this package."""

    def __init__(self, sdk, repository, platform, traits):
        self.platform = platform
        self.traits = traits
        packages = sdk.work / "packages"
        command = ["swift", "build", "--build-system", "native", "--package-path", repository,
                   "--scratch-path", packages, "--swift-sdks-path", sdk.work / "sdks",
                   "--swift-sdk", platform.triple, "--build-tests", "--print-manifest-job-graph"]
        if traits:
            command += ["--traits", ",".join(traits)]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode != 0:
            raise RuntimeError(f"SwiftPM has no plan for {platform.name}:\n{result.stderr}")
        description = json.loads((packages / platform.triple / "debug/description.json").read_text())
        self.manifest = (packages / "debug.yaml").read_text()
        self.repository = str(repository)
        self.swift_targets = {}
        dependencies = description["targetDependencyMap"]
        commands = description["swiftCommands"].values()
        exporting = {
            command["moduleName"] for command in commands
            if any(EXPORT_OF_FOUNDATION.search(Path(source).read_text()) for source in command["sources"] if self.is_own(source))
        }
        for command in commands:
            name = command["moduleName"]
            sources = [source for source in command["sources"] if source.endswith(".swift")]
            # SwiftPM's own, which runs the tests.
            if name.endswith("PackageTests"):
                continue
            is_own = all(self.is_own(source) for source in sources)
            flags = frontend_flags(command["otherArguments"]) + ["-module-name", name]
            imports = any(IMPORT_OF_FOUNDATION.search(Path(source).read_text()) for source in sources)
            if imports or exporting & set(dependencies.get(name, [])):
                flags += ["-import-module", FOUNDATION_PARTS]
            self.swift_targets[name] = Target(name, sources, flags, dependencies.get(name, []), is_own)

    def is_own(self, path):
        return path.startswith(f"{self.repository}/Sources/") or path.startswith(f"{self.repository}/Tests/")

    def needed(self, names):
        """The Swift targets of those names and all that they depend on."""
        found = {}

        def visit(name):
            if name not in self.swift_targets or name in found:
                return
            target = self.swift_targets[name]
            target.dependencies = [other for other in target.dependencies if other in self.swift_targets]
            for other in target.dependencies:
                visit(other)
            found[name] = target

        for name in names:
            visit(name)
        return found

    def own_c_commands(self):
        """For each C target of this package: its name and the commands that compile it."""
        commands = {}
        for line in re.findall(r"^    tool: clang\n(?:    .*\n)*?    args: (\[.*\])$", self.manifest, flags=re.M):
            arguments = json.loads(line)
            source = arguments[arguments.index("-c") + 1]
            if self.is_own(source) and self.platform.triple in " ".join(arguments):
                name = Path(source).relative_to(self.repository).parts[1]
                commands.setdefault(name, []).append(arguments)
        return commands


def frontend_flags(arguments):
    """The flags of a driver that concern the compiler's frontend."""
    flags, rest = [], iter(arguments)
    for flag in rest:
        if flag in DRIVER_ONLY:
            for _ in range(DRIVER_ONLY[flag]):
                next(rest)
        elif flag == "-Xfrontend":
            flags.append(next(rest))
        elif flag == "-Xcc":
            if (following := next(rest)) == "-isysroot":
                # Its argument is behind another -Xcc.
                next(rest), next(rest)
            elif following != "-g":
                flags += [flag, following]
        elif not re.fullmatch(r"-j\d+", flag):
            flags.append(flag)
    return flags
