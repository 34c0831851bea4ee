import Foundation
import TaskControl

/// Bytes that are known at every place, for bodies that are not kept: the same block again and again, of a length that no buffer has.
enum Pattern {
    private static let length = 65_521
    private static let block: [UInt8] = {
        var state: UInt32 = 0x2545_F491
        return (0..<length + 1 << 16).map { index in
            index % length == 0 ? state = 0x2545_F491 : ()
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(truncatingIfNeeded: state >> 24)
        }
    }()

    /// At most 64 KiB of it, from a place on.
    static func withBytes<Value>(at place: Int, count: Int, _ body: (UnsafeRawBufferPointer) throws -> Value) rethrows
        -> Value
    {
        let start = place % length
        return try block.withUnsafeBytes { bytes in
            try body(UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + min(count, 1 << 16), bytes.count)]))
        }
    }

    static func data(_ count: Int) -> Data {
        var data = Data(capacity: count)
        while data.count < count {
            withBytes(at: data.count, count: count - data.count) { data.append(contentsOf: $0) }
        }
        return data
    }

    /// Makes a file of it.
    static func file(_ count: Int) throws -> URL {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("pattern-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: url.path, contents: nil)
        let file = try FileHandle(forWritingTo: url)
        var place = 0
        while place < count {
            try withBytes(at: place, count: count - place) {
                try file.write(contentsOf: Data($0))
                place += $0.count
            }
        }
        try file.close()
        return url
    }

    /// Compares what arrives with it.
    struct Check {
        private(set) var count = 0
        private(set) var isRight = true

        mutating func add(_ bytes: UnsafeRawBufferPointer) {
            var rest = bytes[...]
            while !rest.isEmpty {
                let size = Pattern.withBytes(at: count, count: rest.count) { expected in
                    let part = UnsafeRawBufferPointer(rebasing: rest.prefix(expected.count))
                    if memcmp(part.baseAddress!, expected.baseAddress!, part.count) != 0 { isRight = false }
                    return part.count
                }
                count += size
                rest = rest.dropFirst(size)
            }
        }
    }
}

/// A stream of it.
final class PatternStream: InputStream {
    private let total: Int
    private var place = 0
    private var status = Stream.Status.notOpen

    init(_ total: Int) {
        self.total = total
        super.init(data: Data())
    }

    override func open() { status = .open }

    override func close() { status = .closed }

    override var streamStatus: Stream.Status { status }

    override var hasBytesAvailable: Bool { place < total }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        Pattern.withBytes(at: place, count: min(maxLength, total - place)) { bytes in
            guard let start = bytes.baseAddress, !bytes.isEmpty else { return 0 }
            memcpy(buffer, start, bytes.count)
            place += bytes.count
            return bytes.count
        }
    }
}

/// A stream that breaks after some bytes.
final class BrokenStream: InputStream {
    private let error: any Error
    private var rest: Int

    init(_ error: any Error, after count: Int = 100) {
        self.error = error
        rest = count
        super.init(data: Data())
    }

    override func open() {}

    override func close() {}

    override var streamStatus: Stream.Status { .open }

    override var streamError: (any Error)? { error }

    override var hasBytesAvailable: Bool { true }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        if rest == 0 { return -1 }
        let count = min(rest, maxLength)
        buffer.update(repeating: 0, count: count)
        rest -= count
        return count
    }
}
