#if canImport(Darwin)
private import Darwin
#elseif canImport(Glibc)
private import Glibc
#elseif canImport(Musl)
private import Musl
#elseif canImport(Android)
private import Android
#endif

/// The functions of the process that the tools need.
package enum System {
    /// The value of an environment variable; `nil` if it is not set or empty.
    package static func environment(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }

    /// Blocks the thread for two milliseconds.
    static func pause() {
        usleep(2_000)
    }

    /// Calls a function that reaches something outside this process, for a file that does not exist.
    static func touchNothing() {
        _ = connect(-1, nil, 0)
    }

    /// Writes a line to standard error.
    package static func writeToStandardError(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        var start = 0
        while start < bytes.count {
            let count = bytes[start...].withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress!, $0.count) }
            guard count > 0 else { return }
            start += count
        }
    }

    /// Creates a folder, in a folder that exists. Errors show when a file is written there.
    static func createFolder(_ path: String) {
        _ = mkdir(path, 0o777)
    }

    // MARK: Memory

    /// Allocates memory in which all bytes are zero.
    static func zeros(_ bytes: Int) -> UnsafeMutableRawPointer { allocated(calloc(bytes, 1)) }

    /// Resizes memory that this function or ``zeros(_:)`` allocated, in place if possible; allocates memory for `nil`.
    static func resize(_ memory: UnsafeMutableRawPointer?, to bytes: Int) -> UnsafeMutableRawPointer {
        allocated(realloc(memory, bytes))
    }

    /// Deallocates memory that ``zeros(_:)`` or ``resize(_:to:)`` allocated.
    static func deallocate(_ memory: UnsafeMutableRawPointer) { free(memory) }

    private static func allocated(_ memory: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer {
        guard let memory else { fatalError("there is no memory left") }
        return memory
    }
}
