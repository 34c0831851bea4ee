/// The received part of a download, and the position at which the next request continues.
///
/// The file is changed as the machine answers: a body is written from the position of ``Answer/write(from:)`` on, after
/// ``begin()``. Until then the machine describes the file as it is: a response may still be rejected.
struct DownloadStateMachine: Hashable {
    /// The representation that the received part belongs to.
    struct Entity: Hashable, Codable {
        /// The strong validator: a server that has another representation sends that one as a whole.
        var validator: String
        /// The length of the representation, if it is known.
        var length: Int64?
    }

    /// The part of a response's head that a download reads.
    struct Head: Hashable {
        var status: Int
        var contentRange: String?
        var contentLength: String?
        var entityTag: String?
        var lastModified: String?
        var date: String?
        /// Whether the body has a content coding, which the transport decodes: ranges would be of the coded bytes.
        var isEncoded = false
        /// Whether the server says that it does not serve ranges.
        var refusesRanges = false
    }

    /// The action for a response.
    enum Answer: Hashable {
        /// Write the body at this position, and remove the bytes behind it.
        case write(from: Int64)
        /// The server cannot continue. Send the request again: no later request of this call has a range, until a body
        /// is written.
        case restart
        /// The response has no content for the file.
        case refuse
    }

    /// A body that may be written: the file as ``begin()`` leaves it.
    private struct Body: Hashable {
        var entity: Entity?
        var position: Int64 = 0
        /// The position behind the last byte of the body, if it is known.
        var end: Int64?
    }

    enum Ending: Hashable {
        case complete
        /// The body ended before the length that was announced.
        case cutShort
    }

    /// `nil`: the received part cannot be continued.
    private(set) var entity: Entity?
    /// The number of bytes in the file.
    private(set) var received: Int64
    /// The position that the running request asks for.
    private var requested: Int64?
    /// The position behind the last byte of the running body, if it is known.
    private var end: Int64?
    /// The body of the last response, until it is written or another request begins.
    private var answered: Body?
    /// Whether the server could not continue the received part.
    private var asksForEverything = false

    /// Creates a download of which a part may have been received.
    init(_ entity: Entity? = nil, received: Int64 = 0) {
        self.entity = entity
        self.received = max(0, received)
    }

    /// Whether a later request can continue.
    var canContinue: Bool { entity != nil && received > 0 }

    /// Begins a request. Returns the position at which it continues, and the validator; `nil`: it asks for everything.
    ///
    /// Of a part that is complete, the last byte is asked for once more: a range behind the end could not be satisfied,
    /// and whether the representation is still the same would stay unknown.
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

    /// Decides about a response when its head has arrived.
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
            // A part that was not asked for is not the content.
            return .refuse
        case (200..<300, _):
            answered = body(head)
            return .write(from: 0)
        default:
            return .refuse
        }
    }

    /// Whether a 206 continues the received part.
    private func continues(_ range: ContentRange, at position: Int64, _ head: Head) -> Bool {
        guard let entity, !head.isEncoded, range.first == position, let total = range.total else { return false }
        guard entity.length == nil || entity.length == total else { return false }
        // A server repeats the validators of the representation. Others are of another one.
        if let tag = head.entityTag { return tag == entity.validator }
        // A 206 must have the tag that the 200 had (RFC 9110, 15.3.7): without it, `If-Range` was perhaps ignored.
        if StrongValidator.isStrong(entity.validator) { return false }
        // Of the date, the same section asks nothing of an answer to `If-Range`.
        return head.lastModified == nil || head.lastModified == entity.validator
    }

    /// Returns the body of a whole representation.
    private func body(_ head: Head) -> Body {
        guard head.status == 200, !head.isEncoded else { return Body() }
        let length = head.contentLength.flatMap { ContentRange.number($0) }
        let validator = StrongValidator.of(entityTag: head.entityTag, lastModified: head.lastModified, date: head.date)
        guard let validator, !head.refusesRanges else { return Body() }
        return Body(entity: Entity(validator: validator, length: length), end: length)
    }

    /// Begins to write the body of the response that was answered with ``Answer/write(from:)``: from here on the file is
    /// changed.
    mutating func begin() {
        guard let body = answered.take() else { return }
        (entity, received, end, asksForEverything) = (body.entity, body.position, body.end, false)
    }

    /// A part of the body has arrived. Returns whether it belongs to the body: a range has no more than it announces.
    mutating func receive(_ count: Int64) -> Bool {
        if let end, received + count > end { return false }
        received += count
        return true
    }

    /// The body has ended.
    func ending() -> Ending {
        // A server may send less than was asked for.
        guard let last = entity?.length ?? end else { return .complete }
        return received < last ? .cutShort : .complete
    }

    /// Drops the received part.
    mutating func forget() {
        self = DownloadStateMachine()
    }
}
