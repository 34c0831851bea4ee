internal import TaskControl

extension TraceModel {
    /// Writes the model as a trace in Chrome's format: a process for each group, a thread for each lane (a row of
    /// bars), a slice for each bar, nested slices for the times in which the bar waited and ran, and instant events for
    /// marks.
    func writePerfetto<Failure: Error>(title: String, to text: inout TraceText<Failure>) throws(Failure) {
        text.put(#"{"displayTimeUnit":"ms","otherData":{"title":"#)
        text.putQuoted(title)
        text.put(#","recorder":"TaskControl","events":"#)
        text.put(eventCount)
        text.put(#","lostEvents":"#)
        text.put(lost)
        text.put("},\"traceEvents\":[\n")
        // A first event, so that each line after it begins with a comma.
        text.put(#"{"ph":"M","name":"process_name","pid":0,"args":{"name":"#)
        text.putQuoted(title)
        text.put("}}")
        if lost > 0 {
            text.put(",\n{\"ph\":\"i\",\"s\":\"g\",\"pid\":0,\"tid\":0,\"ts\":0,\"name\":")
            text.putQuoted("\(lost) earlier events were dropped")
            text.put("}")
        }
        var arrowCount = 0
        for (index, group) in groups.enumerated() {
            let process = index + 1
            text.putHead(of: group, process)
            for mark in group.marks {
                text.putInstant(mark, process, lane: nil, by: mark.by < 0 ? nil : bars[mark.by])
                try text.handOnIfFull()
            }
            for bar in group.bars {
                text.putBar(bars[bar], process)
                for mark in bars[bar].marks {
                    text.putInstant(mark, process, lane: bars[bar].lane, by: mark.by < 0 ? nil : bars[mark.by])
                    guard mark.kind == .cancelled, mark.by >= 0 else { continue }
                    arrowCount += 1
                    text.putArrow(arrowCount, at: mark.time, from: bars[mark.by], to: bars[bar])
                }
                try text.handOnIfFull()
            }
        }
        text.put("\n]}\n")
    }
}

extension TraceText {
    fileprivate mutating func putHead(of group: TraceModel.Group, _ process: Int) {
        func putLine(_ name: StaticString, thread: Int?, _ key: StaticString, _ value: (inout Self) -> Void) {
            put(",\n{\"ph\":\"M\",\"name\":\"")
            put(name)
            put("\",\"pid\":")
            put(process)
            if let thread {
                put(",\"tid\":")
                put(thread)
            }
            put(",\"args\":{\"")
            put(key)
            put("\":")
            value(&self)
            put("}}")
        }
        putLine("process_name", thread: nil, "name") { $0.putQuoted(group.title) }
        putLine("process_sort_index", thread: nil, "sort_index") { $0.put(process) }
        for lane in 0..<group.laneCount {
            putLine("thread_name", thread: lane + 1, "name") { $0.putQuoted("lane \(lane + 1)") }
            putLine("thread_sort_index", thread: lane + 1, "sort_index") { $0.put(lane) }
        }
    }

    /// Begins an event of a lane: writes the fields that all events of lanes have in common. Does not write the comma
    /// before the next field.
    ///
    /// - Parameters:
    ///   - kind: The kind of the event (`ph`), such as `X` for a slice.
    ///   - process: The number of the process, which stands for a group.
    ///   - lane: The index of the lane in the group.
    ///   - time: The beginning of the event, in nanoseconds.
    private mutating func putPlace(_ kind: StaticString, _ process: Int, _ lane: Int, _ time: Int64) {
        put(",\n{\"ph\":\"")
        put(kind)
        put("\",\"pid\":")
        put(process)
        put(",\"tid\":")
        put(lane + 1)
        put(",\"ts\":")
        putMicroseconds(time)
    }

    fileprivate mutating func putBar(_ bar: TraceModel.Bar, _ process: Int) {
        putPlace("X", process, bar.lane, bar.begin)
        put(",\"dur\":")
        putMicroseconds(bar.end - bar.begin)
        put(",\"cat\":")
        putQuoted(bar.primitive.rawValue)
        put(",\"name\":")
        putQuoted(bar.label)
        if let color = bar.outcome.color {
            put(",\"cname\":\"")
            put(color)
            put("\"")
        }
        put(",\"args\":{\"state\":\"")
        put(bar.outcome.text)
        put("\"")
        putField("end", bar.last?.rawValue)
        if bar.beganEarlier { put(",\"began\":\"before the recording\"") }
        putField("subject", bar.subject.description)
        putField("task", bar.name)
        putField("key", bar.key)
        putField("error", bar.error)
        putField("detail", bar.detail)
        putField("count", bar.count)
        putField("attempt", bar.attempt)
        putField("status", bar.status)
        put("}}")
        let stretches = bar.stretches
        guard stretches.count > 1 || stretches.first?.phase == .waiting else { return }
        for stretch in stretches {
            putPlace("X", process, bar.lane, stretch.range.lowerBound)
            put(",\"dur\":")
            putMicroseconds(stretch.range.upperBound - stretch.range.lowerBound)
            put(
                stretch.phase == .waiting
                    ? ",\"cat\":\"phase\",\"cname\":\"grey\",\"name\":\"waiting\"}"
                    : ",\"cat\":\"phase\",\"name\":\"running\"}"
            )
        }
    }

    fileprivate mutating func putInstant(
        _ mark: TraceModel.Mark,
        _ process: Int,
        lane: Int?,
        by bar: TraceModel.Bar?
    ) {
        putPlace("i", process, lane ?? 0, mark.time)
        put(lane == nil ? ",\"s\":\"p\"" : ",\"s\":\"t\"")
        putField("name", mark.kind.rawValue)
        put(",\"args\":{\"kind\":")
        putQuoted(mark.kind.rawValue)
        putField("text", mark.text)
        putField("number", mark.number)
        putField("by", bar?.label)
        put("}}")
    }

    /// Writes an arrow from the bar whose task has caused a cancellation to the bar that was cancelled.
    ///
    /// - Parameters:
    ///   - number: The ID of the arrow, which no other arrow of the trace has.
    ///   - time: The time of the cancellation, in nanoseconds.
    ///   - cause: The bar whose task has caused the cancellation.
    ///   - bar: The bar of the task or call that was cancelled.
    fileprivate mutating func putArrow(
        _ number: Int,
        at time: Int64,
        from cause: TraceModel.Bar,
        to bar: TraceModel.Bar
    ) {
        func putEnd(_ kind: StaticString, _ bar: TraceModel.Bar) {
            putPlace(kind, bar.group + 1, bar.lane, time)
            put(",\"cat\":\"cancellation\",\"name\":\"cancelled\",\"id\":")
            put(number)
        }
        putEnd("s", cause)
        put("}")
        putEnd("f", bar)
        put(",\"bp\":\"e\"}")
    }

    private mutating func putField(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        put(",\"")
        put(name)
        put("\":")
        putQuoted(value)
    }

    private mutating func putField(_ name: StaticString, _ value: Int?) {
        guard let value else { return }
        put(",\"")
        put(name)
        put("\":")
        put(value)
    }
}

extension TraceModel.Outcome {
    fileprivate var text: StaticString {
        switch self {
        case .completed: "completed"
        case .failed: "failed"
        case .timedOut: "timed out"
        case .cancelled: "cancelled"
        case .unfinished: "not ended"
        }
    }

    /// The color of the outcome, as one of the color names that Chrome supports. Perfetto ignores it and uses its own colors.
    fileprivate var color: StaticString? {
        switch self {
        case .completed: nil
        case .failed: "terrible"
        case .timedOut: "bad"
        case .cancelled: "grey"
        case .unfinished: "good"
        }
    }
}
