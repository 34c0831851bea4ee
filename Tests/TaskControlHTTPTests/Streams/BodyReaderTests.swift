import Foundation
import TestSupport
import Testing

@testable import TaskControlHTTP

@Suite(.timeLimit(.minutes(15)))
struct BodyReaderTests {
    /// If the removal of a part moved all others, the full size would take hours.
    @Test(.tags(.large)) func aPeekedBodyOfManySmallPartsIsReadInLinearTime() async throws {
        let count = fullSize(3_000_000, inDebug: 20_000)
        var sent = 0
        let body = HTTPResponseBody {
            defer { sent += 1 }
            return sent < count ? Data([UInt8(truncatingIfNeeded: sent)]) : nil
        }
        let reader = BodyReader(body, nil)
        #expect(try await reader.peek(count).count == count)
        var read = 0
        while let chunk = try await reader.next() {
            guard chunk.first == UInt8(truncatingIfNeeded: read) else { break }
            read += 1
        }
        #expect(read == count)
    }
}
