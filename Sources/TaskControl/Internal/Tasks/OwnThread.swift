private import CTaskControl

/// Runs a function on a thread of its own, which belongs to no pool. The thread ends when the function returns.
///
/// - Returns: Whether the thread was started. `false` in a simulation, which has one thread; if the system has no thread left; and on platforms other
///   than Linux and Apple's. `body` is then released.
package func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
    final class Body {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }
    if ProcessValues.ofSimulation != nil { return false }
    let context = Unmanaged.passRetained(Body(body))
    let isStarted = tc_startThread(
        { context in
            // Optional only on some platforms.
            let context: UnsafeMutableRawPointer? = context
            context.map { Unmanaged<Body>.fromOpaque($0).takeRetainedValue().run() }
            return nil
        },
        context.toOpaque()
    )
    if !isStarted { context.release() }
    return isStarted
}
