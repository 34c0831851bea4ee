#if SQLite
internal import Foundation
internal import GRDB
internal import TaskControl
#if canImport(Darwin)
internal import Darwin
#endif

/// The file to which a path leads now, and the two files that SQLite keeps next to it.
///
/// A connection of SQLite continues to use the files that it has opened when they are deleted, moved or replaced, and so does a process that finds
/// other files under the same names: each of them would grant the same lease. So a store compares the place with that of its connection in each
/// transaction.
struct SQLitePlace: Hashable, Sendable {
    /// The name of the file, and the numbers of the file and of its folder. The file contains this identity as well: it differs if the file is a copy, or
    /// was moved.
    let identity: Data
    /// The numbers of the files whose names end in "-wal" and "-shm"; `nil` for a file that does not exist.
    private let companions: [Number?]

    /// The numbers with which the system identifies a file.
    private struct Number: Hashable, Sendable {
        let device: UInt64
        let file: UInt64

        init(_ status: stat) {
            device = UInt64(truncatingIfNeeded: status.st_dev)
            file = UInt64(truncatingIfNeeded: status.st_ino)
        }

        init?(_ path: [CChar]) {
            var status = stat()
            guard lstat(path, &status) == 0 else { return nil }
            self.init(status)
        }
    }

    /// Examines a path. Fails if there is no file.
    ///
    /// - Throws: ``StoreError`` with the reason ``StoreError/Reason/unauthorized`` if the process is not permitted to examine the path, or
    ///   ``StoreError/Reason/refused`` if it does not lead to a file with a single name.
    init?(_ path: String) throws(StoreError) {
        guard let file = Self.end(of: path) else {
            if Self.forbids(errno) { throw .forbiddenFile }
            return nil
        }
        var status = stat()
        guard lstat(file + [0], &status) == 0 else { return nil }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw StoreError(.refused, "the path of the store is not that of a file")
        }
        // Each name has a "-wal" of its own, whose changes the processes that use the other name do not see.
        guard status.st_nlink < 2 else {
            throw StoreError(.refused, "the file of the store has another name (a hard link)")
        }
        let folder = Self.folder(of: file)
        guard let parent = Number(folder + [0]) else { return nil }
        let number = Number(status)
        identity =
            Data("\(number.device):\(number.file) \(parent.device):\(parent.file) ".utf8)
            + file.dropFirst(folder.count).map { UInt8(truncatingIfNeeded: $0) }
        companions = ["-wal", "-shm"].map { Number(file + $0.utf8CString) }
    }

    /// Returns whether the process lacks a permission to use a file with a path, or to create it and the files next to it.
    static func forbids(_ path: String) -> Bool {
        func forbids(_ path: [CChar], _ mode: CInt) -> Bool {
            faccessat(AT_FDCWD, path, mode, AT_EACCESS) != 0 && Self.forbids(errno)
        }
        let file = end(of: path) ?? Array(path.utf8CString.dropLast())
        return forbids(folder(of: file) + [0], W_OK | X_OK)
            || ["", "-wal", "-shm"].contains { forbids(file + $0.utf8CString, R_OK | W_OK) }
    }

    /// Returns the path of the file at the end of the symbolic links of a path, without the final zero; `nil`, with `errno`, if there is none. SQLite
    /// follows the links too, and keeps the other files next to this file.
    private static func end(of path: String) -> [CChar]? {
        var end = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        guard realpath(path, &end) != nil else { return nil }
        return Array(end.prefix { $0 != 0 })
    }

    /// Returns the path of the folder of a file, with the slash at its end.
    private static func folder(of file: [CChar]) -> [CChar] {
        Array(file[...(file.lastIndex(of: CChar(UInt8(ascii: "/"))) ?? 0)])
    }

    private static func forbids(_ code: CInt) -> Bool { [EACCES, EPERM, EROFS].contains(code) }
}
#endif
