import Dispatch
import Foundation

/// A key that is typed.
enum Key: Sendable, Hashable {
    case character(Character)
    case backspace
    /// The return key, or the end of the input.
    case end

    /// Returns the keys in some bytes, except keys that are not used here, such as arrows.
    static func keys(in bytes: Data) -> [Key] {
        // Bytes that begin with an escape are one key of a terminal's own.
        if bytes.first == 0x1B { return bytes.count == 1 ? [.end] : [] }
        if bytes.isEmpty { return [.end] }
        return String(decoding: bytes, as: UTF8.self).compactMap { character in
            switch character {
            case "\n", "\r", "\r\n", "\u{4}": .end
            case "\u{7F}", "\u{8}": .backspace
            default: character.unicodeScalars.contains { $0.value < 0x20 } ? nil : .character(character)
            }
        }
    }
}

/// The keys of the standard input.
enum Keys {
    static func stream() -> AsyncStream<Key> {
        AsyncStream { continuation in
            let source = DispatchSource.makeReadSource(
                fileDescriptor: STDIN_FILENO,
                queue: DispatchQueue(label: "bookshelf.keys")
            )
            source.setEventHandler {
                var bytes = [UInt8](repeating: 0, count: 1024)
                let count = read(STDIN_FILENO, &bytes, bytes.count)
                for key in Key.keys(in: Data(bytes.prefix(max(0, count)))) { continuation.yield(key) }
                if count <= 0 { continuation.finish() }
            }
            nonisolated(unsafe) let canceller = source
            continuation.onTermination = { _ in canceller.cancel() }
            source.resume()
        }
    }
}
