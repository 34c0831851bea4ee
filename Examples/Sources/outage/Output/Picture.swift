import ArgumentParser
import Foundation

/// The file that a picture goes to.
struct Picture {
    private let path: String

    /// Checks that the file can be written to.
    ///
    /// - Throws: The exit code, if the file cannot be written to, after the reason has been printed.
    init(path: String) throws {
        self.path = path
        // The old content stays there until the new one is complete.
        try open("a") { _ in true }
    }

    func write(_ text: String) throws {
        let bytes = Array(text.utf8)
        try open("w") { file in fwrite(bytes, 1, bytes.count, file) == bytes.count && fflush(file) == 0 }
    }

    private func open(_ mode: String, _ use: (UnsafeMutablePointer<FILE>) -> Bool) throws {
        if let file = fopen(path, mode) {
            defer { fclose(file) }
            if use(file) { return }
        }
        Terminal.complain("the picture can't be written to \(path): \(String(cString: strerror(errno)))")
        throw ExitCode(EX_IOERR)
    }
}
