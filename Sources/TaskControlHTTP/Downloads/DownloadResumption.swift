public import Foundation
internal import _TaskControlShared

/// The location of a file that keeps the received part of an interrupted download, so that a later call of
/// ``EndpointClient/download(_:to:resuming:onProgress:)`` requests only the rest.
///
/// ```swift
/// // The first call breaks off after 700 MB, or the process ends. The next one asks for the rest.
/// try await client.download(MovieEndpoint(id), to: movie, resuming: .beside(movie))
/// ```
///
/// A received part can be continued under these conditions:
/// - The response whose body is the received part had the status 200, no content coding (such as gzip), and no
///   `Accept-Ranges: none`.
/// - The response had a strong validator, which identifies the exact content: an entity tag that is not weak. If
///   ``trustsModificationDates`` is `true`, a date of the last modification suffices, if there is no tag and the date is
///   at least a minute older than the response (RFC 9110, 8.8.2.2).
///
/// If the content on the server has changed since then, the server sends the new content as a whole, and the download
/// begins again with its first byte.
///
/// Before the rest of a body is appended to the received part, the validators of the two are compared. If they do not
/// match, the download begins again with its first byte. The rule is:
/// - If the received part has an entity tag, the rest must have the same tag.
/// - If the received part has only a date, the rest must have no tag, and the same date or no date.
///
/// The status of a response counts only as far as its headers agree with it. If the response to a request for the rest
/// has the status 200, the body replaces the received part if the content is another one, or if its length is that of
/// the whole content. Otherwise the download begins again with its first byte. A body that is a part of the content
/// according to its `Content-Range`, and was not requested, fails the download with ``EndpointError/Reason/content``.
///
/// A second file beside ``partialFile``, with `.resume` after its name, contains the validator and a fingerprint of the
/// URL. A download from another URL does not continue the part, but begins with the first byte. When the download is
/// complete, ``partialFile`` replaces the target in one step, and the second file is removed. So ``partialFile`` must
/// be on the same volume as the target. Both files must be regular files: a symbolic link or a pipe in the place of
/// ``partialFile`` fails the download, and one in the place of the second file is replaced.
///
/// The received part is not flushed to the disk, so a power failure can damage it. After a power failure, call
/// ``discard()`` before the next download.
public struct DownloadResumption: Sendable, Hashable {
    /// The location of the file that contains the received part.
    public let partialFile: URL

    /// Whether a part that has no entity tag is continued if the server has sent a date of the last modification.
    /// `false`, the default: such a part is not kept, and the next download begins with the first byte.
    ///
    /// With `true`, a server that ignores the header `If-Range` and sends no date with the rest can cause an error that
    /// is not detected: if its content has changed, parts of two different contents are joined. With such a server,
    /// verify a checksum of the content.
    public var trustsModificationDates: Bool

    /// Creates a resumption that keeps the received part in a file of your choice.
    ///
    /// - Parameters:
    ///   - partialFile: The file for the received part, in a folder that exists, and on the same volume as the target.
    ///     Two downloads cannot use the file at the same time: the second one fails with a `CocoaError` with the code
    ///     `fileLocking`.
    ///   - trustsModificationDates: Whether a date of the last modification suffices to continue a part: see the
    ///     property.
    public init(partialFile: URL, trustsModificationDates: Bool = false) {
        self.partialFile = partialFile
        self.trustsModificationDates = trustsModificationDates
    }

    /// Returns a resumption that keeps the received part in the folder of the target, in a file with the name of the
    /// target and an additional extension, such as `movie.mp4.partial`.
    ///
    /// - Parameters:
    ///   - file: The target of the download.
    ///   - trustsModificationDates: Whether a date of the last modification suffices to continue a part: see the
    ///     property.
    public static func beside(_ file: URL, trustsModificationDates: Bool = false) -> DownloadResumption {
        DownloadResumption(
            partialFile: file.appendingPathExtension("partial"),
            trustsModificationDates: trustsModificationDates
        )
    }

    /// The size of the received part in bytes, read from the file system at each access; `nil` if there is no received
    /// part that a later call can continue.
    public var receivedBytes: Int64? {
        guard let record, let size = OutputFile.size(ofRegularFile: partialFile.path), size > 0 else { return nil }
        let isContinued = trustsModificationDates || StrongValidator.isStrong(record.entity.validator)
        return isContinued ? size : nil
    }

    /// Removes the received part, so that the next download begins with the first byte. Do not call this function while
    /// a download uses the part.
    ///
    /// - Throws: The error of the file system. A part that does not exist is not an error.
    public func discard() throws {
        for file in [recordFile, partialFile] { try Self.remove(file) }
    }
}

