import Foundation
import Testing

@testable import bookshelf

@Suite(.timeLimit(.minutes(15)))
struct ProgressLineTests {
    private let line = ProgressLine(name: "dune.png", sent: 1_234_567, total: 3_300_000)

    @Test(arguments: [
        (0, ""), (3, ""), (4, "37 %"), (5, " 37 %"), (10, "du…   37 %"), (20, "dune.png   37 %"),
        (40, "dune.png      [███·······]   37 %"),
        (80, "dune.png              [████████················]   37 %    1.2 of 3.3 MB"),
        (200, "dune.png" + String(repeating: " ", count: 44) + "[████████················]   37 %    1.2 of 3.3 MB"),
    ])
    func aLineHasTheRoomThatThereIs(width: Int, text: String) {
        #expect(line.text(width: width) == text)
    }

    @Test func noLineIsEverWiderThanTheTerminal() {
        let names = [
            "", "a", "dune.png", String(repeating: "long ", count: 40) + ".png", "我是猫我是猫我是猫我是猫.png", "🐈🐈🐈.gif",
        ]
        for name in names {
            for done in [Int64(0), 1, 999, 1_000, 500_000_000, 1_000_000_000] {
                for width in 0...250 {
                    let text = ProgressLine(name: name, sent: done, total: 1_000_000_000).text(width: width)
                    #expect(text.columns <= width, "\(name), \(done), \(width)")
                }
            }
        }
    }

    @Test(arguments: [
        (0, 0, 0), (0, 10, 0), (1, 1_000, 0), (500, 1_000, 50), (1_000, 1_000, 99), (2_000, 1_000, 99),
    ])
    func aHundredPercentIsWhatHasArrived(sent: Int, total: Int, percent: Int) {
        var line = ProgressLine(name: "", sent: Int64(sent), total: Int64(total))
        #expect(line.percent == percent)
        line.isDone = true
        #expect(line.percent == 100)
    }

    @Test func whatSomebodyElseNamedCannotMoveTheCursor() {
        #expect("a\u{1B}[2Jb\n".printable == "a\u{FFFD}[2Jb\u{FFFD}")
        #expect("我 🐈".columns == 5)
        #expect("我是猫".cut(to: 5) == "我是…")
        #expect("我是猫".cut(to: 4) == "我…")
        #expect("ab".fitted(to: 4) == "ab  ")
    }
}

@Suite(.timeLimit(.minutes(15)))
struct LiveRegionTests {
    private let size = Screen.Size(width: 20, height: 5)

    @Test func linesAreDrawnOverThoseThatWereThere() {
        var region = LiveRegion()
        #expect(region.draw(["a", "b"], size: size) == "a\nb\n")
        #expect(region.draw(["a", "b"], size: size) == "")
        #expect(region.draw(["a", "c"], size: size) == "\r\u{1B}[2A\u{1B}[Ja\nc\n")
        #expect(region.draw(["a"], above: ["done"], size: size) == "\r\u{1B}[2A\u{1B}[Jdone\na\n")
        #expect(region.clear(size: size) == "\r\u{1B}[1A\u{1B}[J")
        #expect(region.clear(size: size) == "")
    }

    @Test func aTerminalThatBecameNarrowerHasMoreRowsToClear() {
        var region = LiveRegion()
        _ = region.draw([String(repeating: "x", count: 19), "y"], size: size)
        let narrow = Screen.Size(width: 10, height: 5)
        #expect(region.draw(["z"], size: narrow) == "\r\u{1B}[3A\u{1B}[Jz\n")
    }

    @Test func moreLinesThanTheTerminalHasAreNotDrawn() {
        var region = LiveRegion()
        #expect(region.draw((1...9).map { "\($0)" }, size: size) == "6\n7\n8\n9\n")
        #expect(region.draw(["1"], size: Screen.Size(width: 0, height: 0)).hasSuffix("\u{1B}[J"))
    }
}

@Suite(.timeLimit(.minutes(15)))
struct BookTableTests {
    @Test func aLongTitleDoesNotFillUpTheOthers() {
        let long = String(repeating: "long ", count: 20_000)
        let titles = ["Emma", "Persuasion", long]
        let books = titles.enumerated().map { Book(id: $0, title: $1, author: "Jane Austen", year: nil, cover: nil) }
        #expect(
            BookTable.lines(books, width: nil) == [
                "0  Emma        Jane Austen", "1  Persuasion  Jane Austen", "2  \(long)  Jane Austen",
            ]
        )
        #expect(BookTable.lines(books, width: 40).allSatisfy { $0.columns <= 40 })
    }

    @Test func aTableIsCutInATerminalAndWholeInAFile() {
        let books = [
            Book(id: 9, title: "我是猫", author: "夏目漱石", year: 1905),
            Book(
                id: 10,
                title: "Emma\u{7}",
                author: "Jane Austen",
                year: nil,
                cover: Cover(size: 12, checksum: Checksum())
            ),
        ]
        #expect(
            BookTable.lines(books, width: nil)
                == [" 9  我是猫  夏目漱石, 1905", "10  Emma\u{FFFD}   Jane Austen, cover of 12 bytes"]
        )
        #expect(BookTable.lines(books, width: 14) == [" 9  我是猫  …", "10  Emma\u{FFFD}   J…"])
        #expect(BookTable.lines([], width: 10) == [])
    }
}
