import Dispatch
import Foundation

/// A handler of the signals of Ctrl-C and of supervisors: the first signal asks the program to end, the second signal ends it.
final class Interruption: Sendable {
    private let queue = DispatchQueue(label: "bookshelf.interruption")
    // Only on `queue`: the sources' handlers run there.
    private nonisolated(unsafe) var count = 0
    // Never changed; a source can be used from any thread, and does not say so.
    private nonisolated(unsafe) let sources: [any DispatchSourceSignal]
    private let registrations: AsyncStream<Void>

    /// Handles signals from now on.
    ///
    /// - Parameters:
    ///   - onFirst: Called once, from a thread of its own, with the first signal.
    ///   - onSecond: Puts the terminal in order; then the process ends.
    ///   - quit: Ends the process. `exit` would run the handlers that other code has registered, and wait for them.
    init(
        onFirst: @escaping @Sendable (_ signal: Int32) -> Void,
        onSecond: @escaping @Sendable () -> Void,
        quit: @escaping @Sendable (_ code: Int32) -> Void = { _exit($0) }
    ) {
        let (registrations, registered) = AsyncStream<Void>.makeStream()
        self.registrations = registrations
        sources = [SIGINT, SIGTERM].map { [queue] number in
            #if canImport(Darwin)
            // A source only looks on. Elsewhere it takes the signal itself, and to ignore it would be to take it away again.
            signal(number, SIG_IGN)
            #endif
            return DispatchSource.makeSignalSource(signal: number, queue: queue)
        }
        for (source, number) in zip(sources, [SIGINT, SIGTERM]) {
            source.setEventHandler { [weak self] in
                guard let self else { return }
                count += 1
                if count == 1 { return onFirst(number) }
                onSecond()
                quit(128 + number)
            }
            source.setRegistrationHandler { registered.yield() }
            source.resume()
        }
    }

    /// Waits until signals are heard: a source is registered some time after it was resumed. For one caller, once.
    func waitUntilReady() async {
        var rest = sources.count
        for await _ in registrations {
            rest -= 1
            if rest == 0 { return }
        }
    }

    deinit {
        for source in sources { source.cancel() }
    }
}
