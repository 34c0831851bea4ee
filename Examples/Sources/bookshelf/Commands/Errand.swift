import ArgumentParser
import Foundation
import TaskControl

/// The work of a command, in a lifetime that Ctrl-C ends.
///
/// The work has no reference to the errand, and the errand waits for the end of the work, including its cleanup.
actor Errand {
    enum Ending: Sendable {
        case done
        case failed(any Error)
        /// The work was interrupted by a signal, and reports its progress itself.
        case interrupted(by: Int32)
    }

    private let lifetime = AsyncLifetime(name: "errand")
    private var signal = SIGINT

    /// Runs the work, and waits for its end.
    ///
    /// - Parameters:
    ///   - announce: Reports that the work is being cancelled to the user who has pressed Ctrl-C.
    ///   - work: Cancelled by Ctrl-C.
    func run(
        announce: @escaping @Sendable (String) -> Void,
        _ work: @escaping @Sendable () async throws -> Void
    ) async -> Ending {
        let interruption = Interruption { [lifetime] signal in
            announce("cancelling; Ctrl-C again quits at once")
            // audit: allow dropped-task because a process that is being interrupted has no owner for it
            Task {
                await self.note(signal)
                await lifetime.shutdown(grace: .zero)
            }
        } onSecond: {
            TerminalMode.restore()
        }
        await interruption.waitUntilReady()
        let task = lifetime.run(for: self, name: "errand", work: work) { _, _ in
        } onError: { _, _ in
            // It is in the outcome.
        }
        let outcome = await task.value
        withExtendedLifetime(interruption) {}
        return switch outcome {
        case .delivered: .done
        case .failed(let error): .failed(error)
        case .cancelled, .ownerReleased, .duplicate: .interrupted(by: signal)
        @unknown default: .interrupted(by: signal)
        }
    }

    private func note(_ signal: Int32) {
        self.signal = signal
    }

    /// Runs the work, says how it ended, and ends the command with the exit code for that.
    ///
    /// - Parameters:
    ///   - server: The address of the server, for the text of an error.
    ///   - announce: Reports that the work is being cancelled.
    ///   - notDone: Returns the text to print after Ctrl-C; `nil` if all work was done nevertheless.
    ///   - work: Cancelled by Ctrl-C.
    static func run(
        server: URL,
        announce: @escaping @Sendable (String) -> Void = { Screen.messages.print("\n" + $0) },
        notDone: @escaping @Sendable () async -> String?,
        _ work: @escaping @Sendable () async throws -> Void
    ) async throws {
        switch await Errand().run(announce: announce, work) {
        case .done:
            // Results that did not arrive are not done.
            guard let code = Screen.output.failure() else { return }
            Screen.messages.complain("the results could not be written: \(String(cString: strerror(code)))")
            throw ExitCode.failure
        case .failed(let error as Unfinished):
            for complaint in error.report.complaints { Screen.messages.complain(complaint) }
            Screen.messages.print(error.report.sentence)
            throw ExitCode.failure
        case .failed(let error):
            Screen.messages.complain(Complaint(error, server: server).text)
            throw ExitCode.failure
        case .interrupted(let signal):
            guard let sentence = await notDone() else { return }
            Screen.messages.print(sentence)
            throw ExitCode(128 + signal)
        }
    }
}

extension Screen {
    func complain(_ text: String) { print(colored("bookshelf: ", .red) + text.printable) }
}

/// The error of a command that has not done all of its work.
struct Unfinished: Error {
    let report: BatchReport
}
