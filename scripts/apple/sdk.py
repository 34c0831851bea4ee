"""Makes what the compiler of this machine needs to type-check for Apple's platforms: README.md says what, and why."""

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ZIGLANG = "ziglang==0.17.1"


class Platform(NamedTuple):
    name: str
    # As SwiftPM names it, without a version.
    triple: str
    minimum: str
    # As long as that of Linux, whose place it takes in binary modules.
    module_triple: str
    # The folder of the platform's modules in a resource directory.
    folder: str

    @property
    def target(self):
        return self.triple + self.minimum

    @property
    def module_file(self):
        return self.triple.replace("macosx", "macos")


LINUX = "x86_64-unknown-linux-gnu"
# The minimums are those of Package.swift; check-apple compares them.
PLATFORMS = [
    Platform("macOS", "arm64-apple-macosx", "13.0", "arm64-apple-macosx13.000", "macosx"),
    Platform("iOS", "arm64-apple-ios", "16.0", "arm64-apple-ios16.000000", "iphoneos"),
    Platform("tvOS", "arm64-apple-tvos", "16.0", "arm64-apple-tvos16.00000", "appletvos"),
    Platform("watchOS", "arm64-apple-watchos", "9.0", "arm64-apple-watchos9.000", "watchos"),
    Platform("visionOS", "arm64-apple-xros", "1.0", "arm64-apple-xros1.000000", "xros"),
]

assert all(len(platform.module_triple) == len(LINUX) for platform in PLATFORMS)

# Which version of visionOS an attribute stands for that names a version of iOS.
VISION = {"13.0": "1.0", "14.0": "1.0", "15.0": "1.0", "16.0": "1.0", "17.0": "1.0", "17.4": "1.1", "18.0": "2.0",
          "18.4": "2.4", "26.0": "26.0", "26.4": "26.4"}

# Modules of Linux that Apple's platforms lack. In all binary modules they have other names of the same length, so that `canImport` of
# the package's code is false.
RENAMED = {
    b"Glibc": b"LibcA",
    b"FoundationNetworking": b"AppleFoundationParts",
    b"FoundationEssentials": b"AppleFoundationBasis",
    b"FoundationInternationalization": b"AppleFoundationInternationals_",
    b"FoundationXML": b"AppleFoundXML",
}
# Apple's Foundation holds it.
FOUNDATION_PARTS = "AppleFoundationParts"


# The C modules below the binary ones, by the folder of their headers.
MODULE_MAPS = {
    "SwiftShims": ["SwiftShims", "_SwiftConcurrencyShims", "SwiftOverlayShims", "_SynchronizationShims"],
    "dispatch": ["Dispatch", "CDispatch"],
    "CoreFoundation": ["CoreFoundation"],
    "_FoundationCShims": ["_FoundationCShims"],
    "_foundation_unicode": ["_FoundationICU"],
}


