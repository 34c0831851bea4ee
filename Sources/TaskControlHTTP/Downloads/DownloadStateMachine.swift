/// The state of a download: the received part of the representation, and the position at which the next request
/// continues.
///
/// The owner of the state, ``Download``, writes the body of a response from the position of ``Answer/write(from:)`` on,
/// and calls ``begin()`` before it writes the first byte. Until then the state describes the unchanged file, since the
/// response may still be rejected.
struct DownloadStateMachine: Hashable {
    /// The representation that the received part belongs to, as the server has described it.
    struct Entity: Hashable, Codable {
        /// The strong validator, for `If-Range`: if the server has another representation by now, it sends the new
        /// representation as a whole.
        var validator: String
        /// The length of the representation in bytes; `nil` if it is not known.
        var length: Int64?
    }

    /// The headers and the status of a response that a download reads.
    struct Head: Hashable {
        var status: Int
        var contentRange: String?
        var contentLength: String?
        var entityTag: String?
        var lastModified: String?
        var date: String?
        /// Whether the body has a content coding, such as gzip. The download of such a body cannot be continued: the
        /// transport decodes the body, but a range counts the encoded bytes.
        var isEncoded = false
        /// Whether the server states that it does not serve ranges (`Accept-Ranges: none`).
        var refusesRanges = false

        /// The value of `contentLength`, in bytes; `nil` if there is none, or if it is not valid.
        var length: Int64? { contentLength.flatMap { ContentRange.number($0) } }
    }

    /// The action after the head of a response has arrived.
    enum Answer: Hashable {
        /// Writes the body from the given position in the file on, and removes the bytes that the file has after that
        /// position.
        case write(from: Int64)
        /// Sends the request again without a range, because the server cannot continue the download. Later requests of
        /// the download have no range either, until a body is written.
        case restart
        /// Writes nothing, because the body is not a part of the file's content.
        case refuse
    }

    /// The body of a response that may be written to the file, but is not being written yet. ``begin()`` replaces the
    /// state of the file by these values: the file then contains the `position` bytes before the body.
    private struct Body: Hashable {
        /// The representation that the body belongs to; `nil` if a download of this body could not be continued later.
        var entity: Entity?
        /// The position in the file of the first byte of the body.
        var position: Int64 = 0
        /// The position in the file after the last byte of the body; `nil` if it is not known.
        var end: Int64?
    }

    enum Ending: Hashable {
        case complete
        /// The body ended before the announced length.
        case cutShort
    }

    /// The representation of the received part; `nil` if the part cannot be continued.
    private(set) var entity: Entity?
    /// The number of bytes that the file contains.
    private(set) var received: Int64
    /// The position from which the current request asks for the body; `nil` if it asks for the whole body.
    private var requested: Int64?
    /// The position in the file after the last byte of the body that is being received; `nil` if it is not known.
    private var end: Int64?
    /// The body that the last response announces; `nil` once that body is being written, or when another request
    /// begins.
    private var answered: Body?
    /// Whether the server could not continue the received part, so that requests ask for the whole body.
    private var asksForEverything = false

    /// Whether a date of the last modification may be the validator of the received part.
    private let acceptsDates: Bool

    /// Creates the state of a download.
    ///
    /// - Parameters:
    ///   - entity: The representation of a part that was received before; `nil` if there is none.
    ///   - received: The number of bytes of that part. A negative number counts as 0.
    ///   - acceptsDates: Whether a date of the last modification may be the validator of a part. If `false`, a part
    ///     that has only a date is not continued.
    init(_ entity: Entity? = nil, received: Int64 = 0, acceptsDates: Bool = false) {
        let isAccepted = entity.map { acceptsDates || StrongValidator.isStrong($0.validator) } ?? false
        self.entity = isAccepted ? entity : nil
        self.received = max(0, received)
        self.acceptsDates = acceptsDates
    }

    /// Whether a later request can continue the received part.
    var canContinue: Bool { entity != nil && received > 0 }

    /// Begins a request.
    ///
    /// If the part is already complete, the request asks for its last byte again: a range after the end could not be
    /// satisfied, and the answer would not show whether the representation has changed. A part that is longer than its
    /// representation is discarded.
    ///
    /// - Returns: The position at which the request continues, in bytes, and the validator; `nil` if the request asks
    ///   for the whole body.
    mutating func request() -> (position: Int64, validator: String)? {
        end = nil
        answered = nil
        guard canContinue, let entity, !asksForEverything else { return nil }
        guard entity.length.map({ received <= $0 }) ?? true else {
            forget()
            return nil
        }
        let position = entity.length.map { min(received, $0 - 1) } ?? received
        requested = position
        return (position, entity.validator)
    }

