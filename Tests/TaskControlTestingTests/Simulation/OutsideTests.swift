#if os(Linux)
import Dispatch
import Foundation
import FoundationNetworking
import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// A call that makes something outside the simulation work ends the seed at once, by name, whatever its result is.
@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported))
struct OutsideTests {
    private func expectEscape(
        by call: String,
        _ program: @escaping @Sendable () -> Void,
        location: SourceLocation = #_sourceLocation
    ) {
        let failure = failure { _ in
            await Task(name: "worker") { program() }.value
        }
        guard case .escaped(let what) = failure?.reason else {
            Issue.record("\(failure.map { "\($0)" } ?? "it passed")", sourceLocation: location)
            return
        }
        #expect(what.hasPrefix("#1 worker called \(call), which "), "\(what)", sourceLocation: location)
    }

    private static let queue = DispatchQueue(label: "outside")

    @Test func queues() {
        let (queue, group) = (Self.queue, DispatchGroup())
        expectEscape(by: "dispatch_async") { queue.async {} }
        expectEscape(by: "dispatch_async") { DispatchQueue.main.async {} }
        expectEscape(by: "dispatch_barrier_async") { queue.async(flags: .barrier) {} }
        expectEscape(by: "dispatch_after") { queue.asyncAfter(deadline: .now() + 0.01) {} }
        expectEscape(by: "dispatch_group_async") { queue.async(group: group) {} }
        expectEscape(by: "dispatch_group_notify") { group.notify(queue: queue) {} }
        expectEscape(by: "dispatch_apply") { DispatchQueue.concurrentPerform(iterations: 2) { _ in } }
        expectEscape(by: "dispatch_source_create") { DispatchSource.makeTimerSource().activate() }
        expectEscape(by: "dispatch_async") { OperationQueue().addOperation {} }
    }

    @Test func threads() {
        expectEscape(by: "pthread_create") { Thread.detachNewThread {} }
    }

    @Test func runLoops() {
        expectEscape(by: "CFRunLoopAddTimer") {
            _ = Timer.scheduledTimer(withTimeInterval: 0.01, repeats: false) { _ in }
        }
        expectEscape(by: "CFRunLoopPerformBlock") { RunLoop.main.perform {} }
        expectEscape(by: "CFRunLoopAddTimer") {
            let loop = RunLoop.current
            loop.add(Timer(timeInterval: 1, repeats: true) { _ in }, forMode: .default)
            loop.run(until: .now + 3)
        }
    }

    @Test func theRestOfTheWorld() {
        expectEscape(by: "connect") {
            let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr()
            _ = connect(file, &address, 0)
            close(file)
        }
        expectEscape(by: "poll") {
            var file = pollfd(fd: 0, events: 0, revents: 0)
            _ = poll(&file, 1, 0)
        }
        expectEscape(by: "posix_spawn") {
            var process: pid_t = 0
            _ = posix_spawn(&process, "/nothing/of/that/name", nil, nil, [nil], [nil])
        }
        let session = URLSession(configuration: .ephemeral)
        let failure = failure { _ in _ = try? await session.data(from: URL(string: "http://127.0.0.1:1/")!) }
        guard case .escaped = failure?.reason else { Issue.record("\(failure as Any)"); return }
    }

    @Test func socketsAndPipes() {
        let pipes = OpenPipes()
        expectEscape(by: "write") { _ = write(pipes.pipe[1], [1], 1) }
        expectEscape(by: "read") { _ = read(pipes.pipe[0], &pipes.byte, 1) }
        expectEscape(by: "write") { _ = write(pipes.sockets[1], [1], 1) }
        expectEscape(by: "writev") {
            withUnsafeMutablePointer(to: &pipes.byte) { byte in
                var part = iovec(iov_base: byte, iov_len: 1)
                _ = writev(pipes.sockets[1], &part, 1)
            }
        }
        expectEscape(by: "readv") {
            withUnsafeMutablePointer(to: &pipes.byte) { byte in
                var part = iovec(iov_base: byte, iov_len: 1)
                _ = readv(pipes.sockets[0], &part, 1)
            }
        }
        expectEscape(by: "write") {
            var one: UInt64 = 1
            _ = write(pipes.event, &one, 8)
        }
    }

    private final class OpenPipes: @unchecked Sendable {
        var pipe: [Int32] = [0, 0], sockets: [Int32] = [0, 0]
        let event: Int32
        var byte: UInt8 = 0

        init() {
            // Not part of the module of the C library.
            typealias MakeEvent = @convention(c) (UInt32, Int32) -> Int32
            event = unsafeBitCast(dlsym(nil, "eventfd"), to: MakeEvent.self)(0, 0)
            _ = Glibc.pipe(&pipe)
            _ = socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &sockets)
        }

