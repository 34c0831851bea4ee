extension HTTPTransportRequest {
    /// The same request, with whatever body it has in `body`, and a method that has one.
    func normalized() -> HTTPTransportRequest {
        // To change a request copies it.
        if request.httpBody == nil, request.httpBodyStream == nil { return self }
        var normalized = self
        normalized.request.httpBody = nil
        normalized.request.httpBodyStream = nil
        if body == nil {
            if let data = request.httpBody {
                // Of nothing, a GET has no body, which Foundation would refuse.
                normalized.body = data.isEmpty ? nil : .data(data)
            } else if let stream = request.httpBodyStream {
                // The request's own: it is taken out of the copy above, and whoever made the request does not use it again.
                nonisolated(unsafe) let stream = stream
                normalized.body = .stream(stream)
            }
        }
        return normalized
    }
}
