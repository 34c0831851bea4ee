import Foundation
import Testing

@testable import bookshelf

@Suite(.timeLimit(.minutes(15)))
struct ModelTests {
    @Test func aChecksumIsThatOfTheBytesWhateverThePieces() {
        var checksum = Checksum()
        for piece in ["foo", "", "bar"] { checksum.update(piece.utf8) }
        #expect(checksum == Checksum("foobar".utf8))
        #expect(checksum.description == "85944171f73967e8")
        #expect(Checksum().description == "cbf29ce484222325")
    }
}
