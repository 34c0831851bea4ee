internal import Foundation
internal import _TaskControlShared

/// The output file of one call of ``EndpointClient/download(_:to:resuming:onProgress:)``, for all attempts of the call.
final class Download {
    private var machine: DownloadStateMachine
    private let target: URL
    private let resumption: DownloadResumption?
    /// The file that the body is written to: a temporary file, or the target itself if the target is not a regular
    /// file. `nil` before the first body is written or an earlier part is opened.
    private var output: OutputFile?
    /// The fingerprint of the URL of the first attempt (``DownloadResumption/fingerprint(of:)``); `nil` before that
    /// attempt.
    private var url: String?
    /// Whether the download never requests a range: the endpoint's request is not a GET, or has a `Range` or `If-Range`
    /// header of its own. The body of the response is then the content of the file.
    private var isWhole = false
    /// Whether this download has changed the output file.
    private var hasBegun = false

    init(to target: URL, _ resumption: DownloadResumption?) {
        self.target = target
        self.resumption = resumption
        machine = DownloadStateMachine(acceptsDates: resumption?.trustsModificationDates ?? false)
    }

    /// Whether another attempt can write the output again from its beginning. `false` for a device or a pipe.
    var canBeSentAgain: Bool { output?.hasDraft ?? true }

    /// Adds the headers with which the request of an attempt asks for the part of the body that has not been received
    /// yet. The first attempt opens the part that an earlier download has kept, if there is one.
    ///
    /// - Throws: The error of the file system.
    func prepare(_ request: inout URLRequest) throws {
        if url == nil { try open(request) }
        if isWhole { return }
        if let (position, validator) = machine.request() {
            request.setValue("bytes=\(position)-", forHTTPHeaderField: "Range")
            request.setValue(validator, forHTTPHeaderField: "If-Range")
            request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        } else if resumption != nil, request.value(forHTTPHeaderField: "Accept-Encoding") == nil {
            // A body with a content coding could not be continued later.
            request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        }
    }

    /// Records the URL of the first request and whether the download must not request ranges, checks the target, and opens
    /// the part that an earlier download has kept, if there is one. The download continues that part if it belongs to the
    /// same URL.
    private func open(_ request: URLRequest) throws {
        let fingerprint = DownloadResumption.fingerprint(of: request.url)
        url = fingerprint
        isWhole =
            request.httpMethod ?? "GET" != "GET" || request.value(forHTTPHeaderField: "Range") != nil
            || request.value(forHTTPHeaderField: "If-Range") != nil
        // Before anything is sent: the complete file could not be put in the place of a folder.
        try access { () throws(OutputFile.SystemError) in
            try OutputFile.check(target: target.path, hasDraft: resumption != nil && !isWhole)
        }
        guard !isWhole, let resumption, resumption.receivedBytes != nil else { return }
        let output = try makeOutput()
        let size = try access { () throws(OutputFile.SystemError) in try output.size() }
        // Read after the file is locked: before that, another download may have changed the record.
        if let record = resumption.record, record.url == fingerprint {
            let acceptsDates = resumption.trustsModificationDates
            machine = DownloadStateMachine(record.entity, received: size, acceptsDates: acceptsDates)
        }
    }

    private func makeOutput() throws -> OutputFile {
        if let output { return output }
        let made = try access { () throws(OutputFile.SystemError) in
            if let resumption, !isWhole {
                try OutputFile(target.path, draft: resumption.partialFile.path)
            } else {
                try OutputFile(target.path)
            }
        }
        output = made
        return made
    }

    /// Returns the action for the head of a response: write the body, send the request again, or write nothing.
    func answer(_ response: HTTPURLResponse) -> DownloadStateMachine.Answer {
        if isWhole { return (200..<300).contains(response.statusCode) ? .write(from: 0) : .refuse }
        return machine.answer(DownloadStateMachine.Head(response))
    }

    /// Returns the head that the endpoint validates, for the head of a response and the answer to it (``answer(_:)``).
    /// For a 206 response to a range that the download, and not the endpoint, has requested, this is the head of a 200
    /// response with the whole representation.
    func head(toValidate head: HTTPURLResponse, _ answer: DownloadStateMachine.Answer) -> HTTPURLResponse {
        guard !isWhole, head.statusCode == 206, case .write = answer else { return head }
        return head.ofWholeRepresentation
    }

