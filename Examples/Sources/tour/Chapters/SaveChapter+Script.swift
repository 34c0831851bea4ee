import Foundation
import TaskControlTesting

/// The document after a burst of keystrokes. Every line names its draft, so that a file can be asked from which ones it is.
struct Draft: Sendable {
    static let linesInPiece = 50

    let number: Int
    let pieceCount: Int
    /// Whether the disk stalls in the middle of it.
    var stallsDisk = false

    var bytes: Data { pieces.reduce(Data(), +) }

    /// The pieces that are written at a time.
    var pieces: [Data] {
        (1...pieceCount).map { piece in
            Data(String(repeating: "draft \(number), piece \(piece)\n", count: Self.linesInPiece).utf8)
        }
    }

    /// Returns the number of bytes that differ from this draft, including missing and superfluous bytes.
    func differences(in data: Data) -> Int {
        let bytes = bytes
        return zip(bytes, data).count { $0 != $1 } + abs(bytes.count - data.count)
    }

    /// Returns the drafts that the lines of a file are from.
    static func numbers(in data: Data) -> Set<Int> {
        // A hole in a file reads as zeros, which no draft has.
        let lines = Set(data.split { $0 == 0 || $0 == UInt8(ascii: "\n") }).map { String(decoding: $0, as: UTF8.self) }
        return Set(lines.compactMap { $0.wholeMatch(of: /draft (\d+), piece \d+/).flatMap { Int($0.1) } })
    }
}

/// The text that is typed, and the times at which the disk stalls: the same for all acts of a seed.
///
/// A burst adds to the document, or deletes from it. In the middle of one draft the disk stalls, as disks do, until the act lets it continue.
struct SaveScript: Sendable {
    let drafts: [Draft]
    /// The document is exported right after this one.
    let exported: Int

    var stalled: Draft { drafts.first(where: \.stallsDisk)! }
    var last: Draft { drafts.last! }

    init(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        exported = 20
        var drafts = (1...40).map { Draft(number: $0, pieceCount: .random(in: 4...12, using: &generator)) }
        drafts[Int.random(in: exported..<drafts.count - 1, using: &generator)].stallsDisk = true
        self.drafts = drafts
    }
}