    /// Returns what to do with the body of a response, when the head of the response has arrived.
    ///
    /// - Returns: The action for the body.
    mutating func answer(_ head: Head) -> Answer {
        let requested = requested.take()
        switch (head.status, requested) {
        case (416, .some):
            asksForEverything = true
            return .restart
        case (206, let position?):
            guard let range = ContentRange(head.contentRange ?? ""), continues(range, at: position, head) else {
                asksForEverything = true
                return .restart
            }
            answered = Body(entity: entity, position: position, end: range.last + 1)
            answered?.entity?.length = range.total
            return .write(from: position)
        case (206, nil):
            // A range that was not requested is not the whole content.
            return .refuse
        case (200..<300, .some) where !isCertainlyWhole(head):
            asksForEverything = true
            return .restart
        case (200..<300, _) where statesPart(head):
            return .refuse
        case (200..<300, _):
            answered = body(head)
            return .write(from: 0)
        default:
            return .refuse
        }
    }

    /// Returns whether a 206 response with the given head and range continues the received part. `position` is the
    /// position in the file, in bytes, from which the request asked for the body.
    private func continues(_ range: ContentRange, at position: Int64, _ head: Head) -> Bool {
        guard let entity, !head.isEncoded, range.first == position, let total = range.total else { return false }
        guard entity.length == nil || entity.length == total else { return false }
        if head.contentLength != nil, head.length != range.last - range.first + 1 { return false }
        // A server repeats the validators of the representation: different validators mean another representation.
        if let tag = head.entityTag { return tag == entity.validator }
        // A 206 must have the tag that the 200 had (RFC 9110, 15.3.7): without it, `If-Range` was perhaps ignored.
        if StrongValidator.isStrong(entity.validator) { return false }
        // The same section does not require the date in a response to `If-Range`.
        return head.lastModified == nil || head.lastModified == entity.validator
    }

    /// Returns whether the `Content-Range` of a response with a status other than 206 shows that the body is only a part
    /// of a representation. In such a response the header has no meaning (RFC 9110, 14.4), but servers that ought to
    /// send 206 send it.
    private func statesPart(_ head: Head) -> Bool {
        guard let range = head.contentRange.flatMap(ContentRange.init) else { return false }
        if range.first > 0 || range.total.map({ range.last < $0 - 1 }) == true { return true }
        return head.length.map { $0 - 1 != range.last } ?? false
    }

    /// Returns whether a response to a request for a range has the whole representation, although the server may have
    /// sent the wrong status: the representation is another one, or has the same length as the one that the received
    /// part belongs to.
    private func isCertainlyWhole(_ head: Head) -> Bool {
        guard let entity, !statesPart(head) else { return false }
        let isOther =
            StrongValidator.isStrong(entity.validator)
            ? head.entityTag.map { $0 != entity.validator && $0 != "W/" + entity.validator }
            : head.lastModified.map { $0 != entity.validator }
        return isOther == true || !head.isEncoded && head.length != nil && head.length == entity.length
    }

    /// Returns the body that a response with the whole representation announces. The body has no entity, and so cannot
    /// be continued, if it has a content coding, if the status is not 200, if the response has no strong validator, or
    /// if the server refuses ranges.
    private func body(_ head: Head) -> Body {
        guard head.status == 200, !head.isEncoded else { return Body() }
        let validator = StrongValidator.of(
            entityTag: head.entityTag,
            lastModified: acceptsDates ? head.lastModified : nil,
            date: head.date
        )
        guard let validator, !head.refusesRanges else { return Body() }
        return Body(entity: Entity(validator: validator, length: head.length), end: head.length)
    }

    /// Records that the body of the last response is being written from now on. The state then describes the
    /// representation of that body and its announced end, and the received part ends where the body begins. Called
    /// after ``answer(_:)`` has returned ``Answer/write(from:)``, and before the first byte is written.
    mutating func begin() {
        guard let body = answered.take() else { return }
        (entity, received, end, asksForEverything) = (body.entity, body.position, body.end, false)
    }

    /// Records that bytes of the body have arrived.
    ///
    /// - Parameter count: The number of bytes.
    /// - Returns: Whether the bytes belong to the body; `false` if the body is longer than announced.
    mutating func receive(_ count: Int64) -> Bool {
        if let end, received + count > end { return false }
        received += count
        return true
    }

    /// Returns whether the body that has ended is complete. A body whose length is not known is complete.
    func ending() -> Ending {
        // The length of the whole representation comes first: a server may send less than was requested.
        guard let last = entity?.length ?? end else { return .complete }
        return received < last ? .cutShort : .complete
    }

    /// Returns to the initial state, so that the next request asks for the whole body. Does not change the file.
    mutating func forget() {
        self = DownloadStateMachine(acceptsDates: acceptsDates)
    }
}
