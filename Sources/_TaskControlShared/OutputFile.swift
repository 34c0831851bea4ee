internal import TaskControl

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

/// A file that appears when it is complete.
///
/// The path at which the complete file appears is the *target*. The bytes are first written to another file, the
/// *draft*, which is then renamed to the target in one step. A symbolic link at the target is followed, and kept; the
/// new file has the permissions of the file that it replaces. If the process is killed, the draft stays.
///
/// ``init(_:)`` creates the draft in the folder of the target, as a hidden file whose name begins with `.taskcontrol-`
/// and ends in `.part`. ``init(_:draft:)`` uses a draft at a given path. If the target is a special file, such as a
/// device or a pipe, ``init(_:)`` writes to it directly, without a draft, and ``init(_:draft:)`` throws.
///
/// A file has one writer, whose last call must be ``finish()``, ``keep()`` or ``discard()``: each of them closes the
/// file.
public struct OutputFile {
    /// The error of a failed system call, such as `open`.
    public struct SystemError: Error {
        /// The word for the failed step in a sentence such as "the file could not be written": "created", "written" or
        /// "put in place".
        public let step: String
        /// The value of `errno` after the failed step.
        public let code: Int32

        /// The description of `code` that the system provides.
        public var text: String { String(cString: strerror(code)) }

        /// Whether another path could help: for example, because the folder does not exist or is not writable, or the
        /// disk is full.
        public var isOfPath: Bool {
            [ENOENT, ENOTDIR, EISDIR, EACCES, EPERM, EROFS, ENOSPC, EDQUOT, ENAMETOOLONG].contains(code)
        }

        init(_ step: String, code: Int32 = errno) {
            self.step = step
            self.code = code
        }
    }

    private let file: CInt
    private let target: String
    /// The path of the draft, which is renamed to the path of the target when it is complete; `nil` if the target is
    /// written to directly.
    private let draft: String?
    /// Whether the draft is kept if it cannot be moved to the path of the target. If `false`, it is then removed.
    private let keepsDraft: Bool

    /// Creates a draft, a hidden file that receives the bytes, in the folder of the target. If the target is a device,
    /// a pipe or another special file, opens the target itself, without a draft; opening a pipe blocks until its other
    /// end is opened for reading.
    ///
    /// - Parameter path: The path of the target, the file that the complete draft becomes.
    /// - Throws: An error with the code `EISDIR` if the target is a folder, or `EINVAL` if the path contains NUL;
    ///   otherwise, an error with the code of the system call that failed.
    public init(_ path: String) throws(SystemError) {
        let mode = try Self.mode(ofTarget: path, hasDraft: false)
        guard mode.map({ $0 & S_IFMT == S_IFREG }) ?? true else {
            (target, draft, keepsDraft) = (path, nil, false)
            file = try Self.open(path, O_WRONLY)
            return
        }
        let target = try Self.end(ofLinksFrom: path)
        let permissions = mode.map { $0 & 0o777 }
        let (draft, file) = try Self.openDraft(in: Self.folder(of: target), permissions ?? 0o644)
        // The process's umask may have removed some of the permissions.
        if let permissions { _ = fchmod(file, permissions) }
        (self.target, self.draft, self.file, keepsDraft) = (target, draft, file, false)
    }

    /// Creates a draft, as ``init(_:)`` does, for a file that replaces the one at a path, also if that is a symbolic
    /// link or a special file.
    ///
    /// - Parameter path: The path of the target, the file that the complete draft becomes.
    public init(replacing path: String) throws(SystemError) {
        try Self.check(path)
        let (draft, file) = try Self.openDraft(in: Self.folder(of: path), 0o644)
        (target, self.draft, self.file, keepsDraft) = (path, draft, file, false)
    }

