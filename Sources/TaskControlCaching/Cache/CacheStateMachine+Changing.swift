internal import TaskControl

extension CacheStateMachine {
    /// Stores a value that was written, and supersedes a running load of the key: the result of that load is not
    /// stored.
    ///
    /// - Parameters:
    ///   - key: The key of the value.
    ///   - value: The value.
    ///   - span: The times for which the value is used, counted from `now`.
    ///   - now: The current time, counted from the creation of the cache.
    /// - Returns: The consequences, such as evicted values, on which the caller acts outside the lock.
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

    /// Removes the value of a key, and supersedes a running load of the key: the result of that load is not stored.
    ///
    /// - Returns: The consequences, such as the removed value, on which the caller acts outside the lock.
    mutating func invalidate(_ key: Key) -> Remains {
        var remains = Remains()
        if let index = entries.index(of: key) { invalidate(index, &remains) }
        return remains
    }

    /// Removes all values, and supersedes all running loads: the results of these loads are not stored.
    ///
    /// - Returns: The consequences, such as the removed values, on which the caller acts outside the lock.
    /// - Complexity: O(*n*) in the number of values and loads.
    mutating func removeAll() -> Remains {
        var remains = Remains()
        for index in 0..<entries.extent where entries.isOccupied(index) { invalidate(index, &remains) }
        return remains
    }

    /// Removes the values that are older than a duration. The age counts from the start of the load, or from the write.
    ///
    /// - Parameters:
    ///   - age: The age above which values are removed.
    ///   - now: The current time, counted from the creation of the cache.
    /// - Returns: The consequences, such as the removed values, on which the caller acts outside the lock.
    /// - Complexity: O(*n*) in the number of values and loads.
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
        remains.superseded.append((entries[index].key, load.after, load.flight))
    }
}

// MARK: Storing

extension CacheStateMachine {
    mutating func store(
        _ content: Content,
        at index: Table.Index,
        _ now: Duration,
        _ remains: inout Remains
    ) {
        if let old = bodies[Int(index)].content {
            remains.values.append(old.value)
            dropContent(index)
        }
        bodies[Int(index)].isRefreshClaimed = false
        guard now < content.fallbackLimit else { return remains.values.append(content.value) }
        guard capacity > 0 else {
            remains.values.append(content.value)
            return remains.evicted.append(entries[index].key)
        }
        if count == capacity { evict(&remains) }
        bodies[Int(index)].content = content
        hits[Int(index)] = Hit(value: content.value, refreshTime: content.refreshTime.wholeNanoseconds)
        entries.append(index, to: &order)
        count += 1
    }

    /// Evicts a value by the second-chance algorithm: takes the first value in ``order``, and passes over each value
    /// that was used since it was stored or last passed over. There must be a value.
    ///
    /// - Parameter remains: The consequences, to which the evicted value and its key are added.
    /// - Complexity: O(1), amortized: a value is passed over only once per use.
    private mutating func evict(_ remains: inout Remains) {
        while hits[Int(order.first)].isUsed {
            let index = order.first
            hits[Int(index)].isUsed = false
            entries.unlink(index, from: &order)
            entries.append(index, to: &order)
        }
        let oldest = order.first
        if let content = bodies[Int(oldest)].content { remains.values.append(content.value) }
        remains.evicted.append(entries[oldest].key)
        dropContent(oldest)
        _ = removeIfUnused(oldest)
    }

    mutating func dropContent(_ index: Table.Index) {
        entries.unlink(index, from: &order)
        bodies[Int(index)].content = nil
        hits[Int(index)] = Hit()
        bodies[Int(index)].isRefreshClaimed = false
        count -= 1
    }

    /// Removes the entry at an index of the table if it has neither a value nor a load.
    ///
    /// - Returns: The key of the removed entry, to be released outside the lock; `nil` if the entry was not removed.
    mutating func removeIfUnused(_ index: Table.Index) -> Key? {
        guard bodies[Int(index)].content == nil, bodies[Int(index)].load == nil else { return nil }
        let key = entries.remove(index).key
        bodies[Int(index)] = Body()
        let extent = Int(entries.extent)
        if extent < bodies.count {
            bodies.removeSubrange(extent...)
            hits.removeSubrange(extent...)
            bodies.shrinkIfMostlyEmpty(keeping: 128)
            hits.shrinkIfMostlyEmpty(keeping: 128)
        }
        return key
    }
}

extension CacheStateMachine {
    /// Traps if an invariant does not hold.
    ///
    /// - Complexity: O(*n*) in the number of values and loads.
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
