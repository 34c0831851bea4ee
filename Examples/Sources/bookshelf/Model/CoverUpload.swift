import ArgumentParser
import Foundation

/// A file that is to become a book's cover: `3=dune.png`.
struct CoverUpload: Sendable, Hashable {
    let book: Book.ID
    let path: String

    init(book: Book.ID, path: String) {
        self.book = book
        self.path = path
    }

    init(argument: String) throws {
        let parts = argument.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, let book = Int(parts[0]), book > 0 else {
            throw ValidationError("'\(argument)' names no book and file: write <book>=<file>, such as 3=dune.png.")
        }
        self.init(book: book, path: String(parts[1]))
    }

    var file: URL { URL(fileURLWithPath: path) }
    var name: String { file.lastPathComponent }

    /// Returns the size of the file.
    ///
    /// - Throws: An error that names the problem of the file.
    func size() throws -> Int64 {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw ValidationError("There is no file '\(path)'.")
        }
        guard !isFolder.boolValue else {
            throw ValidationError("'\(path)' is a folder. Give the files in it, each with its book.")
        }
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw ValidationError("'\(path)' can't be read.")
        }
        return (try FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber)?.int64Value ?? 0
    }
}