    /// Opens a draft, the file that receives the bytes, at a given path, and locks it against other writers. The draft
    /// is created unless it exists. Writing begins at the first byte of the draft, without removing its content.
    ///
    /// - Parameters:
    ///   - path: The path of the target, the file that the complete draft replaces.
    ///   - draft: The path of the draft, in the folder of the target or at least in the same file system.
    /// - Throws: An error with the code `EWOULDBLOCK` if another writer has the lock; `EISDIR` if the target is a folder;
    ///   `EINVAL` if the target or the draft is a special file, such as a device or a pipe, or if a path contains NUL;
    ///   `ELOOP` if the draft is a symbolic link; otherwise, an error with the code of the system call that failed.
    public init(_ path: String, draft: String) throws(SystemError) {
        try Self.check(draft)
        let mode = try Self.mode(ofTarget: path, hasDraft: true)
        let target = try Self.end(ofLinksFrom: path)
        let file = try Self.openAndLock(draft)
        if let mode { _ = fchmod(file, mode & 0o777) }
        (self.target, self.draft, self.file, keepsDraft) = (target, draft, file, true)
    }

    /// Throws if no file can be put in the place of a target. Examines only the target, and changes nothing.
    ///
    /// - Parameters:
    ///   - path: The path of the target.
    ///   - hasDraft: Whether the draft is at a given path, so that a special file cannot be written to directly.
    /// - Throws: An error with the code `EISDIR` if the target is a folder; `EINVAL` if it is a special file that cannot
    ///   be written to, or if the path contains NUL.
    public static func check(target path: String, hasDraft: Bool) throws(SystemError) {
        _ = try mode(ofTarget: path, hasDraft: hasDraft)
    }

