import Foundation
import TaskControlTesting
import Testing

@testable import outage

#if canImport(FoundationXML)
import FoundationXML
#endif

@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported))
struct PictureTests {
    @Test func theSVGIsWellFormedAndHasALineForEachStrategyInEachPanel() throws {
        let text = SVGChart(outage: try Self.outage.get()).text
        let reader = Reader()
        let parser = XMLParser(data: Data(text.utf8))
        parser.delegate = reader
        #expect(parser.parse(), "\(String(describing: parser.parserError))")
        for strategy in Strategy.allCases { #expect(reader.lines["curve \(strategy)"] == 2) }
        #expect(reader.root["viewBox"]?.hasPrefix("0 0 960 ") == true)
        #expect(text.contains("prefers-color-scheme: dark"))
        #expect(!text.contains("http://www.w3.org/1999/xlink") && !text.contains("<script"))
    }

    @Test func whatIsWrittenIntoASVGIsEscaped() {
        let element = SVGElement("text", ["class": "a\"b"], text: "1 < 2 & 3 > 2")
        #expect(element.lines == ["<text class=\"a&quot;b\">1 &lt; 2 &amp; 3 &gt; 2</text>"])
        #expect(SVGElement("g", [:], [SVGElement("rect")]).lines == ["<g>", "  <rect/>", "</g>"])
    }

    @Test(arguments: [40, 80, 100, 120])
    func noLineIsWiderThanTheTerminal(width: Int) throws {
        let outage = try Self.outage.get()
        let chart = TerminalChart(outage: outage, terminal: Terminal(width: width, hasColors: false))
        let lines = outage.results.flatMap { chart.lines(for: $0) }
        #expect(lines.allSatisfy { $0.count <= width })
        #expect(lines.contains { $0.count >= width - 2 })
        guard width >= Terminal.plain.width else { return }
        #expect(outage.text(on: Terminal(width: width, hasColors: false)).allSatisfy { $0.count <= width })
    }

    @Test func thereAreColorsOnlyWhereTheyAreWanted() throws {
        let outage = try Self.outage.get()
        let (plain, colored) = (Terminal.plain, Terminal(width: 80, hasColors: true))
        #expect(outage.text(on: plain).allSatisfy { !$0.contains("\u{1B}") })
        let stripped = outage.text(on: colored).map { $0.replacing(/\u{1B}\[\d+m/, with: "") }
        #expect(outage.text(on: colored) != stripped)
        #expect(stripped == outage.text(on: plain))
    }

    @Test func theTableLinesUp() throws {
        let lines = Table(outage: try Self.outage.get()).lines
        #expect(lines.count == 1 + Strategy.allCases.count)
        #expect(Set(lines.map(\.count)).count == 1)
    }

    private static let outage = Result { try Outage(Scenario(clients: 1_000, seed: 1)) }

    private final class Reader: NSObject, XMLParserDelegate {
        var root: [String: String] = [:]
        var lines: [String: Int] = [:]

        func parser(
            _ parser: XMLParser,
            didStartElement name: String,
            namespaceURI: String?,
            qualifiedName: String?,
            attributes: [String: String]
        ) {
            if name == "svg" { root = attributes }
            if name == "polyline" { lines[attributes["class"] ?? "", default: 0] += 1 }
        }
    }
}