class SDK:
    def __init__(self, work):
        self.work = work
        self.root = work / "sdks/apple.artifactbundle/sdk"
        self.headers = self.root / "usr/include"
        executable = Path(shutil.which("swiftc") or sys.exit("there is no swiftc")).resolve()
        self.toolchain = executable.parent.parent
        self.swift = self.toolchain / "lib/swift"

    @functools.cached_property
    def version(self):
        """Of Swift, such as (6, 3, 1)."""
        return tuple(map(int, re.search(r"Swift version ([\d.]+)", self.description)[1].split(".")))

    @functools.cached_property
    def description(self):
        return subprocess.run([self.toolchain / "bin/swiftc", "--version"], capture_output=True, text=True).stdout

    def resources(self, platform):
        return self.work / "resources" / platform.folder

    def overlays(self, platform):
        return self.work / "overlays" / platform.folder

    # MARK: The compiler

    def base_command(self, platform):
        """The compiler's frontend, for a platform, without what concerns a target of the package."""
        plugins = self.swift / "host/plugins"
        return [
            str(self.toolchain / "bin/swift-frontend"), "-target", platform.target, "-disable-objc-interop",
            "-resource-dir", str(self.resources(platform)), "-sdk", str(self.root), "-I", str(self.overlays(platform)),
            "-module-cache-path", str(self.work / "cache" / platform.folder),
            "-plugin-path", str(plugins), "-plugin-path", str(plugins / "testing"), "-diagnostic-style", "llvm",
        ]

    # MARK: Making

    @functools.cached_property
    def stamp(self):
        """What the result depends on."""
        stubs = [path for path in sorted((HERE / "stubs").rglob("*")) if path.is_file()]
        sources = [path.read_text() for path in [HERE / "sdk.py"] + stubs]
        return "\n".join([self.description, str(self.toolchain), str(self.work)] + sources)

    def make(self):
        stamp = self.work / "stamp"
        if stamp.exists() and stamp.read_text() == self.stamp:
            return
        for folder in ["sdks", "resources", "overlays", "cache", "modules"]:
            shutil.rmtree(self.work / folder, ignore_errors=True)
        self.work.mkdir(exist_ok=True)
        self.make_headers()
        self.make_bundle()
        for platform in PLATFORMS:
            self.make_resources(platform)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(self.make_overlays, PLATFORMS))
        stamp.write_text(self.stamp)

    def make_headers(self):
        darwin = "ziglang/lib/libc/include/any-darwin-any/"
        if not (self.work / darwin).exists():
            wheels = self.work / "wheels"
            subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:",
                            "--dest", wheels, ZIGLANG], check=True)
            with zipfile.ZipFile(next(wheels.glob("ziglang-*.whl"))) as wheel:
                wheel.extractall(self.work, [name for name in wheel.namelist() if name.startswith(darwin)])
            shutil.rmtree(wheels)
        shutil.copytree(self.work / darwin, self.headers)
        # Dispatch and Foundation are those of Linux, and so are their headers.
        shutil.rmtree(self.headers / "dispatch")
        for folder in MODULE_MAPS:
            shutil.copytree(self.swift / ("shims" if folder == "SwiftShims" else folder), self.headers / folder)
        (self.root / "usr/lib/swift").mkdir(parents=True)
        (self.root / "usr/lib/swift/shims").symlink_to(self.swift / "shims")
        shutil.copytree(HERE / "stubs/include", self.headers, dirs_exist_ok=True)
        # That of Apple's SDK has the same declarations, for the trait SQLite.
        shutil.copy(sqlite_header(), self.headers)
        # For visionOS the compiler defines that there is Objective-C.
        objects = self.headers / "os/object.h"
        objects.write_text("#undef OS_OBJECT_HAVE_OBJC_SUPPORT\n" + objects.read_text())
        (self.headers / "SwiftLibcA.h").write_text("#include <DarwinHeaders.h>\n")
        (self.headers / "module.modulemap").write_text(
            'module Darwin [system] {\n  header "DarwinHeaders.h"\n  export *\n'
            "  module C { export * }\n  module Mach { export * }\n  module POSIX { export * }\n}\n"
            'module SwiftLibcA [system] {\n  header "SwiftLibcA.h"\n  export *\n}\n'
            + "".join(f'extern module {module} "{folder}/module.modulemap"\n'
                      for folder, modules in MODULE_MAPS.items() for module in modules)
        )

    def make_bundle(self):
        """With this, SwiftPM plans a build for Apple's platforms."""
        bundle = self.root.parent
        triples = {platform.triple: {"sdkRootPath": "sdk", "toolsetPaths": ["toolset.json"]} for platform in PLATFORMS}
        write_json(bundle / "swift-sdk.json", {"schemaVersion": "4.0", "targetTriples": triples})
        artifact = {"type": "swiftSDK", "version": "1.0", "variants": [{"path": "."}]}
        write_json(bundle / "info.json", {"schemaVersion": "1.0", "artifacts": {"apple": artifact}})
        # Nothing is linked, but SwiftPM wants to know with what.
        write_json(bundle / "toolset.json", {"schemaVersion": "1.0", "librarian": {"path": "/bin/false"}})
        write_json(self.root / "SDKSettings.json", {
            "Version": "26.0", "CanonicalName": "macosx26.0", "MaximumDeploymentTarget": "26.0.99",
            "VersionMap": {"iOS_xrOS": VISION, "iOS_visionOS": VISION},
        })

    def make_resources(self, platform):
        """The modules of Linux, which say that they are of the platform."""
        directory = self.resources(platform)
        modules = directory / platform.folder
        modules.mkdir(parents=True)
        for path in self.swift.iterdir():
            if path.name not in ("linux", "os", "dispatch", "Block"):
                (directory / path.name).symlink_to(path)
        for module in (self.swift / "linux").glob("*.swiftmodule"):
            if module.name == "Glibc.swiftmodule":
                continue
            binary = module / f"{LINUX}.swiftmodule"
            interface = module / f"{LINUX}.swiftinterface"
            copy = modules / renamed(module.name.encode()).decode()
            copy.mkdir()
            if binary.exists():
                code = renamed(binary.read_bytes()).replace(LINUX.encode(), platform.module_triple.encode())
                (copy / f"{platform.module_file}.swiftmodule").write_bytes(code)
            elif interface.exists():
                text = renamed(interface.read_bytes()).decode().replace(LINUX, platform.module_triple)
                if module.name == "Testing.swiftmodule" and platform.name != "macOS":
                    # As in Apple's Testing.
                    text = re.sub(
                        r"^(?=@freestanding\(expression\) public macro (expect|require)\(processExitsWith)",
                        '@available(*, unavailable, message: "Exit tests are not available on this platform.") ',
                        text, flags=re.M)
                (copy / f"{platform.module_file}.swiftinterface").write_text(text)
        for overlay in (self.swift / "linux").glob("*.swiftcrossimport"):
            shutil.copytree(overlay, modules / overlay.name)

    def make_overlays(self, platform):
        folder = self.overlays(platform)
        folder.mkdir(parents=True)
        libc = folder / "LibcA.swift"
        libc.write_text("@_exported import Darwin\n" + self.posix_errors())
        stubs = HERE / "stubs"
        for name, source, arguments in [
            ("Darwin", stubs / "Darwin.swift", ["-import-underlying-module"]),
            # Foundation of Linux is over Glibc, which is Darwin here.
            ("LibcA", libc, []),
            ("os", stubs / "os.swift", []),
            ("Combine", stubs / "Combine.swift", []),
        ]:
            run(self.base_command(platform) + [
                "-emit-module", "-parse-as-library", str(source), "-module-name", name, "-swift-version", "5",
                "-suppress-warnings", "-o", str(folder / f"{name}.swiftmodule")] + arguments)

    def posix_errors(self):
        """POSIXErrorCode: of Apple's Darwin, but the binary of Foundation looks for it in what was Glibc."""
        interface = (self.swift / f"linux/Glibc.swiftmodule/{LINUX}.swiftinterface").read_text()
        declaration = re.search(r"^public enum POSIXErrorCode .*?^}", interface, flags=re.M | re.S)[0]
        cases = re.findall(r"^  case (\w+)", declaration, flags=re.M)
        return "public enum POSIXErrorCode: Int32, Sendable {\n" + "".join(f"  case {case}\n" for case in cases) + "}\n"


def sqlite_header():
    """The header of SQLite, as the compiler of this machine finds it."""
    command = ["clang", "-M", "-x", "c", "-"]
    result = subprocess.run(command, input="#include <sqlite3.h>\n", capture_output=True, text=True)
    header = re.search(r"\S*/sqlite3\.h", result.stdout)
    return header[0] if header else sys.exit("the headers of SQLite are missing: scripts/require-sqlite says what to install")


def renamed(code):
    for name, other in RENAMED.items():
        assert len(name) == len(other), name
        code = code.replace(name, other)
    return code


def run(command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode != 0:
        raise RuntimeError(" ".join(map(str, command)) + "\n" + result.stdout)


def write_json(path, value):
    path.write_text(json.dumps(value, indent=2))
