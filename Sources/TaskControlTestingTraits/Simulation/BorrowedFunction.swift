/// The function of a test, which a trait may call until it returns, and may not keep.
///
/// `withoutActuallyEscaping` would end the process: it insists that nothing holds the function in the end, and the tasks of a seed that failed do.
/// They are suspended within the function for good. So the function is kept in its form of the ABI, two words, and is not retained. The casts are
/// from struct to struct, since a function that passes through a generic one is wrapped.
struct BorrowedFunction: @unchecked Sendable {
    // Sendable: the function is.

    typealias Function = @concurrent @Sendable () async throws -> Void

    private let code: UnsafeRawPointer
    private let context: UnsafeRawPointer?

    init(_ function: Function) {
        self = unsafeBitCast(Words(take: { $0 }), to: Taker.self).take(function)
    }

    /// Calls the function, which must still be borrowed.
    @concurrent
    func callAsFunction() async throws {
        let caller = Caller { function in try await function() }
        try await unsafeBitCast(caller, to: CallerOfWords.self).call(self)
    }

    private struct Words {
        let take: @Sendable (BorrowedFunction) -> BorrowedFunction
    }

    private struct Taker {
        let take: @Sendable (Function) -> BorrowedFunction
    }

    private struct Caller {
        let call: @concurrent @Sendable (Function) async throws -> Void
    }

    private struct CallerOfWords {
        let call: @concurrent @Sendable (BorrowedFunction) async throws -> Void
    }
}
