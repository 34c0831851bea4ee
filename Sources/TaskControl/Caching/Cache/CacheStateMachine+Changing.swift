extension CacheStateMachine {
    /// A value was written.
    ///
    /// - Complexity: O(1), amortized.
    mutating func update(_ key: Key, _ value: Value, _ span: Lifespan, at now: Duration) -> Remains {
        var remains = Remains()
        let index = entries.index(of: key) ?? insert(key)
        supersede(index, &remains)
        (bodies[Int(index)].failures, bodies[Int(index)].retryTime) = (0, .zero)
        store(Content(value, nextSerial, start: now, span), at: index, now, &remains)
        nextSerial += 1
        if let key = removeIfUnused(index) { remains.keys.append(key) }
        return remains
    }

    /// The value of a key is out of date.
    mutating func invalidate(_ key: Key) -> Remains {
        var remains = Remains()
        if let index = entries.index(of: key) { invalidate(index, &remains) }
        return remains
    }

    /// All values are out of date.
    ///
    /// - Complexity: O(*n*).
    mutating func removeAll() -> Remains {
        var remains = Remains()
        for index in 0..<entries.extent where entries.isOccupied(index) { invalidate(index, &remains) }
        return remains
    }

    /// Values whose loads began longer ago are of no use.
    ///
    /// - Complexity: O(*n*).
    mutating func removeAll(olderThan age: Duration, at now: Duration) -> Remains {
        var remains = Remains()
        for index in 0..<entries.extent where entries.isOccupied(index) {
            guard let content = bodies[Int(index)].content, now - content.start > age else { continue }
            remains.values.append(content.value)
            dropContent(index)
            if let key = removeIfUnused(index) { remains.keys.append(key) }
        }
        return remains
    }

    private mutating func invalidate(_ index: Table.Index, _ remains: inout Remains) {
        supersede(index, &remains)
        if let content = bodies[Int(index)].content {
            remains.values.append(content.value)
            dropContent(index)
        }
        if let key = removeIfUnused(index) { remains.keys.append(key) }
    }

    private mutating func supersede(_ index: Table.Index, _ remains: inout Remains) {
        guard let load = bodies[Int(index)].load, !load.isSuperseded else { return }
        bodies[Int(index)].load?.isSuperseded = true
        remains.superseded.append((entries[index].key, load.after))
    }
}

extension CacheStateMachine {
    /// Traps if an invariant does not hold. O(*n*).
    func checkInvariants() {
        var (withContent, withLine) = (0, 0)
        for index in 0..<entries.extent where entries.isOccupied(index) {
            let (key, body) = (entries[index].key, bodies[Int(index)])
            precondition(body.content != nil || body.load != nil, "a key without a value has a load")
            precondition(body.line.isEmpty || body.load != nil, "flights wait only for a load that runs")
            precondition(entries.index(of: key) == index, "a key has one entry")
            if body.content != nil { withContent += 1 }
            if !body.line.isEmpty { withLine += 1 }
        }
        precondition(bodies.count == Int(entries.extent), "the bodies are as many as the table reaches")
        entries.checkLinks(of: order)
        let chained = entries.indexes(of: order)
        precondition(chained.allSatisfy { bodies[Int($0)].content != nil }, "the chain consists of values")
        precondition(chained.count == count && count == withContent && count <= capacity, "values are counted")
        precondition(waiters.count > 0 || withLine == 0, "a flight that waits has a place")
    }
}
