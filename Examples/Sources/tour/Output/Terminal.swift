import Foundation

/// The output of the tour. It is unbuffered, so that a live line is seen at once.
enum Terminal {
    /// Whether the output is a terminal, where a line may be overwritten.
    static let isLive = isatty(STDOUT_FILENO) == 1

    static func write(_ text: String) {
        FileHandle.standardOutput.write(Data(text.utf8))
    }

    static func print(_ line: String) {
        write(line + "\n")
    }

    static func complain(_ line: String) {
        FileHandle.standardError.write(Data("tour: \(line)\n".utf8))
    }
}
