import ArgumentParser
import Dispatch
import Foundation
import Support
import TaskControl

/// The work of a command, in a lifetime that Ctrl-C ends.
enum Errand {
    /// Runs the work, waits for its end with its cleanup, says how it ended, and ends the command with the exit code for that.
    ///
    /// `notDone` returns the text to print after Ctrl-C; `nil` if all work was done nevertheless.
    static func run(
        server: URL,
        notDone: @escaping @Sendable () async -> String?,
        _ work: @escaping @Sendable () async throws -> Void
    ) async throws {
        let lifetime = AsyncLifetime(name: "errand")
        let interruption = Interruption { _ in
            Terminal.complain("cancelling; Ctrl-C again quits at once")
            lifetime.cancelAll()
        }
        await interruption.waitUntilReady()
        let failure = Observed<(any Error)?>(nil)
        let task = lifetime.addTask(name: "work") {
            do { try await work() } catch { failure.update { $0 = error } }
        }
        await task.value
        if let signal = interruption.signal {
            guard let sentence = await notDone() else { return }
            Terminal.complain(sentence)
            throw ExitCode(128 + signal)
        }
        guard let error = failure.value else { return }
        Terminal.complain(complaint(error, server: server))
        throw ExitCode.failure
    }
}

/// The error of a command that has not done all of its work.
struct Unfinished: Error, CustomStringConvertible {
    let description: String
}

/// A handler of the signals of Ctrl-C and of supervisors: the first signal asks the program to end, the second signal ends it.
final class Interruption: Sendable {
    private let first = Observed<Int32?>(nil)
    // Never changed; a source can be used from any thread, and does not say so.
    private nonisolated(unsafe) let sources: [any DispatchSourceSignal]
    private let registrations = Observed(0)

    /// Handles signals from now on. `quit` ends the process: `exit` would run the handlers that other code has registered, and wait for them.
    init(
        onFirst: @escaping @Sendable (_ signal: Int32) -> Void,
        quit: @escaping @Sendable (_ code: Int32) -> Void = { _exit($0) }
    ) {
        let queue = DispatchQueue(label: "bookshelf.interruption")
        let numbers = [SIGINT, SIGTERM]
        sources = numbers.map { number in
            #if canImport(Darwin)
            // A source only looks on. Elsewhere it takes the signal itself, and to ignore it would be to take it away again.
            Foundation.signal(number, SIG_IGN)
            #endif
            return DispatchSource.makeSignalSource(signal: number, queue: queue)
        }
        for (source, number) in zip(sources, numbers) {
            source.setEventHandler { [first] in
                if first.value != nil { return quit(128 + number) }
                first.update { $0 = number }
                onFirst(number)
            }
            source.setRegistrationHandler { [registrations] in registrations.update { $0 += 1 } }
            source.resume()
        }
    }

    /// The first signal that has come.
    var signal: Int32? { first.value }

    /// Waits until signals are heard: a source is registered some time after it was resumed.
    func waitUntilReady() async { try? await registrations.wait { [count = sources.count] in $0 == count } }

    deinit { for source in sources { source.cancel() } }
}
