#if AsyncHTTPClient
internal import AsyncHTTPClient
internal import CTaskControlZlib
internal import Foundation
internal import NIOCore
internal import NIOFoundationCompat
internal import NIOHTTP1

/// An object that undoes one content coding of a body, part by part: gzip or deflate.
///
/// A body of gzip may consist of several members (RFC 1952, 2.2), and may be followed by zeros. The data of deflate have
/// the format of zlib (RFC 9110, 8.4.1.2); those without its header, which some servers send, are understood too.
///
/// It is Sendable because only one thread uses an instance at a time.
final class Inflater: @unchecked Sendable {
    private enum Stage {
        /// No byte of the body has been decoded.
        case beginning
        /// Within the data of a member.
        case member
        /// After the data of a member. Another one may follow.
        case between
    }

    /// The largest number of bytes that are returned at a time.
    private static let partSize = 1 << 16

    private let isDeflate: Bool
    /// zlib keeps a pointer to this structure, so its address must not change.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private var stage = Stage.beginning
    /// The received bytes that have not been decoded yet.
    private var input = Data()
    /// Whether zlib may have more output without further input.
    private var hasOutput = false

    /// Creates an object for a coding.
    ///
    /// - Parameter coding: The name of the coding, in lower case.
    /// - Returns: `nil` if the coding is neither gzip nor deflate.
    init?(_ coding: String) {
        guard ["gzip", "x-gzip", "deflate"].contains(coding) else { return nil }
        isDeflate = coding == "deflate"
        stream.initialize(to: z_stream())
    }

    deinit {
        // Has no effect on a stream that was never initialized.
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Adds bytes of the encoded body. Must be called only after ``next()`` has returned `nil`.
    func append(_ part: Data) { input.append(part) }

    /// Returns the next bytes of the decoded body; `nil` if further bytes of the encoded body are needed.
    ///
    /// - Throws: `URLError` with the code `cannotDecodeRawData` if the data are not those of the coding.
    func next() throws -> Data? {
        while true {
            switch stage {
            case .beginning:
                // The format of deflate shows in the first two bytes.
                guard input.count >= (isDeflate ? 2 : 1) else { return nil }
                try begin()
            case .member:
                guard !input.isEmpty || hasOutput else { return nil }
                let part = try decode()
                if !part.isEmpty { return part }
            case .between:
                input = input.drop { $0 == 0 }
                guard let first = input.first else { return nil }
                guard !isDeflate, first == 0x1F, inflateReset(stream) == Z_OK else { throw Self.invalid }
                stage = .member
            }
        }
    }

    /// Ends the body.
    ///
    /// - Throws: `URLError` with the code `cannotDecodeRawData` if the body is incomplete. An empty body is complete: it
    ///   has no coding.
    func end() throws {
        switch stage {
        case .beginning where input.isEmpty, .between: break
        case .beginning, .member: throw Self.invalid
        }
    }

    private func begin() throws {
        // 15 is the size of the window; 32 more recognizes the headers of both zlib and gzip; less than 0 expects none.
        let windowBits: Int32 = isDeflate && !hasHeader ? -15 : 15 + 32
        let size = Int32(MemoryLayout<z_stream>.size)
        guard inflateInit2_(stream, windowBits, ZLIB_VERSION, size) == Z_OK else { throw Self.invalid }
        stage = .member
    }

    /// Whether the first two bytes are the beginning of a header: of zlib (RFC 1950, 2.2) or of gzip.
    private var hasHeader: Bool {
        let (first, second) = (Int(input[input.startIndex]), Int(input[input.startIndex + 1]))
        return first & 0xF == 8 && (first << 8 | second) % 31 == 0 || first == 0x1F && second == 0x8B
    }

    private func decode() throws -> Data {
        var part = Data(count: min(max(4 * input.count, 4_096), Self.partSize))
        let (result, read, written) = input.withUnsafeMutableBytes { input in
            part.withUnsafeMutableBytes { output in
                stream.pointee.next_in = input.bindMemory(to: UInt8.self).baseAddress
                stream.pointee.avail_in = UInt32(input.count)
                stream.pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
                stream.pointee.avail_out = UInt32(output.count)
                let result = inflate(stream, Z_NO_FLUSH)
                return (
                    result, input.count - Int(stream.pointee.avail_in), output.count - Int(stream.pointee.avail_out)
                )
            }
        }
        switch result {
        case Z_OK, Z_BUF_ERROR: hasOutput = written == part.count
        case Z_STREAM_END: (stage, hasOutput) = (.between, false)
        default: throw Self.invalid
        }
        input = read == input.count ? Data() : input.dropFirst(read)
        part.count = written
        return part
    }

    private static var invalid: URLError {
        URLError(.cannotDecodeRawData, text: "The body of the response cannot be decompressed.")
    }
}
#endif
