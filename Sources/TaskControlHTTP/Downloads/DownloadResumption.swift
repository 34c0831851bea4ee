/// A file that keeps the received part of an interrupted download, so that a later call requests only the rest.
///
/// ```swift
/// // The first call breaks off after 700 MB, or the process ends. The next one asks for the rest.
/// try await client.download(MovieEndpoint(id), to: movie, resuming: .beside(movie))
/// ```
///
/// A later call continues the download if the server has sent a strong validator with the received part: an entity tag
/// that is not weak, or, without any tag, a date of the last modification that is at least a minute older than the
/// response (RFC 9110, 8.8.2.2). If the content on the server has changed since then, the server sends the new content
/// as a whole, and the download begins again with its first byte.
///
/// Before the rest of a body is used, its validator is compared with that of the received part:
/// - If the received part has an entity tag, the rest must have the same tag. Otherwise the download begins again with
///   its first byte.
/// - If the received part has only a date, the rest must have the same date, or no date. So with a server that ignores
///   `If-Range` and sends no date, the comparison fails to detect a changed content, and the parts of two different
///   contents may be joined. With such a server, verify a checksum of the content, or do not use a resumption.
///
/// A second file beside ``partialFile``, with `.resume` after its name, contains the validator and a fingerprint of the
/// URL: a download of another URL begins with the first byte. When the download is complete, ``partialFile`` replaces
/// the target in one step, and the second file is removed. So ``partialFile`` must be on the same volume as the target.
///
/// The received part is not flushed to the disk, so a power failure may damage it: after a power failure, call
/// ``discard()`` before the next download.
public struct DownloadResumption: Sendable, Hashable {
    /// The location of the file that contains the received part.
    public let partialFile: URL

    /// Creates a resumption that keeps the received part in a file of your choice.
    ///
    /// - Parameter partialFile: The file for the received part, in a folder that exists, and on the same volume as the
    ///   target. Two downloads cannot use the file at the same time: the second one fails with a `CocoaError` with the
    ///   code `fileLocking`.
    public init(partialFile: URL) {
        self.partialFile = partialFile
    }

    /// Returns a resumption that keeps the received part beside the target, in a file with the name of the target and
    /// the extension `partial` after it, such as `movie.mp4.partial`.
    ///
    /// - Parameter file: The target of the download.
    public static func beside(_ file: URL) -> DownloadResumption {
        DownloadResumption(partialFile: file.appendingPathExtension("partial"))
    }

    /// The number of bytes that earlier calls have received; `nil` if there is no received part that a later call can
    /// continue. The number is read from the file system at each access.
    public var receivedBytes: Int64? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: partialFile.path)
        guard record != nil, let size = (attributes?[.size] as? NSNumber)?.int64Value, size > 0 else { return nil }
        return size
    }

    /// Removes the received part, so that the next download begins with the first byte. Do not call this function while a
    /// download uses the resumption.
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
        (try? Data(contentsOf: recordFile)).flatMap { try? JSONDecoder().decode(Record.self, from: $0) }
    }

    /// Stores a record, in one step. Called before the first byte of the representation is written to the part.
    func store(_ record: Record) throws {
        try JSONEncoder().encode(record).write(to: recordFile, options: .atomic)
    }

    /// Removes the record. Called before the part is changed to bytes that the record does not describe.
    func removeRecord() throws {
        try Self.remove(recordFile)
    }

    private static func remove(_ file: URL) throws {
        do {
            try FileManager.default.removeItem(at: file)
        } catch let error as CocoaError where error.code == .fileNoSuchFile {
            // The file does not exist.
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
