/// The function of a test in a form that a simulation can call. A trait may call the function only until the trait's
/// `provideScope` returns.
///
/// `withoutActuallyEscaping` cannot be used: it traps if anything still retains the function when it returns, and the
/// tasks of a failed seed do, since they stay suspended within the function forever. Therefore the function is stored
/// as the two words of its ABI, without being retained. The casts are from struct to struct, because a function that is
/// passed through a generic parameter is wrapped.
struct BorrowedFunction: @unchecked Sendable {
    // Sendable: the borrowed function is Sendable.

    typealias Function = @concurrent @Sendable () async throws -> Void

    private let code: UnsafeRawPointer
    private let context: UnsafeRawPointer?

    init(_ function: Function) {
        self = unsafeBitCast(Words(take: { $0 }), to: Taker.self).take(function)
    }

    /// Calls the function of the test. The trait's `provideScope` must not have returned.
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