    /// Does what ``check(target:hasDraft:)`` does, and returns the mode of the file at the path, or at the end of the
    /// symbolic links at it; `nil` if there is none.
    private static func mode(ofTarget path: String, hasDraft: Bool) throws(SystemError) -> mode_t? {
        try check(path)
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw SystemError("created", code: EISDIR)
        default: if hasDraft { throw SystemError("created", code: EINVAL) }
        }
        return status.st_mode
    }

    /// Whether the bytes are written to a draft, a separate file that replaces the target when it is complete. If
    /// `false`, the bytes are written to the target itself.
    public var hasDraft: Bool { draft != nil }

    /// Returns the current size in bytes of the draft (see ``OutputFile``), or of the target if there is no draft.
    public func size() throws(SystemError) -> Int64 {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw SystemError("written") }
        return Int64(status.st_size)
    }

    /// Removes the content of the draft (see ``OutputFile``) from a position, in bytes, to the end, and continues to
    /// write at that position. Has no effect if there is no draft.
    public func rewind(to position: Int64) throws(SystemError) {
        guard draft != nil else { return }
        guard ftruncate(file, off_t(position)) == 0, lseek(file, off_t(position), SEEK_SET) >= 0 else {
            throw SystemError("written")
        }
    }

    /// Closes the file. A draft (see ``OutputFile``) stays where it is, neither moved to the target nor removed, so
    /// that a later ``init(_:draft:)`` can continue it. If the draft is locked, the lock is released.
    public func keep() {
        unlockAndClose(file)
    }

    /// Writes all bytes to the draft (see ``OutputFile``), or to the target if there is no draft. Blocks while the file
    /// accepts no bytes, such as a pipe that is not read.
    public func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = systemWrite(file, rest)
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                throw SystemError("written")
            }
        }
    }

    /// Moves the draft (see ``OutputFile``) to the path of the target, and closes the file. If there is no draft, only
    /// closes the file. If this function throws, the draft is removed, unless it was opened with ``init(_:draft:)``.
    public func finish() throws(SystemError) {
        defer { unlockAndClose(file) }
        try putInPlace()
    }

    /// Moves the draft (see ``OutputFile``) to the path of the target, and leaves the file open: if the file is locked,
    /// the lock is held until ``keep()``. If there is no draft, moves nothing. If this function throws, the draft is
    /// removed, unless it was opened with ``init(_:draft:)``.
    public func putInPlace() throws(SystemError) {
        // Some file systems report only when a descriptor is closed that the disk was full. A copy is closed: the lock
        // is released with the last descriptor, and another writer must not open the draft before it is renamed.
        let copy = systemCopy(file)
        guard copy >= 0, systemClose(copy) == 0 else { throw removing(SystemError("written")) }
        guard let draft, rename(draft, target) != 0 else { return }
        throw removing(SystemError("put in place"))
    }

    /// Closes the file, and removes the draft (see ``OutputFile``). If there is no draft, the bytes that were written
    /// to the target stay.
    public func discard() {
        // The draft is removed while the lock is held: afterwards it may be the draft of another writer.
        if let draft { unlink(draft) }
        unlockAndClose(file)
    }

    private func removing(_ error: SystemError) -> SystemError {
        if let draft, !keepsDraft { unlink(draft) }
        return error
    }

    private static func openAndLock(_ part: String) throws(SystemError) -> CInt {
        while true {
            let file = try openPart(part)
            do throws(SystemError) {
                if try lock(file, at: part) { return file }
            } catch {
                unlockAndClose(file)
                throw error
            }
            unlockAndClose(file)
        }
    }

    /// Opens or creates a draft at the given path, without locking it, and returns its file descriptor.
    static func openPart(_ path: String) throws(SystemError) -> CInt {
        do throws(SystemError) {
            // In a folder that others can write to, another user may have planted a link to a file, or a pipe. The link is
            // not followed, and the pipe is not waited for.
            return try open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o644)
        } catch {
            // A pipe without a reader.
            throw error.code == ENXIO ? SystemError("created", code: EINVAL) : error
        }
    }

    /// Locks an open draft against other writers.
    ///
    /// - Parameters:
    ///   - file: The file descriptor of the draft.
    ///   - path: The path at which the draft was opened.
    /// - Returns: Whether the file still exists at its path. If not, the writer that had the lock before has moved it
    ///   to its target or removed it: the file is no longer a draft, and must not be changed.
    /// - Throws: An error with the code `EWOULDBLOCK` if another writer has the lock, or `EINVAL` if the file is not a
    ///   regular file.
    static func lock(_ file: CInt, at path: String) throws(SystemError) -> Bool {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw SystemError("created") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw SystemError("created", code: EINVAL) }
        guard systemLock(file) == 0 else { throw SystemError("created") }
        var named = stat()
        guard lstat(path, &named) == 0 else { return false }
        return named.st_dev == status.st_dev && named.st_ino == status.st_ino
    }

    private static func openDraft(in folder: String, _ mode: mode_t) throws(SystemError) -> (String, CInt) {
        while true {
            // The name is unique in this process. A process that was killed may have left a draft with the same name.
            let draft = folder + ".taskcontrol-\(getpid())-\(Diagnostics.nextNumber()).part"
            do throws(SystemError) {
                return (draft, try open(draft, O_WRONLY | O_CREAT | O_EXCL, mode))
            } catch {
                guard error.code == EEXIST else { throw error }
            }
        }
    }

    /// Throws if a path contains NUL, which would end it: the file would be another one.
    private static func check(_ path: String) throws(SystemError) {
        if path.utf8.contains(0) { throw SystemError("created", code: EINVAL) }
    }

    private static func open(_ path: String, _ flags: CInt, _ mode: mode_t = 0) throws(SystemError) -> CInt {
        while true {
            let file = systemOpen(path, flags | O_CLOEXEC, mode)
            if file >= 0 { return file }
            guard errno == EINTR else { throw SystemError("created") }
        }
    }

    /// Follows the symbolic link at a path, and each link to which it leads. Returns the last path, even if no file
    /// exists there.
    private static func end(ofLinksFrom path: String) throws(SystemError) -> String {
        var path = path
        // Linux follows at most 40 links.
        for _ in 0..<40 {
            let capacity = 4_096
            let link = withUnsafeTemporaryAllocation(of: CChar.self, capacity: capacity) { buffer -> String? in
                let count = readlink(path, buffer.baseAddress!, capacity)
                guard count > 0 else { return nil }
                return String(
                    decoding: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]),
                    as: UTF8.self
                )
            }
            guard let link else { return path }
            path = link.hasPrefix("/") ? link : folder(of: path) + link
        }
        throw SystemError("created", code: ELOOP)
    }

    /// Returns the folder of a path, with a slash at its end.
    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }
}

