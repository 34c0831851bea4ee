internal import TaskControl

extension TraceModel {
    /// Writes the model as an HTML page: the constant parts of the page, and between them the data as JSON in an element that is not executed as a
    /// script.
    func writePage<Failure: Error>(title: String, to text: inout TraceText<Failure>) throws(Failure) {
        text.put(TracePage.head)
        try writeData(title: title, to: &text)
        text.put(TracePage.tail)
    }

    /// Writes the data of the page as JSON. Bars are arrays, and their texts are indices into a table that follows the bars. `Page/data.js` reads
    /// this format.
    private func writeData<Failure: Error>(title: String, to text: inout TraceText<Failure>) throws(Failure) {
        var table = TextTable()
        text.put(#"{"title":"#)
        text.putQuoted(title)
        text.put(#","lost":"#)
        text.put(lost)
        text.put(#","events":"#)
        text.put(eventCount)
        text.put(#","length":"#)
        text.put(length)
        text.put(",\"groups\":[")
        for (index, group) in groups.enumerated() {
            text.put(index == 0 ? "\n[" : ",\n[")
            text.putQuoted(group.primitive.rawValue)
            text.put(",")
            text.putQuoted(group.name ?? "")
            text.put(",")
            text.putQuoted(group.owner?.description ?? "")
            text.put(",")
            text.put(group.laneCount)
            text.put(",[")
            for (index, mark) in group.marks.enumerated() {
                text.putMark(mark, &table, isFirst: index == 0)
                try text.handOnIfFull()
            }
            text.put("],[")
            for bar in group.bars {
                text.putBar(bars[bar], &table, isFirst: bar == group.bars.lowerBound)
                try text.handOnIfFull()
            }
            text.put("]]")
        }
        text.put("],\n\"texts\":[")
        for (index, string) in table.texts.enumerated() {
            if index > 0 { text.put(",") }
            text.putQuoted(string)
            try text.handOnIfFull()
        }
        text.put("]}")
    }
}

/// A table that contains each text once. The index 0 stands for no text.
private struct TextTable {
    private(set) var texts = [""]
    private var numbers: [String: Int] = [:]

    mutating func number(of text: String?) -> Int {
        guard let text else { return 0 }
        if let number = numbers[text] { return number }
        numbers[text] = texts.count
        texts.append(text)
        return texts.count - 1
    }
}

extension TraceText {
    fileprivate mutating func putBar(_ bar: TraceModel.Bar, _ table: inout TextTable, isFirst: Bool) {
        put(isFirst ? "\n[" : ",\n[")
        put(bar.lane)
        putNext(bar.begin)
        putNext(bar.end - bar.begin)
        putNext(bar.outcome.rawValue)
        putNext(bar.beganEarlier ? 1 : 0)
        putNext(table.number(of: bar.primitive.rawValue))
        put(",")
        putQuoted(bar.subject.description)
        putNext(table.number(of: bar.name))
        putNext(table.number(of: bar.key))
        putNext(table.number(of: bar.error))
        putNext(table.number(of: bar.detail))
        putNext(table.number(of: bar.first?.rawValue))
        putNext(table.number(of: bar.last?.rawValue))
        putNext(bar.attempt ?? -1)
        putNext(bar.status ?? -1)
        putNext(bar.count ?? -1)
        putNext(bar.delay ?? -1)
        putNext(bar.age ?? -1)
        // For each phase: its beginning, relative to that of the bar, and 1 if the task runs or 0 if it waits.
        put(",[")
        for (index, segment) in bar.segments.enumerated() {
            if index > 0 { put(",") }
            put(segment.begin - bar.begin)
            put(segment.phase == .running ? ",1" : ",0")
        }
        put("]")
        if !bar.marks.isEmpty {
            put(",[")
            for (index, mark) in bar.marks.enumerated() { putMark(mark, &table, isFirst: index == 0) }
            put("]")
        }
        put("]")
    }

    fileprivate mutating func putMark(_ mark: TraceModel.Mark, _ table: inout TextTable, isFirst: Bool) {
        put(isFirst ? "[" : ",[")
        put(mark.time)
        putNext(table.number(of: mark.kind.rawValue))
        putNext(table.number(of: mark.text))
        putNext(mark.number ?? -1)
        putNext(mark.by)
        put("]")
    }

    private mutating func putNext(_ number: some FixedWidthInteger) {
        put(",")
        put(number)
    }
}
