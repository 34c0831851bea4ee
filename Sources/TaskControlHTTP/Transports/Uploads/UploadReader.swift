internal import Foundation
internal import _TaskControlShared

/// An object that reads the body of an upload, part by part, and checks that the body has the announced length.
///
/// It is Sendable because only one thread uses an instance at a time.
final class UploadReader: @unchecked Sendable {
    private enum Source {
        case data(Data)
        case file(FileHandle)
        case stream(InputStream)
    }

    /// The announced length in bytes; `nil` if it is not known.
    let length: Int64?

    /// The number of bytes that have been read so far.
    private(set) var sent: Int64 = 0

    private var source: Source

    /// The object that is informed if the file or the stream fails; `nil` if there is none.
    private let fault: UploadFault?

    /// Opens the file or the stream of a body.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - fault: The object that is informed if the file or the stream fails, now or later; `nil` for none.
    /// - Throws: The error of opening it, for example if the file does not exist, or if the stream has been sent already.
    init(_ body: UploadEndpointBody, _ fault: UploadFault?) throws {
        self.fault = fault
        (source, length) = try fault.opening { try Self.open(body) }
    }

    private static func open(_ body: UploadEndpointBody) throws -> (Source, length: Int64?) {
        switch body {
        case .data(let data):
            return (.data(data), Int64(data.count))
        case .file(let url):
            // Not by Foundation, which waits for the other end if the file has become a pipe meanwhile.
            let descriptor = try OutputFile.SystemError.ofFoundation(url, isReading: true) {
                () throws(OutputFile.SystemError) in try OutputFile.open(regularFile: url.path)
            }
            let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            let length = Int64(clamping: try file.seekToEnd())
            try file.seek(toOffset: 0)
            return (.file(file), length)
        case .stream(let upload):
            let stream = try upload.open()
            stream.open()
            return (.stream(stream), upload.length)
        }
    }

    deinit {
        switch source {
        case .data: break
        case .file(let file): try? file.close()
        case .stream(let stream): stream.close()
        }
    }

    /// Reads the next bytes of the body into a buffer. Blocks the thread while the file or the stream does.
    ///
    /// - Returns: The number of bytes that were read; 0 at the end of the body.
    /// - Throws: The error of reading; ``Mismatch`` if the body is longer or shorter than announced. For a file, the
    ///   announced length is that of the time at which it was opened.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        try fault.reading { try checkedRead(into: buffer) }
    }

    private func checkedRead(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        let count = try readOn(into: buffer)
        sent += Int64(count)
        if let length, count == 0 ? sent < length : sent > length { throw Mismatch(length: length) }
        return count
    }

    private func readOn(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        switch source {
        case .data(let data):
            let part = data.dropFirst(Int(sent)).prefix(buffer.count)
            return part.copyBytes(to: buffer)
        case .file(let file):
            let wanted = min(Int64(buffer.count), (length ?? .max) - sent)
            guard wanted > 0, let data = try file.read(upToCount: Int(wanted)) else { return 0 }
            return data.copyBytes(to: buffer)
        case .stream(let stream):
            guard let start = buffer.baseAddress else { return 0 }
            let count = stream.read(start.assumingMemoryBound(to: UInt8.self), maxLength: buffer.count)
            guard count >= 0 else { throw stream.streamError ?? CocoaError(.fileReadUnknown) }
            return count
        }
    }

    /// The error of a body that is longer or shorter than announced.
    struct Mismatch: Error, CustomStringConvertible {
        let length: Int64

        var description: String {
            "The body of this upload does not have the declared length of \(length) bytes. Declare its exact length, or none."
        }
    }
}

extension UploadFault? {
    fileprivate func opening<Value>(_ open: () throws -> Value) rethrows -> Value {
        try self?.opening(open) ?? open()
    }

    fileprivate func reading<Value>(_ read: () throws -> Value) rethrows -> Value {
        try self?.reading(read) ?? read()
    }
}
