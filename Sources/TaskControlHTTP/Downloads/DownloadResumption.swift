/// A file that keeps the received part of a download that breaks off, so that a later call continues there.
///
/// ```swift
/// // The first call breaks off after 700 MB, or the process ends. The next one asks for the rest.
/// try await client.download(MovieEndpoint(id), to: movie, resuming: .beside(movie))
/// ```
///
/// A download continues if the server has sent a strong validator: an entity tag that is not weak, or, without any tag, a
/// date of the last modification that is at least a minute older than the response (RFC 9110, 8.8.2.2). If the server has
/// another representation by then, it sends that representation as a whole, and the download begins with its first byte.
///
/// A part of a representation with an entity tag is joined only with a rest that has the same tag. A rest without a tag is
/// not used: the download begins with its first byte. For a representation that has only a date, a rest with another date
/// is not used, but a rest without a date is used: if a server ignores `If-Range` and sends no date, parts of two
/// representations are joined. Use such a server with a checksum of the content, or without a resumption.
///
/// Beside the file, a file with `.resume` after its name contains the validator and a fingerprint of the URL: a download
/// of another URL begins again. When the download is complete, the part replaces the target in one step, and both files
/// are removed. So the part must be on the volume of the target.
///
/// The part is not synchronized with the disk: after a power failure, call ``discard()`` before the next download.
public struct DownloadResumption: Sendable, Hashable {
    /// The location of the file that contains the received part.
    public let partialFile: URL

    /// Creates a resumption with a file of its own.
    ///
    /// - Parameter partialFile: The file of the received part, on the volume of the target, in a folder that exists. Two
    ///   downloads cannot use it at the same time: the second one fails with a `CocoaError` of the code `fileLocking`.
    public init(partialFile: URL) {
        self.partialFile = partialFile
    }

    /// Returns a resumption whose file is beside the target, and has `.partial` after its name.
    ///
    /// - Parameter file: The target of the download.
    public static func beside(_ file: URL) -> DownloadResumption {
        DownloadResumption(partialFile: file.appendingPathExtension("partial"))
    }

    /// The number of bytes that earlier calls have received; `nil` if there is nothing to continue.
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
    /// The content of the file beside the received part: the representation that the part belongs to, and the URL.
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
            // There was none.
        }
    }

    /// Returns the fingerprint of a URL (FNV-1a), which is the same in each process, unlike the hash of `Hasher`.
    static func fingerprint(of url: URL?) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in (url?.absoluteString ?? "").utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return String(hash, radix: 16)
    }
}
