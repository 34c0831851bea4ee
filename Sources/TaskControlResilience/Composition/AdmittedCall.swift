internal import TaskControl

/// The record of a call: its admission by the breaker, and its time.
@usableFromInline
package struct _CallRecord: Sendable {
    /// The admission by the breaker; `nil` before the breaker has admitted the call.
    var admission: CircuitBreaker.Pass?
    /// Whether the breaker has refused the call or one of its attempts, so that no further attempt follows.
    var isRefused = false
    /// Whether the outcome of the call was reported to the breaker, which is then not asked again.
    var isReported = false
    var time = CallTime()

    init() {}
}

/// The record of a call, as its attempts change it: the value itself if they run one after the other, an object if they
/// run at the same time.
@usableFromInline
package protocol _AdmittedCall: Sendable {
    mutating func change<Result>(_ body: (inout _CallRecord) -> Result) -> Result
}

extension _CallRecord: _AdmittedCall {
    @usableFromInline
    @inline(__always)
    package mutating func change<Result>(_ body: (inout _CallRecord) -> Result) -> Result { body(&self) }
}

/// The record of a call whose attempts run at the same time.
@usableFromInline
package final class _SharedCall: _AdmittedCall {
    private let record: Locked<_CallRecord>

    package init(_ record: _CallRecord = _CallRecord()) { self.record = Locked(record) }

    /// Creates the record of a call whose attempts may run at the same time from now on.
    @usableFromInline
    package convenience init(of call: _PolicyCall) { self.init(call.record) }

    /// Returns the record to a call whose attempts have ended.
    @usableFromInline
    package func move(to call: inout _PolicyCall) {
        call.record = record.withLock { $0 }
    }

    @usableFromInline
    package func change<Result>(_ body: (inout _CallRecord) -> Result) -> Result {
        record.withLock(body)
    }
}
