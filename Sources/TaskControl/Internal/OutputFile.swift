#if canImport(Darwin)
private import Darwin
#elseif canImport(Glibc)
private import Glibc
#elseif canImport(Musl)
private import Musl
#elseif canImport(Android)
private import Android
#else
#error("TaskControl needs the C library's open(2) and write(2); this platform's C library is not known to it.")
#endif

/// A file that is there when it is whole.
enum OutputFile {
    typealias Sink = (borrowing [UInt8]) throws(TraceWriteError) -> Void

    /// Writes under another name in the same folder, and renames; what is no regular file is written to directly.
    ///
    /// - Parameter body: Calls its argument with one piece after the other.
    static func write(
        to path: String,
        _ body: (Sink) throws(TraceWriteError) -> Void
    ) throws(TraceWriteError) {
        guard isReplaceable(path) else {
            let file = try open(path, at: path, flags: O_WRONLY)
            defer { close(file) }
            return try body { (bytes) throws(TraceWriteError) in try put(bytes, into: file, path) }
        }
        // Unique in this process, and of one that died nothing is overwritten.
        let draft = "\(path).\(getpid())-\(Diagnostics.nextNumber()).part"
        let file = try open(draft, at: path, flags: O_WRONLY | O_CREAT | O_EXCL)
        do throws(TraceWriteError) {
            do throws(TraceWriteError) {
                try body { (bytes) throws(TraceWriteError) in try put(bytes, into: file, path) }
            } catch {
                close(file)
                throw error
            }
            // Some file systems tell only here that there was no room.
            guard close(file) == 0 else { throw TraceWriteError(path: path, step: "written", code: errno) }
            guard rename(draft, path) == 0 else { throw TraceWriteError(path: path, step: "put in place", code: errno) }
        } catch {
            unlink(draft)
            throw error
        }
    }

    private static func isReplaceable(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return true }
        // A folder is left to `rename`, which says what is wrong.
        let kind = status.st_mode & S_IFMT
        return kind == S_IFREG || kind == S_IFDIR
    }

    private static func open(_ name: String, at path: String, flags: CInt) throws(TraceWriteError) -> CInt {
        while true {
            let file = systemOpen(name, flags | O_CLOEXEC, 0o644)
            if file >= 0 { return file }
            guard errno == EINTR else { throw TraceWriteError(path: path, step: "created", code: errno) }
        }
    }

    private static func put(_ bytes: borrowing [UInt8], into file: CInt, _ path: String) throws(TraceWriteError) {
        let code = bytes.withUnsafeBytes { bytes -> CInt in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = systemWrite(file, rest)
                if count >= 0 {
                    rest = rest.dropFirst(count)
                } else if errno != EINTR {
                    return errno
                }
            }
            return 0
        }
        guard code == 0 else { throw TraceWriteError(path: path, step: "written", code: code) }
    }
}

// Under other names: within the type, its own functions hide the C library's.
private func systemOpen(_ path: String, _ flags: CInt, _ mode: mode_t) -> CInt { open(path, flags, mode) }

private func systemWrite(_ file: CInt, _ bytes: Slice<UnsafeRawBufferPointer>) -> Int {
    let bytes = UnsafeRawBufferPointer(rebasing: bytes)
    return write(file, bytes.baseAddress!, bytes.count)
}

/// An `errno` in the system's words.
func systemText(of code: CInt) -> String { String(cString: strerror(code)) }
