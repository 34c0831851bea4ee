"""Compiles modules as far as LLVM IR, and looks for what would end a process on the oldest systems (binary.py)."""

import re
import subprocess
from pathlib import Path

import binary

PLANTED = Path(__file__).resolve().parent / "planted"
CLIENT = Path(__file__).resolve().parent / "Client.swift"
CLIENT_IMPORTS = re.findall(r"^import (TaskControl\w*)", CLIENT.read_text(), re.M)
# A public function whose body is compiled in its client only.
CLIENTS_BODY = re.compile(r"@export\(implementation\)\n(?: *@.*\n)* *public [^\n]*?func ([a-z]\w*)")
CORE = ["TaskControl", "PlantedCore"]
# With the modules that are here, the optimizer gives up: "function has wrong linkage", of a function of Linux's Foundation.
UNOPTIMIZED = {"TaskControlHTTP", "TaskControlApexy", "TaskControlFleet", "TaskControlEtcd"}
# A simulation finds out whether it can replace the sleep of a task: this function is the task.
SLEEPS = {"TaskControlTesting": "SimulationTrials"}
OPTIMIZED = ["-O", "-whole-module-optimization"]
# They would keep functions that nothing calls, and export what is internal.
OF_A_DEBUG_BUILD = ["-Onone", "-enable-testing", "-DDEBUG"]


class Emission:
    def __init__(self, sdk):
        self.sdk = sdk

    def swift(self, platform, name, command, sources, folder, is_optimized):
        """The findings in a Swift module, which it makes for the modules that import it."""
        command = [argument for argument in command if argument not in OF_A_DEBUG_BUILD]
        command += OPTIMIZED if is_optimized else ["-Onone"]
        # The verifier of the compiler refuses inlined bodies of Linux's Foundation.
        command.append("-sil-verify-none")
        ir, sil = folder / f"{name}.ll", folder / f"{name}.sil"
        status, output = run(command + ["-emit-irgen", "-o", ir, "-sil-output-path", sil,
                                        "-emit-module-path", folder / f"{name}.swiftmodule"])
        if status != 0:
            # The passes that were running, if it has crashed.
            frames = re.findall(r"^[1-9]\d*\.\t.*", output, re.M)
            return [f"error: the compiler ended with {status}:\n{chr(10).join(frames) or output[-2000:]}"]
        texts = ir.read_text(), sil.read_text()
        ir.unlink(), sil.unlink()
        module = binary.Module(*texts, platform)
        found = binary.strong_imports(module, platform.name, binary.declared_by_hand(sources))
        found |= binary.untested_calls(module) | binary.wide_payloads(module)
        if name in CORE:
            # Later, SIL does not say what is inlinable.
            run(command + ["-emit-silgen", "-o", sil])
            found |= binary.sleeps(sil.read_text(), only_inlinable=True)
            sil.unlink()
        else:
            found |= binary.sleeps(texts[1], only_inlinable=False)
        return self.errors(name, found)

    def client(self, platform, targets, folder):
        """The findings in a client that calls each function whose body it compiles, unoptimized and optimized."""
        sources = "".join(Path(source).read_text() for target in targets for source in target.sources)
        called = CLIENT.read_text()
        names = set(CLIENTS_BODY.findall(sources))
        missing = [f"error: {CLIENT.name} does not call {name}" for name in sorted(names) if not re.search(rf"\b{name}\b", called)]
        command = self.sdk.base_command(platform) + targets[0].import_flags + [
            "-I", str(folder), "-parse-as-library", "-swift-version", "6", "-module-name", "Client", str(CLIENT)]
        return missing + [finding for is_optimized in [False, True]
                          for finding in self.swift(platform, "Client", command, [CLIENT], folder, is_optimized)]

    def c(self, platform, includes, source):
        """The findings in a file of C."""
        status, output = run([self.sdk.toolchain / "bin/clang", "-target", platform.target, "-isystem", self.sdk.headers, "-std=gnu17",
                              *includes, "-S", "-emit-llvm", "-o", "-", source])
        if status != 0:
            return [f"error: {output}"]
        module = binary.Module(output)
        return self.errors(Path(source).name, binary.strong_imports(module, platform.name) | binary.untested_calls(module))

    def errors(self, name, found):
        texts = [binary.readable(finding) for finding in sorted(found)]
        allowed = SLEEPS.get(name)
        return [f"error: {text}" for text in texts if not (allowed and text.startswith("sleep: ") and allowed in text)]

    def planted(self, platform, folder):
        """Whether the planted forms of each finding are found, and nothing else is: what is missing, and what is too much."""
        folder.mkdir(parents=True, exist_ok=True)
        findings = []
        for name in ["PlantedCore", "Planted"]:
            source = PLANTED / f"{name}.swift"
            for is_optimized in [False, True]:
                command = self.sdk.base_command(platform) + ["-I", str(folder), "-parse-as-library", "-swift-version", "6", "-suppress-warnings",
                                                             "-module-name", name, str(source)]
                findings += self.differences(source, self.swift(platform, name, command, [source], folder, is_optimized))
        source = PLANTED / "planted.c"
        return findings + self.differences(source, self.c(platform, [], source))

    def differences(self, source, found):
        expected = re.findall(r"// finds ([^:\n]*?)(?: before ([\d.]+))?: (.*)", source.read_text())
        expected = [(kind, text) for kind, version, text in expected if not version or self.sdk.version < numbers(version)]
        findings = []
        for kind, text in expected:
            matching = [finding for finding in found if finding.startswith(f"error: {kind}: ") and text in finding]
            found = [finding for finding in found if finding not in matching]
            if not matching:
                findings.append(f"error: {source.name}: not found: {kind}: {text}")
        return findings + [f"{finding} ({source.name})" for finding in found]


def numbers(version):
    return tuple(map(int, version.split(".")))


def run(command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return result.returncode, result.stdout
