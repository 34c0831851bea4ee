private import CTaskControl

#if canImport(os)
private import os
#endif

#if canImport(Darwin)
private import Darwin
#elseif canImport(Glibc)
private import Glibc
#elseif canImport(Musl)
private import Musl
#elseif canImport(Android)
private import Android
#elseif canImport(ucrt)
private import ucrt
#elseif canImport(WASILibc)
private import WASILibc
#endif

/// The observer behind ``TaskDiagnostics/Configuration/debugLogging``: writes each event as a line to `os.Logger`, or
/// to standard error where `os.Logger` does not exist. A line begins with `[main]` if it is written on the main thread,
/// and otherwise with `[background]`.
struct SystemLog: TaskObserver {
    #if canImport(os)
    private let logger = Logger(subsystem: "TaskControl", category: "events")

    func receive(_ event: TaskEvent) {
        // Public, because lines that the program enables must be readable. The program removes secrets with `redact`.
        if event.severity == .warning {
            logger.error("\(Self.line(of: event), privacy: .public)")
        } else {
            logger.debug("\(Self.line(of: event), privacy: .public)")
        }
    }
    #else
    func receive(_ event: TaskEvent) {
        writeToStandardError(Self.line(of: event) + "\n")
    }
    #endif

    /// Writes a mistake in the program as a line to `os.Logger` at the level *error*, or to standard error where
    /// `os.Logger` does not exist.
    ///
    /// - Parameters:
    ///   - text: A sentence that states what happened and what to do, without data of the program.
    ///   - error: The text of the error; `nil` for none. May contain the program's data: on Apple platforms the unified
    ///     log shows it only while a debugger is attached, or to users who have enabled private data.
    ///   - taskName: The name of the task; `nil` for none. May contain the program's data, like `error`.
    static func report(_ text: String, error: String?, taskName: String?) {
        let details = (error.map { ": \($0)" } ?? "") + (taskName.map { " (task \($0))" } ?? "")
        #if canImport(os)
        Logger(subsystem: "TaskControl", category: "mistakes").error("\(text, privacy: .public)\(details)")
        #else
        writeToStandardError("TaskControl: \(text)\(details)\n")
        #endif
    }

    static func line(of event: TaskEvent) -> String {
        "\(tc_isMainThread() ? "[main]      " : "[background]") \(event)"
    }
}

/// Writes a line to standard error with a single call of `write`, so lines of several threads do not mix.
///
/// - Parameter line: The line, with the newline at its end.
func writeToStandardError(_ line: String) {
    var line = line
    line.withUTF8 { bytes in
        #if canImport(ucrt)
        _ = _write(2, bytes.baseAddress, CUnsignedInt(bytes.count))
        #else
        _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count)
        #endif
    }
}
