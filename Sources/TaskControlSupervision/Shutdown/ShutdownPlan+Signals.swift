@preconcurrency internal import Dispatch

#if canImport(Darwin)
public import Darwin
#elseif canImport(Glibc)
public import Glibc
#elseif canImport(Musl)
public import Musl
#endif

extension ShutdownPlan {
    /// Waits until the process receives a signal, and then performs the steps: the last line of a server without another
    /// package for signals.
    ///
    /// ```swift
    /// let plan = ShutdownPlan(steps: [
    ///     .owner(requests, grace: .seconds(10)),
    ///     .operation("metrics", grace: .seconds(2)) { try await metrics.flush() },
    /// ])
    /// let report = await plan.run()       // until SIGTERM or SIGINT
    /// exit(report.failures.isEmpty ? 0 : 1)
    /// ```
    ///
    /// A second signal ends the graces (time limits) of the steps: the work of the current step is cancelled, and that of
    /// each later step when it begins.
    ///
    /// During the call, the signals do not end the process, and other handlers of the process are not called. Afterwards,
    /// the former handlers are set again. Only one call at a time should wait for a signal.
    ///
    /// ## Cancellation
    /// If the caller is cancelled, the plan begins at once, and its steps have no graces.
    ///
    /// - Parameter signals: The numbers of the signals, by default SIGTERM, which a system sends to a server that should
    ///   end, and SIGINT, which a terminal sends for Control-C.
    /// - Returns: The signal, and the steps that have failed.
    public func run(on signals: [Int32] = [SIGTERM, SIGINT]) async -> Report {
        let (received, continuation) = AsyncStream<Int32>.makeStream()
        let watch = SignalWatch(signals) { continuation.yield($0) }
        defer { watch.end() }
        var iterator = received.makeAsyncIterator()
        let signal = await iterator.next()
        // No child: the end of the graces is its cancellation.
        let shutdown = Task { () -> [ShutdownError.FailedStep] in
            do throws(ShutdownError) {
                try await self.shutdown()
                return []
            } catch {
                return error.failures
            }
        }
        let second = Task {
            for await _ in received { shutdown.cancel() }
        }
        defer { second.cancel() }
        let failures = await withTaskCancellationHandler {
            await shutdown.value
        } onCancel: {
            shutdown.cancel()
        }
        return Report(signal: signal, failures: failures)
    }

    /// The report of a plan that has run on a signal.
    public struct Report: Sendable, CustomStringConvertible {
        /// The signal after which the plan has begun; `nil` if the caller was cancelled before.
        public let signal: Int32?
        /// The steps that have failed, with what was cancelled and left behind, in the order of the plan.
        public let failures: [ShutdownError.FailedStep]

        /// A sentence with the signal and the failed steps.
        public var description: String {
            let reason = signal.map { "signal \($0)" } ?? "cancelled"
            if failures.isEmpty { return "\(reason): each step has succeeded" }
            return "\(reason): \(failures.map(\.description).joined(separator: "; "))"
        }
    }
}

/// Calls a closure for each signal that the process receives, in place of the handlers of the process.
private final class SignalWatch: Sendable {
    private let sources: [any DispatchSourceSignal]
    private let formerHandlers: [(signal: Int32, handler: sig_t?)]

    init(_ signals: [Int32], _ receive: @escaping @Sendable (Int32) -> Void) {
        let queue = DispatchQueue(label: "TaskControl: signals")
        var (sources, formerHandlers) = ([any DispatchSourceSignal](), [(signal: Int32, handler: sig_t?)]())
        for number in Set(signals) {
            // A source does not replace the handler.
            formerHandlers.append((number, signal(number, SIG_IGN)))
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { receive(number) }
            source.resume()
            sources.append(source)
        }
        (self.sources, self.formerHandlers) = (sources, formerHandlers)
    }

    func end() {
        for source in sources { source.cancel() }
        for (number, handler) in formerHandlers { _ = signal(number, handler) }
    }
}
