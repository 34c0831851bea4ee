import Foundation
import TestSupport
import Testing

@testable import TaskControlHTTP

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct DownloadStateMachineTests {
    /// A server of a representation of 3 bytes, in versions. A byte is its version and its position.
    private struct Server {
        var version = 0
        var isWeak = false
        static let length: Int64 = 3

        var tag: String { (isWeak ? "W/" : "") + "\"\(version)\"" }

        func content(from position: Int64 = 0) -> [[Int64]] { (position..<Self.length).map { [Int64(version), $0] } }

        /// The response of a server that follows the rules.
        func whole(length: Int64? = Server.length) -> DownloadStateMachine.Head {
            .init(status: 200, contentLength: length.map(String.init), entityTag: tag)
        }

        func range(_ first: Int64, _ last: Int64 = Server.length - 1, total: String = "3") -> DownloadStateMachine.Head
        {
            .init(status: 206, contentRange: "bytes \(first)-\(last)/\(total)", entityTag: tag)
        }
    }

    /// The behavior of a server for one request.
    private enum Behavior: CaseIterable {
        case proper, unknownLength, changed, weak
        case unsatisfiable, unavailable
        case wrongStart, otherTag, untagged, unknownTotal, otherTotal, encoded, noRange, shorterRange, tooMuch
        case ignoresRange, rejected
        // The rest, with the status 200: with a Content-Range, with a length, with neither, or without a tag.
        case restAs200, restAs200OfLength, restAs200OfUnknownLength, restAs200WithoutTag
    }

    /// A download into an array, in as many calls as it takes.
    private struct Driver: Hashable {
        var machine = DownloadStateMachine()
        var file: [[Int64]] = []
        var version = 0

        /// One attempt, of which the body breaks off after some bytes.
        mutating func attempt(_ behavior: Behavior, breakingAfter count: Int) {
            if behavior == .changed { version += 1 }
            let server = Server(version: version, isWeak: behavior == .weak)
            let asked = machine.request()
            if let asked {
                #expect(asked.position >= 0 && asked.position < Server.length)
                #expect(asked.position <= Int64(file.count), "no gap")
                #expect(!asked.validator.hasPrefix("W/"), "a weak validator is not sent")
            }
            let matches = asked?.validator == server.tag
            let (head, body) = response(
                behavior,
                server,
                asked.flatMap { matches ? $0.position : nil },
                asked?.position
            )
            switch machine.answer(head) {
            case .refuse:
                #expect(behavior == .unavailable)
                #expect(asked == nil || machine.canContinue, "the part is kept")
                return
            case .restart:
                #expect(asked != nil, "a request without a range does not restart")
                var next = machine
                #expect(next.request() == nil, "the next request asks for everything")
                #expect(machine.received == Int64(file.count), "the file is as it was")
                return
            case .write where behavior == .rejected:
                // The endpoint does not accept the response: the file is as it was.
                #expect(machine.received == Int64(file.count) || !machine.canContinue)
                return
            case .write(let position):
                #expect(position <= Int64(file.count))
                machine.begin()
                #expect(machine.received == position)
                file.removeSubrange(Int(position)...)
            }
            var isBroken = false
            for byte in body.prefix(count) {
                guard machine.receive(1) else {
                    #expect(behavior == .tooMuch)
                    machine.forget()
                    return
                }
                file.append(byte)
            }
            if count < body.count { isBroken = true }
            #expect(machine.received == Int64(file.count))
            if isBroken { return }
            if machine.ending() == .complete {
                #expect(Set(file.map(\.first)).count == 1, "one version: \(file)")
                #expect(file.map(\.last) == [0, 1, 2], "everything of it: \(file)")
                // The next download.
                self = Driver(version: version)
            } else {
                #expect(behavior == .shorterRange)
            }
        }

        private func response(
            _ behavior: Behavior,
            _ server: Server,
            _ position: Int64?,
            _ asked: Int64?
        ) -> (DownloadStateMachine.Head, [[Int64]]) {
            let whole = (server.whole(length: behavior == .unknownLength ? nil : Server.length), server.content())
            switch behavior {
            case .unavailable: return (.init(status: 503), [])
            case .unsatisfiable where asked != nil: return (.init(status: 416, contentRange: "bytes */3"), [])
            case .otherTag where asked != nil:
                // A server that ignores If-Range.
                let other = Server(version: server.version + 100)
                return (other.range(asked!), other.content(from: asked!))
            case .untagged where asked != nil:
                // As before, and the response has no tag that could contradict.
                let other = Server(version: server.version + 100)
                var head = other.range(asked!)
                head.entityTag = nil
                return (head, other.content(from: asked!))
            default: break
            }
            guard let position else { return whole }
            var head = server.range(position)
            var body = server.content(from: position)
            switch behavior {
            case .wrongStart: head = server.range(position == 0 ? 1 : position - 1)
            case .unknownTotal: head = server.range(position, total: "*")
            // Of a length that was unknown until then, any is believed.
            case .otherTotal where machine.entity?.length != nil: head = server.range(position, total: "4")
            case .encoded: head.isEncoded = true
            case .noRange: head.contentRange = nil
            case .shorterRange where position < 2:
                head = server.range(position, position)
                body.removeSubrange(1...)
            case .tooMuch: body.append([0, 9])
            case .ignoresRange: return whole
            case .restAs200: head.status = 200
            case .restAs200OfLength, .restAs200OfUnknownLength, .restAs200WithoutTag:
                head = server.whole(length: behavior == .restAs200OfUnknownLength ? nil : Server.length - position)
                if behavior == .restAs200WithoutTag { head.entityTag = nil }
            default: break
            }
            return (head, body)
        }

        /// A call ends, and the next one begins with what is kept.
        mutating func beginAnotherCall() {
            guard machine.canContinue else {
                machine = DownloadStateMachine()
                file = []
                return
            }
            machine = DownloadStateMachine(machine.entity, received: Int64(file.count))
        }
    }

    /// Sequences that lead to the same state continue as one.
    @Test func noSequenceOfAttemptsJoinsPartsOfTwoVersions() {
        var (frontier, seen): (Set<Driver>, Set<Driver>) = ([Driver()], [Driver()])
        for _ in 0..<5 {
            var next: Set<Driver> = []
            for driver in frontier {
                for behavior in Behavior.allCases {
                    for count in 0...4 {
                        var one = driver
                        one.attempt(behavior, breakingAfter: count)
                        next.insert(one)
                        one.beginAnotherCall()
                        next.insert(one)
                    }
                }
            }
            frontier = next.subtracting(seen)
            seen.formUnion(next)
        }
        #expect(seen.count > 50)
    }

    @Test func aProperServerContinuesWhereItBrokeOff() {
        var machine = DownloadStateMachine()
        #expect(machine.request() == nil)
        #expect(machine.answer(.init(status: 200, contentLength: "10", entityTag: "\"a\"")) == .write(from: 0))
        machine.begin()
        _ = machine.receive(4)
        let asked = machine.request()
        #expect(asked?.position == 4 && asked?.validator == "\"a\"")
        #expect(machine.answer(.init(status: 503)) == .refuse)
        #expect(machine.request()?.position == 4)
        #expect(machine.answer(.init(status: 206, contentRange: "bytes 4-9/10", entityTag: "\"a\"")) == .write(from: 4))
        machine.begin()
        _ = machine.receive(6)
        let fits = machine.receive(1)
        #expect(!fits)
        #expect(machine.ending() == .complete)
        // The file could not take its place: the last byte is asked for again.
        #expect(machine.request()?.position == 9)
        #expect(machine.answer(.init(status: 206, contentRange: "bytes 9-9/10", entityTag: "\"a\"")) == .write(from: 9))
        machine.begin()
        _ = machine.receive(1)
        #expect(machine.ending() == .complete)
    }

    @Test func aPartThatIsLargerThanTheRepresentationIsNotContinued() {
        var machine = DownloadStateMachine(.init(validator: "\"a\"", length: 10), received: 11)
        #expect(machine.request() == nil)
        #expect(!machine.canContinue)
        for (received, canContinue) in [(1, true), (0, false)] as [(Int64, Bool)] {
            let part = DownloadStateMachine(.init(validator: "\"a\"", length: 10), received: received)
            #expect(part.canContinue == canContinue)
        }
    }

    @Test func aPartThatWasNotAskedForIsRefused() {
        var machine = DownloadStateMachine()
        #expect(machine.request() == nil)
        #expect(machine.answer(.init(status: 206, contentRange: "bytes 0-1/9", entityTag: "\"a\"")) == .refuse)
    }

    @Test func onlyAWholeResponseInPlainBytesCanBeContinued() {
        for head in [
            DownloadStateMachine.Head(status: 200, entityTag: "W/\"a\""),
            .init(status: 200, entityTag: "\"a\"", isEncoded: true),
            .init(status: 200, entityTag: "\"a\"", refusesRanges: true),
            .init(status: 203, entityTag: "\"a\""), .init(status: 200),
        ] {
            var machine = DownloadStateMachine()
            #expect(machine.answer(head) == .write(from: 0))
            machine.begin()
            _ = machine.receive(5)
            #expect(!machine.canContinue && machine.ending() == .complete)
            #expect(machine.request() == nil)
        }
    }

    @Test func aDateIsAValidatorOnlyWithoutATagAndAfterAMinute() {
        let (old, new) = ("Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 21 Oct 2015 07:29:00 GMT")
        let almost = "Wed, 21 Oct 2015 07:28:59 GMT"
        #expect(StrongValidator.of(entityTag: nil, lastModified: old, date: new) == old)
        #expect(StrongValidator.of(entityTag: nil, lastModified: old, date: almost) == nil)
        #expect(StrongValidator.of(entityTag: nil, lastModified: old, date: nil) == nil)
        #expect(StrongValidator.of(entityTag: nil, lastModified: "yesterday", date: new) == nil)
        #expect(StrongValidator.of(entityTag: "W/\"a\"", lastModified: old, date: new) == nil)
        #expect(StrongValidator.of(entityTag: "\"a\"", lastModified: nil, date: nil) == "\"a\"")
        for tag in ["a", "\"", "\"a", "", "\"a\"b\"", "\"a b\"", "w/\"a\""] {
            #expect(!StrongValidator.isStrong(tag), "\(tag)")
        }

        var machine = DownloadStateMachine(.init(validator: old, length: 10), received: 5, acceptsDates: true)
        #expect(machine.request()?.validator == old)
        let range = "bytes 5-9/10"
        var other = machine
        #expect(other.answer(.init(status: 206, contentRange: range, lastModified: new)) == .restart)
        other = machine
        #expect(other.answer(.init(status: 206, contentRange: range, entityTag: "\"a\"")) == .restart)
        // A server need not repeat the date.
        other = machine
        #expect(other.answer(.init(status: 206, contentRange: range)) == .write(from: 5))
        #expect(machine.answer(.init(status: 206, contentRange: range, lastModified: old)) == .write(from: 5))
    }

    @Test func aDateIsAValidatorOnlyWhereItIsAccepted() {
        let (old, new) = ("Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 21 Oct 2015 07:29:00 GMT")
        for acceptsDates in [false, true] {
            var machine = DownloadStateMachine(acceptsDates: acceptsDates)
            _ = machine.request()
            let head = DownloadStateMachine.Head(status: 200, contentLength: "10", lastModified: old, date: new)
            #expect(machine.answer(head) == .write(from: 0))
            machine.begin()
            _ = machine.receive(5)
            #expect(machine.canContinue == acceptsDates)
            machine.forget()
            #expect(machine == DownloadStateMachine(acceptsDates: acceptsDates))
            let kept = DownloadStateMachine(.init(validator: old, length: 10), received: 5, acceptsDates: acceptsDates)
            #expect(kept.canContinue == acceptsDates)
        }
    }

    /// Answers to a request for the bytes from 4 on, of 10 bytes with the tag "a".
    @Test(
        arguments: [
            // The rest of the content, and not the whole.
            (DownloadStateMachine.Head(status: 200, contentRange: "bytes 4-9/10", entityTag: "\"a\""), .restart),
            (.init(status: 200, contentRange: "bytes 4-9/10"), .restart),
            (.init(status: 200, contentRange: "bytes 4-9/10", entityTag: "\"b\""), .restart),
            (.init(status: 200, contentRange: "bytes 0-5/10", contentLength: "6", entityTag: "\"b\""), .restart),
            (.init(status: 200, contentRange: "bytes 0-9/10", contentLength: "6", entityTag: "\"b\""), .restart),
            (.init(status: 200, contentLength: "6", entityTag: "\"a\""), .restart),
            (.init(status: 200, contentLength: "6", entityTag: "W/\"a\""), .restart),
            (.init(status: 200, contentLength: "6"), .restart), (.init(status: 200, entityTag: "\"a\""), .restart),
            (.init(status: 200, contentLength: "10, 6", entityTag: "\"a\""), .restart),
            (.init(status: 203, contentLength: "6", entityTag: "\"a\""), .restart), (.init(status: 204), .restart),
            (.init(status: 200, contentLength: "10", entityTag: "\"a\"", isEncoded: true), .restart),
            // The whole content.
            (.init(status: 200, contentLength: "10", entityTag: "\"a\""), .write(from: 0)),
            (.init(status: 200, contentLength: "10"), .write(from: 0)),
            (
                .init(status: 200, contentRange: "bytes 0-9/10", contentLength: "10", entityTag: "\"a\""),
                .write(from: 0)
            ),
            (.init(status: 200, contentLength: "6", entityTag: "\"b\""), .write(from: 0)),
            (.init(status: 200, entityTag: "\"b\"", isEncoded: true), .write(from: 0)),
            // A range whose length is another one than that of the body.
            (.init(status: 206, contentRange: "bytes 4-9/10", contentLength: "10", entityTag: "\"a\""), .restart),
            (.init(status: 206, contentRange: "bytes 4-9/10", contentLength: "6", entityTag: "\"a\""), .write(from: 4)),
        ] as [(DownloadStateMachine.Head, DownloadStateMachine.Answer)]
    )
    func aStatusIsBelievedAsFarAsTheHeadSupportsIt(
        _ head: DownloadStateMachine.Head,
        _ expected: DownloadStateMachine.Answer
    ) {
        var machine = DownloadStateMachine(.init(validator: "\"a\"", length: 10), received: 4)
        #expect(machine.request()?.position == 4)
        #expect(machine.answer(head) == expected)
        if expected == .restart { #expect(machine.request() == nil) }
    }

    /// Answers to a request without a range.
    @Test(
        arguments: [
            (DownloadStateMachine.Head(status: 200, contentRange: "bytes 4-9/10"), .refuse),
            (.init(status: 200, contentRange: "bytes 0-5/10"), .refuse),
            (.init(status: 200, contentRange: "bytes 0-9/10", contentLength: "6"), .refuse),
            (.init(status: 200, contentRange: "bytes 0-9223372036854775807/*", contentLength: "6"), .refuse),
            (.init(status: 203, contentRange: "bytes 4-9/10"), .refuse),
            (.init(status: 200, contentRange: "bytes 0-9/10", contentLength: "10"), .write(from: 0)),
            (.init(status: 200, contentRange: "bytes 0-9/*"), .write(from: 0)),
            (.init(status: 200, contentRange: "bytes */10", contentLength: "10"), .write(from: 0)),
            (.init(status: 200, contentRange: "chapters 2-3/9", contentLength: "10"), .write(from: 0)),
        ] as [(DownloadStateMachine.Head, DownloadStateMachine.Answer)]
    )
    func aPartIsNotWrittenAsTheWhole(_ head: DownloadStateMachine.Head, _ expected: DownloadStateMachine.Answer) {
        var machine = DownloadStateMachine()
        _ = machine.request()
        #expect(machine.answer(head) == expected)
    }

    @Test func rangesAreRead() {
        let range = ContentRange("bytes 5-9/10")
        #expect(range?.first == 5 && range?.last == 9 && range?.total == 10)
        #expect(ContentRange("Bytes  5-9/*").map { $0.total == nil } == true)
        for text in [
            "", "bytes", "bytes 5-9", "bytes */10", "bytes 9-5/10", "bytes 5-10/10", "bytes -5-9/10", "bytes +5-9/10",
            "items 5-9/10", "bytes 5-9/10/11", "bytes 5-9/ten", "bytes 5-99999999999999999999/*", "bytes=5-9/10",
            "bytes 5-9/10, 11-12/13",
        ] {
            #expect(ContentRange(text) == nil, "\(text)")
        }
    }
}
