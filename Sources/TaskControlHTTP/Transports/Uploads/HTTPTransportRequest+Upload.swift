internal import Foundation

extension HTTPTransportRequest {
    /// Checks the request, and returns it in the form that the transports of this package need. A body is moved to
    /// ``body``, the headers `Content-Length` and `Transfer-Encoding` are removed, since the transport sets them
    /// itself, header values that consist of whitespace become empty, and the scheme of the URL is in lower case.
    ///
    /// - Throws: The error of ``check()``.
    func normalized() throws -> HTTPTransportRequest {
        try check()
        var normalized = self
        if let url = request.url?.withLowercaseScheme { normalized.request.url = url }
        for name in ["Content-Length", "Transfer-Encoding"] where request.value(forHTTPHeaderField: name) != nil {
            normalized.request.setValue(nil, forHTTPHeaderField: name)
        }
        // Both values are equal when sent, but libcurl omits a header whose value consists of blanks.
        for (name, value) in request.allHTTPHeaderFields ?? [:] where !value.isEmpty && value.allSatisfy(\.isWhitespace)
        {
            normalized.request.setValue("", forHTTPHeaderField: name)
        }
        if case .data(let data) = body, data.isEmpty, request.isGET { normalized.body = nil }
        // Changing a request copies it.
        if request.httpBody == nil, request.httpBodyStream == nil {
            normalized.recordUploadFaults()
            return normalized
        }
        normalized.request.httpBody = nil
        normalized.request.httpBodyStream = nil
        if body == nil {
            if let data = request.httpBody {
                // Empty data counts as no body: Foundation would refuse a GET with a body.
                normalized.body = data.isEmpty ? nil : .data(data)
            } else if let stream = request.httpBodyStream {
                // The stream of the request: it was removed from the copy above, and the code that made the request
                // does not use it again.
                nonisolated(unsafe) let stream = stream
                normalized.body = .stream(stream)
            }
        }
        normalized.recordUploadFaults()
        return normalized
    }

    private mutating func recordUploadFaults() {
        if uploadFault == nil { uploadFault = UploadFault.record(for: body) }
    }

    /// Opens the body for reading.
    ///
    /// - Returns: The reader of the body; `nil` if there is no body.
    /// - Throws: The error of opening it.
    func openBody() throws -> UploadReader? { try body.map { try UploadReader($0, uploadFault) } }

    /// Throws if the request is one that network libraries would drop, misread or send in another form.
    ///
    /// - Throws: ``EndpointError`` with the reason ``EndpointError/Reason/request``.
    func check() throws {
        let method = request.httpMethod ?? "GET"
        guard HeaderField.isToken(method) else { throw HeaderField.invalidMethod(method) }
        for (name, value) in request.allHTTPHeaderFields ?? [:] {
            guard HeaderField.isToken(name) else { throw HeaderField.invalidName(name) }
            guard HeaderField.isValid(value: value) else { throw HeaderField.invalidValue(of: name) }
        }
        if request.isGET, hasBody {
            throw EndpointError(
                .request,
                detail:
                    "a GET request cannot have a body, which URLSession refuses and servers ignore: use POST, or the query of the URL"
            )
        }
        if case .file(let file) = body, file.path.utf8.contains(0) {
            throw EndpointError(.request, detail: "the path of the upload's file contains NUL, which ends a path")
        }
        if case .file(let file) = body, !file.mayBeRegularFile {
            throw EndpointError(
                .request,
                detail:
                    "the upload's file \"\(file.path)\" is not a regular file, and has no length: send it with .stream(length:open:)"
            )
        }
    }

    private var hasBody: Bool {
        switch body {
        case .data(let data): !data.isEmpty
        case .file, .stream: true
        case nil: request.httpBody?.isEmpty == false || request.httpBodyStream != nil
        }
    }
}

extension URLRequest {
    fileprivate var isGET: Bool { httpMethod?.uppercased() ?? "GET" == "GET" }
}

extension URL {
    /// Whether the URL leads to a regular file or to no file. (If there is no file, the error of opening it states that.)
    fileprivate var mayBeRegularFile: Bool {
        var status = stat()
        guard isFileURL, stat(path, &status) == 0 else { return true }
        return status.st_mode & S_IFMT == S_IFREG
    }
}