extension DownloadResumption {
    /// The content of the file beside the received part, in JSON: the representation that the part belongs to, and the
    /// URL.
    struct Record: Codable, Hashable {
        var entity: DownloadStateMachine.Entity
        /// The fingerprint of the URL. The URL itself is not stored, since it may contain a credential.
        var url: String
    }

    private var recordFile: URL { partialFile.appendingPathExtension("resume") }

    /// The stored record; `nil` if there is none, or if it cannot be read.
    var record: Record? {
        OutputFile.content(ofRegularFile: recordFile.path)
            .flatMap { try? JSONDecoder().decode(Record.self, from: Data($0)) }
    }

    /// Stores a record, in one step. Called before the first byte of the representation is written to the part.
    func store(_ record: Record) throws {
        let content = try JSONEncoder().encode(record)
        try OutputFile.SystemError.ofFoundation(recordFile) { () throws(OutputFile.SystemError) in
            let file = try OutputFile(replacing: recordFile.path)
            do throws(OutputFile.SystemError) {
                let written = content.withUnsafeBytes { bytes in
                    Result { () throws(OutputFile.SystemError) in try file.write(bytes) }
                }
                try written.get()
            } catch {
                file.discard()
                throw error
            }
            try file.finish()
        }
    }

    /// Removes the record. Called before the part is changed to bytes that the record does not describe.
    func removeRecord() throws {
        try Self.remove(recordFile)
    }

    private static func remove(_ file: URL) throws {
        try OutputFile.SystemError.ofFoundation(file) { () throws(OutputFile.SystemError) in
            try OutputFile.remove(file.path)
        }
    }

    /// Returns the fingerprint of a URL: a hash of its text (FNV-1a) in hexadecimal digits. `nil` counts as an empty
    /// text. Unlike a hash of `Hasher`, the fingerprint is the same in each process.
    static func fingerprint(of url: URL?) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in (url?.absoluteString ?? "").utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return String(hash, radix: 16)
    }
}

/// The value of a `Content-Range` header, such as `bytes 5-9/10` (RFC 9110, 14.4).
struct ContentRange: Hashable {
    let first: Int64
    let last: Int64
    /// The length of the whole representation in bytes; `nil` if the server does not know it.
    let total: Int64?

    /// Reads the value of a `Content-Range` header; `nil` if it has no range of bytes, or if the numbers contradict
    /// each other.
    init?(_ text: String) {
        let words = text.split(whereSeparator: { $0 == " " || $0 == "\t" })
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let sides = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard sides.count == 2 else { return nil }
        let bounds = sides[0].split(separator: "-", omittingEmptySubsequences: false)
        guard bounds.count == 2, let first = Self.number(bounds[0]), let last = Self.number(bounds[1]), first <= last
        else { return nil }
        let total = Self.number(sides[1])
        guard total.map({ last < $0 }) ?? (sides[1] == "*") else { return nil }
        (self.first, self.last, self.total) = (first, last, total)
    }

    /// Reads a number that consists of digits only, without a sign; `nil` if the text is not such a number, or if it is
    /// too large for `Int64`.
    static func number(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }
}

/// Functions for strong validators: texts with which a server identifies the exact bytes of a representation, for
/// `If-Range` (RFC 9110, 13.1.5).
enum StrongValidator {
    /// The smallest difference, in seconds, between the `Date` and the `Last-Modified` of a response at which its
    /// `Last-Modified` is a strong validator (RFC 9110, 8.8.2.2). The representation then cannot have changed twice
    /// within the second of the last modification, even if two clocks of the server differ.
    static let leastAge: TimeInterval = 60

    /// Returns the strong validator of a response: its entity tag, if that is strong; for a response without an entity
    /// tag, the date of its last modification, if that is a strong validator. Otherwise `nil`: beside a weak entity
    /// tag, the date must not be used either.
    ///
    /// - Parameters:
    ///   - entityTag: The `ETag` header of the response; `nil` if there is none.
    ///   - lastModified: The `Last-Modified` header of the response; `nil` if there is none.
    ///   - date: The `Date` header of the response; `nil` if there is none. The last modification must be older by at
    ///     least ``leastAge``.
    static func of(entityTag: String?, lastModified: String?, date: String?) -> String? {
        if let entityTag { return isStrong(entityTag) ? entityTag : nil }
        guard let lastModified, let date, let modified = HTTPDate.parse(lastModified), let made = HTTPDate.parse(date),
            made.timeIntervalSince(modified) >= leastAge
        else { return nil }
        return lastModified
    }

    /// Returns whether a text is an entity tag that is not weak (RFC 9110, 8.8.3).
    static func isStrong(_ tag: String) -> Bool {
        tag.utf8.count >= 2 && tag.hasPrefix("\"") && tag.hasSuffix("\"")
            && tag.dropFirst().dropLast().utf8.allSatisfy { $0 > 0x20 && $0 != 0x22 && $0 != 0x7F }
    }
}
