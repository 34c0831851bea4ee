import Dispatch
import Foundation
import TaskControlHTTP
import TaskControlTesting
import TestSupport
import Testing

@testable import _TaskControlShared

/// Several writers of one part, of which one at a time has its lock.
@Suite(.timeLimit(.minutes(15)))
struct PartLockTests: DownloadSuite {
    private func write(_ bytes: [UInt8], to file: OutputFile) throws {
        try bytes.withUnsafeBytes { try file.write($0) }
    }

    @Test func writersOfOnePartNeverChangeAFinishedFileOrThePartOfAnother() async throws {
        try await withFile { file, resumption in
            let content = [UInt8](repeating: 7, count: 100)
            let part = resumption.partialFile.path
            let running = Locked(2)
            try await offThePool {
                DispatchQueue.concurrentPerform(iterations: 3) { index in
                    if index == 2 {
                        while running.withLock(\.self) > 0 {
                            guard let data = try? Data(contentsOf: file) else { continue }
                            #expect(data.count == content.count)
                        }
                        return
                    }
                    defer { running.withLock { $0 -= 1 } }
                    for round in 0..<rounds(1_000) {
                        guard let output = try? OutputFile(file.path, draft: part) else { continue }
                        do {
                            try output.rewind(to: 0)
                            try write(content, to: output)
                            if round % 3 == 0 { output.discard() } else { try output.finish() }
                        } catch {
                            Issue.record(error)
                        }
                    }
                }
            }
        }
    }

    @Test func aPartThatTookItsPlaceBeforeItsLockWasTakenIsOpenedAgain() async throws {
        try await withFile { file, resumption in
            let part = resumption.partialFile.path
            let first = try OutputFile(file.path, draft: part)
            let second = try OutputFile.openPart(part)
            try first.finish()
            #expect(try !OutputFile.lock(second, at: part), "it is the finished file")
            _ = close(second)
        }
    }

    @Test func aPartThatWasRemovedBeforeItsLockWasTakenIsOpenedAgain() async throws {
        try await withFile { file, resumption in
            let part = resumption.partialFile.path
            let first = try OutputFile(file.path, draft: part)
            let second = try OutputFile.openPart(part)
            first.discard()
            #expect(try !OutputFile.lock(second, at: part))
            let third = try OutputFile.openPart(part)
            #expect(try !OutputFile.lock(second, at: part), "another file has its name")
            #expect(try OutputFile.lock(third, at: part))
            for file in [second, third] { _ = close(file) }
        }
    }

    #if os(Linux)
    /// Another process that this one is creating has a copy of each descriptor until it executes its program.
    @Test(arguments: [true, false]) func aClosedPartIsNotLockedByACopyOfItsDescriptor(_ isKept: Bool) async throws {
        try await withFile { file, resumption in
            let part = resumption.partialFile.path
            let first = try OutputFile(file.path, draft: part)
            let descriptor = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").first {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == part
            }
            let copy = dup(CInt(try #require(descriptor.flatMap { Int($0) })))
            defer { _ = close(copy) }
            if isKept { first.keep() } else { first.discard() }
            try OutputFile(file.path, draft: part).discard()
            #expect(copy >= 0)
        }
    }
    #endif

    @Test func aFileInItsPlaceIsLockedUntilItIsClosed() async throws {
        try await withFile { file, resumption in
            let output = try OutputFile(file.path, draft: resumption.partialFile.path)
            try output.putInPlace()
            let error = #expect(throws: OutputFile.SystemError.self) {
                try OutputFile(file.path + ".other", draft: file.path)
            }
            #expect(error?.code == EWOULDBLOCK)
            output.keep()
            try OutputFile(file.path + ".other", draft: file.path).keep()
        }
    }
}
