import Foundation
import TestSupport
import Testing

@testable import TaskControlHTTP

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct LineStateMachineTests {
    /// The lines of all of the bytes at once, by another way: CRLF and CR become LF first.
    private func expected(_ text: [UInt8]) -> [[UInt8]] {
        var plain: [UInt8] = []
        for (index, byte) in text.enumerated() {
            if byte == 10, index > 0, text[index - 1] == 13 { continue }
            plain.append(byte == 13 ? 10 : byte)
        }
        var lines = plain.split(separator: 10, omittingEmptySubsequences: false).map(Array.init)
        if lines.last == [] { lines.removeLast() }
        return lines
    }

    private func lines(_ chunks: [[UInt8]]) throws -> [[UInt8]] {
        var machine = LineStateMachine(limit: nil)
        var lines: [[UInt8]] = []
        for chunk in chunks { lines += try machine.receive(chunk) }
        if let last = machine.finish() { lines.append(last) }
        #expect(machine.finish() == nil)
        return lines
    }

    /// All texts of up to six of CR, LF and a letter, in all ways to cut them into two chunks, and byte by byte.
    @Test func allShortTextsAtAllBoundaries() throws {
        var texts: [[UInt8]] = [[]]
        for _ in 0..<6 { texts += texts.flatMap { text in [13, 10, 97].map { text + [$0] } } }
        for text in Set(texts) {
            let expected = expected(text)
            for cut in 0...text.count {
                #expect(try lines([Array(text[..<cut]), [], Array(text[cut...])]) == expected)
            }
            #expect(try lines(text.map { [$0] }) == expected)
        }
    }

    @Test func aLineOverTheLimitThrows() throws {
        var machine = LineStateMachine(limit: 3)
        #expect(try machine.receive(Array("abc\nabc\r\n".utf8)).count == 2)
        #expect(try machine.receive(Array("ab".utf8)) == [])
        #expect(throws: LineStateMachine.LineTooLong()) { try machine.receive(Array("cd".utf8)) }
    }
}
