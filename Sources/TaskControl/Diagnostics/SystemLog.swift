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
#else
#error("TaskControl needs the C library's write(2); this platform's C library is not known to it.")
#endif

/// The observer behind ``TaskDiagnostics/Configuration/debugLogging``: writes each event as a line that begins with `[main]` or `[background]`, for
/// the thread that it happened on. Writes to `os.Logger` where it exists, and otherwise to standard error.
struct SystemLog: TaskObserver {
    #if canImport(os)
    private let logger = Logger(subsystem: "TaskControl", category: "events")

    func receive(_ event: TaskEvent) {
        // Public: code that enables these lines must be able to read them, and removes with `redact` what must not be in them.
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

    /// Writes a mistake as a line: to `os.Logger` at the level *error* where it exists, and otherwise to standard error.
    ///
    /// - Parameters:
    ///   - error: May contain the program's data: on Apple platforms the unified log shows it only while a debugger is attached, or to users
    ///     who have enabled private data.
    ///   - taskName: May contain the program's data, like `error`.
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

/// Writes a whole line at once, so that lines of several threads do not mix.
func writeToStandardError(_ line: String) {
    var line = line
    line.withUTF8 { bytes in _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
}
