#if canImport(Darwin)
private import Darwin
#elseif canImport(Glibc)
private import Glibc
#elseif canImport(Musl)
private import Musl
#elseif canImport(Android)
private import Android
#endif

/// The system functions that the testing tools need, without Foundation.
package enum System {
    /// Returns the value of an environment variable; `nil` if the variable is not set or empty.
    package static func environment(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }

    /// Blocks the current thread for two milliseconds.
    static func pause() {
        usleep(2_000)
    }

    /// Calls a system function that would reach something outside this process, with an invalid file descriptor. Used to check whether the
    /// simulation notices such calls.
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

    /// Creates a folder whose parent exists. Ignores errors, because writing a file into the folder then fails and
    /// reports the reason.
    static func createFolder(_ path: String) {
        _ = mkdir(path, 0o777)
    }

    // MARK: Memory

    /// Allocates memory in which all bytes are zero. Traps if the system has no memory left. Release the memory with
    /// ``deallocate(_:)``.
    static func zeros(_ bytes: Int) -> UnsafeMutableRawPointer { allocated(calloc(bytes, 1)) }

    /// Resizes memory that ``zeros(_:)`` or this function has allocated, in place if possible. Allocates new memory if
    /// `memory` is `nil`. Traps if the system has no memory left.
    static func resize(_ memory: UnsafeMutableRawPointer?, to bytes: Int) -> UnsafeMutableRawPointer {
        allocated(realloc(memory, bytes))
    }

    /// Deallocates memory that ``zeros(_:)`` or ``resize(_:to:)`` has allocated.
    static func deallocate(_ memory: UnsafeMutableRawPointer) { free(memory) }

    private static func allocated(_ memory: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer {
        guard let memory else { fatalError("The system has no memory left.") }
        return memory
    }
}