    /// Begins to write a body to the file, and removes the bytes that the file has after the beginning of the body.
    ///
    /// - Parameter position: The position in the file of the first byte of the body, in bytes.
    /// - Throws: The error of the file system.
    func begin(at position: Int64) throws {
        let output = try makeOutput()
        hasBegun = true
        machine.begin()
        // The record always describes the representation that is in the file.
        if position == 0, !isWhole { try resumption?.removeRecord() }
        try access { () throws(OutputFile.SystemError) in try output.rewind(to: position) }
        if position == 0, !isWhole, let entity = machine.entity, let url {
            try resumption?.store(DownloadResumption.Record(entity: entity, url: url))
        }
    }

    func write(_ chunk: Data) throws {
        guard let output else { return }
        guard machine.receive(Int64(chunk.count)) else {
            machine.forget()
            throw EndpointError(.content, detail: "the body is longer than its Content-Range or Content-Length")
        }
        try access { () throws(OutputFile.SystemError) in
            let written = chunk.withUnsafeBytes { bytes in
                Result { () throws(OutputFile.SystemError) in try output.write(bytes) }
            }
            try written.get()
        }
    }

    /// Whether the body is complete: `false` if bytes of its announced length are missing. `true` if the length is not
    /// known, or if the download requests no ranges.
    var isComplete: Bool { isWhole || machine.ending() == .complete }

    /// Moves the complete file to the path of the target, and closes it. A target that was written to directly is only
    /// closed.
    ///
    /// - Throws: The error of the file system. In this case, a received part that can be continued is kept.
    func finish() throws {
        guard let output = output.take() else { return }
        guard !isWhole, let resumption else {
            return try access { () throws(OutputFile.SystemError) in try output.finish() }
        }
        // The lock of the part protects its record too, and is held until this function returns.
        defer { output.keep() }
        let record = resumption.record
        // Removed before the part is renamed: after that, another download may begin, and store a record of its own.
        try? resumption.removeRecord()
        do {
            try access { () throws(OutputFile.SystemError) in try output.putInPlace() }
        } catch {
            if let record { try? resumption.store(record) }
            throw error
        }
    }

    /// Closes the file after the download has failed. With a ``DownloadResumption``, keeps the received part if a later
    /// download can continue it, or if this download has not changed it. Otherwise removes the received part.
    func fail() {
        guard let output = output.take() else { return }
        if resumption != nil, !isWhole, machine.canContinue || !hasBegun { return output.keep() }
        if !isWhole { try? resumption?.removeRecord() }
        output.discard()
    }

    private func access<Value>(_ body: () throws(OutputFile.SystemError) -> Value) throws -> Value {
        try OutputFile.SystemError.ofFoundation(target, body)
    }
}

/// An error with which an attempt ends if the server cannot continue the download: the next request asks for the whole
/// body.
struct DownloadRestart: Error {}

extension DownloadStateMachine.Head {
    init(_ response: HTTPURLResponse) {
        self.init(
            status: response.statusCode,
            contentRange: response.singleValue("Content-Range"),
            contentLength: response.singleValue("Content-Length"),
            entityTag: response.singleValue("ETag"),
            lastModified: response.singleValue("Last-Modified"),
            date: response.singleValue("Date"),
            isEncoded: response.isContentEncoded,
            refusesRanges: response.singleValue("Accept-Ranges")?.lowercased() == "none"
        )
    }
}

extension HTTPURLResponse {
    /// The head of a 200 response with the whole representation, made from this head of a 206 response: without
    /// `Content-Range`, and with the length of the whole representation as `Content-Length`, if it is known.
    fileprivate var ofWholeRepresentation: HTTPURLResponse {
        var headers: [String: String] = [:]
        for (name, value) in allHeaderFields {
            if let name = name as? String, let value = value as? String { headers[name] = value }
        }
        headers = headers.filter { !["content-range", "content-length"].contains($0.key.lowercased()) }
        if let total = singleValue("Content-Range").flatMap(ContentRange.init)?.total {
            headers["Content-Length"] = String(total)
        }
        guard let url else { return self }
        return HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: headers) ?? self
    }
}