// MARK: Regular files

extension OutputFile {
    /// Opens a regular file for reading, and returns its file descriptor. Never waits for the other end of a pipe.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - followsLink: Whether a symbolic link at the path is followed.
    /// - Throws: An error with the code `EINVAL` if it is another kind of file, or if the path contains NUL; otherwise,
    ///   an error with the code of the system call that failed.
    public static func open(regularFile path: String, followsLink: Bool = true) throws(SystemError) -> CInt {
        try check(path)
        let file = try open(path, O_RDONLY | O_NONBLOCK | (followsLink ? 0 : O_NOFOLLOW))
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            _ = systemClose(file)
            throw SystemError("opened", code: EINVAL)
        }
        return file
    }

    /// Returns the content of a small regular file; `nil` if there is none at the path, if it has more than 64 KiB, or
    /// if it cannot be read. A symbolic link is not followed.
    public static func content(ofRegularFile path: String) -> [UInt8]? {
        guard let file = try? open(regularFile: path, followsLink: false) else { return nil }
        defer { _ = systemClose(file) }
        var content = [UInt8](repeating: 0, count: 65_537)
        var count = 0
        while count < content.count {
            let added = content.withUnsafeMutableBytes { bytes in
                systemRead(file, UnsafeMutableRawBufferPointer(rebasing: bytes[count...]))
            }
            if added == 0 { return Array(content[..<count]) }
            if added > 0 { count += added } else if errno != EINTR { return nil }
        }
        return nil
    }

    /// Returns the size of a regular file in bytes; `nil` if there is none at the path. A symbolic link is not followed.
    public static func size(ofRegularFile path: String) -> Int64? {
        var status = stat()
        guard !path.utf8.contains(0), lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int64(status.st_size)
    }

    /// Removes a file, or a symbolic link; a folder is not removed. A file that does not exist is not an error.
    public static func remove(_ path: String) throws(SystemError) {
        try check(path)
        guard unlink(path) == 0 || errno == ENOENT else { throw SystemError("removed") }
    }
}

// These functions have other names, because within the type its own functions hide those of the C library.
private func systemOpen(_ path: String, _ flags: CInt, _ mode: mode_t) -> CInt { open(path, flags, mode) }

private func systemWrite(_ file: CInt, _ bytes: Slice<UnsafeRawBufferPointer>) -> Int {
    let bytes = UnsafeRawBufferPointer(rebasing: bytes)
    return write(file, bytes.baseAddress!, bytes.count)
}

private func systemRead(_ file: CInt, _ bytes: UnsafeMutableRawBufferPointer) -> Int {
    read(file, bytes.baseAddress!, bytes.count)
}

private func systemClose(_ file: CInt) -> CInt { close(file) }

/// Closes a file that may be locked, and releases its lock. Another process that this one is creating can have a copy of the
/// descriptor, until it executes its program: without the release, the lock would last as long.
private func unlockAndClose(_ file: CInt) {
    _ = flock(file, LOCK_UN)
    _ = systemClose(file)
}

private func systemCopy(_ file: CInt) -> CInt { fcntl(file, F_DUPFD_CLOEXEC, 0) }

/// Locks a file for this process with `flock`, without waiting. The lock is released by `unlockAndClose(_:)`, or when the
/// process ends.
///
/// - Parameter file: The file descriptor.
/// - Returns: Zero if the lock was acquired; otherwise −1, with the reason in `errno`.
private func systemLock(_ file: CInt) -> CInt { flock(file, LOCK_EX | LOCK_NB) }