        deinit { for file in pipe + sockets + [event] { close(file) } }
    }

    @Test func filesAndWhatTheProgramPrintsAreNoEscape() throws {
        let path = "/tmp/TaskControl-\(UUID().uuidString)"
        defer { unlink(path) }
        try simulate(seeds: 0..<5) { sim in
            let file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0o600)
            defer { close(file) }
            sim.expect(write(file, [7], 1), equals: 1)
            lseek(file, 0, SEEK_SET)
            var byte: UInt8 = 0
            sim.expect(read(file, &byte, 1), equals: 1)
            sim.expect(byte, equals: 7)
            _ = write(STDERR_FILENO, "", 0)
            FileHandle.standardOutput.write(Data())
        }
    }

    @inline(never) private static func startsAThread() { Thread.detachNewThread {} }

    @Test func theMessageNamesTheFunctionOfTheProgram() throws {
        let failure = try #require(failure { _ in Self.startsAThread() })
        guard case .escaped(let what) = failure.reason else { Issue.record("\(failure)"); return }
        #expect(
            what.hasPrefix("#0 body called pthread_create, which makes another thread work, called by static "),
            "\(what)"
        )
        #expect(what.contains("OutsideTests.startsAThread()"), "\(what)")
        #expect(failure.description.contains("sim.outside { … }"))
    }

    @Test func harmlessCallsCanBeExempted() throws {
        let before = Date()
        try simulate(seeds: 0..<20, checksDeterminism: true) { sim in
            let isReal = sim.outside { Date() < before + 3_600 }
            sim.expect(isReal, "the clock is that of the system")
            sim.outside { Thread.detachNewThread {} }
            #expect(throws: CocoaError.self) {
                try sim.outside { () throws(CocoaError) in throw CocoaError(.fileNoSuchFile) }
            }
            try await Task.sleep(for: .seconds(1))
            sim.expect(sim.now, equals: .seconds(1))
            sim.expect(Date() > before + 3_600)
        }
        let failure = try #require(
            failure { sim in
                sim.outside {}
                Self.startsAThread()
            }
        )
        guard case .escaped = failure.reason else { Issue.record("\(failure)"); return }
    }

    /// In each of these a thread outside answers in real time, to a program that has a virtual time limit or none.
    @Test func whoAnswersAndWhenIsOfNoAccount() {
        for delay in [0, 10, 300] {
            let failure = failure { _ in
                await withTaskGroup { group in
                    group.addTask(name: "asks") {
                        await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
                            Self.queue.asyncAfter(deadline: .now() + .milliseconds(delay)) { continuation.resume() }
                        }
                    }
                    group.addTask { try? await Task.sleep(for: .seconds(5)) }
                    await group.next()
                }
            }
            guard case .escaped(let what) = failure?.reason else { Issue.record("\(failure as Any)"); continue }
            #expect(what.contains("asks called dispatch_after, which makes another thread work"))
        }
    }

    @Test func aThreadThatIsStillAtWorkAtTheEndIsAnEscape() {
        let gate = DispatchSemaphore(value: 0)
        expectEscape(by: "pthread_create") { Thread.detachNewThread { gate.wait() } }
        gate.signal()
    }

    @Test func aThreadThatWritesWhatTheProgramPollsIsAnEscape() {
        let failure = failure { _ in
            let isDone = Locked(false)
            Thread.detachNewThread { isDone.withLock { $0 = true } }
            while !isDone.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
        }
        #expect("\(failure as Any)".contains("#0 body called pthread_create, which makes another thread work"))
    }

    /// Whatever runs in place needs no other thread.
    @Test func whatStaysOnTheThreadIsNoEscape() throws {
        let semaphore = DispatchSemaphore(value: 0)
        try simulate(seeds: 0..<10) { sim in
            let queue = DispatchQueue(label: "inside")
            sim.expect(queue.sync { 1 } == 1)
            sim.expect(queue.sync(flags: .barrier) { 2 } == 2)
            semaphore.signal()
            semaphore.wait()
            sim.expect(semaphore.wait(timeout: .now()) == .timedOut)
            let group = DispatchGroup()
            group.enter()
            group.leave()
            group.wait()
            NSCondition().broadcast()
            sim.expect(Date().timeIntervalSince1970 > 0)
        }
    }

    /// A thread that is about to wait may have been woken: what is unknown is said.
    @Test func aDeadlockAfterAWakeUpSaysSo() throws {
        for isWaking in [false, true] {
            let failure = try #require(
                failure { _ in
                    if isWaking { NSCondition().broadcast() }
                    await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                }
            )
            guard case .deadlock = failure.reason else { Issue.record("\(failure)"); return }
            #expect(failure.description.contains("a thread outside the simulation may have been woken") == isWaking)
        }
    }

    // MARK: Waits that would block

    @Test func aWaitWithALimitIsAnEscape() {
        expectEscape(by: "dispatch_semaphore_wait") {
            _ = DispatchSemaphore(value: 0).wait(timeout: .now() + 3_600)
        }
        expectEscape(by: "dispatch_group_wait") {
            let group = DispatchGroup()
            group.enter()
            _ = group.wait(timeout: .now() + 3_600)
            group.leave()
        }
        expectEscape(by: "pthread_cond_timedwait") {
            let condition = NSCondition()
            condition.lock()
            _ = condition.wait(until: .now + 3_600)
            condition.unlock()
        }
    }

    /// The thread waits for the condition, since it has released the lock.
    @Test func wakingAThreadIsAnEscape() {
        let (condition, isWaiting, isWanted) = (NSCondition(), DispatchSemaphore(value: 0), Locked(false))
        Thread.detachNewThread {
            condition.lock()
            isWaiting.signal()
            while !isWanted.withLock({ $0 }) { condition.wait() }
            condition.unlock()
        }
        isWaiting.wait()
        expectEscape(by: "pthread_cond_signal") {
            condition.lock()
            isWanted.withLock { $0 = true }
            condition.signal()
            condition.unlock()
        }
    }
}
#endif
