// MARK: - Each paragraph of this file breaks a rule. scripts/check-language checks itself with the file, which is never compiled.

/// A flight that is shared with whoever asks for it.
func share() {}

/// Resumes those who wait.
func resume() {}

// The flight is cancelled: who comes later begins a new one.
let later = 0

/// Lets callers in, and who waits is resumed.
func open() {}

// Tasks may be added. One that is cancelled leaves.
let cancelled = 0

// Only the last caller cancels the work: it is the one.
let last = 0

/// The body is not what it was to be.
let body = 0

// What has finished is removed.
let finished = 0

/// A lock that nobody holds.
let lock = 0

/// The order of the tasks: which comes after whom.
let order = 0

/// The number that events know it by.
let number = 0

// The name of a task. As its description.
let name = 0

// The other form takes a key. The same.
let form = 0

/// Tells calls apart by their number.
func count() {}

/// The observers are told when a task ends.
func emit() {}

/// An observer that tells of events.
func observe() {}

/// The closure is handed the owner.
func deliver() {}

/// Observers hear of other errors only.
func hear() {}

/// Lets go of the handle.
func release() {}

/// The task goes on without its owner.
func detach() {}

/// The number of flights in the air.
let flights = 0

// A caller never joins a flight that is dying.
let dying = 0

/// The last caller takes the work along.
func leave() {}

/// The work, and the result that comes of it.
let work = 0

/// A permit is given back.
func unlock() {}

/// Mends the link.
func mend() {}

/// The errors of the transport, as `URLError`, are wrapped.
func wrap() {}

/// The table is empty but for one entry.
let table = 0

/// The task would wait for
/// ever.
func wait() {}

/// Begins anew.
func begin() {}

/// Checks the cancellation beforehand.
func check() {}

/// Throws `CancellationError`, in whatever words the task failed.
func fail() {}

/// The cost is of no account.
let cost = 0

/// Waits until so many tasks wait.
func waitForTasks() {}

// Cancelled at this very moment, it leaves.
let moment = 0

// The server is none the worse for that.
let server = 0

// The table grows by and by.
let growth = 0

/// Called once an attempt.
func attempt() {}

// The order is kept, hence no task overtakes.
let overtaken = 0

// Errors of Foundation, e.g. those of a session.
let errors = 0

/// The caller is to be resumed.
func park() {}

// If the task is to wait, it parks.
let parked = 0

/// The bytes that there are to send.
let bytes = 0

// Released outside the lock, by law 1.
let released = 0

func trap() {
    precondition(isParked, "whoever waits is parked")
    fatalError(
        "nobody waits, and \(count) calls are open",
    )
    let isOpen = true  // The gate, for those who wait.
}

@Test("The caller is told of the end")
func end() {}

/// Text before a block is checked, whoever reads it.
///
/// ```swift
/// log("whoever reads this")
/// ```
///
/// Nothing is kept: who comes later begins again.
func document() {}

/// A closure that cancels.
public init(_ cancel: () -> Void) {}

/// The next part, or `nil` after the last one.
@discardableResult
public mutating func next() -> Int {}

/// How long the limit was.
public var limit: Int

public enum Refused {
    /// It was cancelled.
    case cancelled
}

/// - Returns: What the operation returns.
func call() {}
