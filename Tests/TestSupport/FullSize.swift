/// Returns the size of a test: the full size in an optimized build, and a smaller size in a debug build, which is about ten times as slow.
///
/// `scripts/tests schedules` runs the tests with the tags `.machine`, `.schedules` and `.large` in an optimized build, so the full size is
/// checked there. Use it for a depth, a number of tasks or a number of rounds:
///
///     let steps = TurnDriver(capacity: 1).playEverySequence(upTo: fullSize(14, inDebug: 13)) { … }
///
/// Use ``Schedules`` for the seeds of a test.
package func fullSize<Size>(_ full: Size, inDebug small: Size) -> Size {
    #if DEBUG
    small
    #else
    full
    #endif
}
