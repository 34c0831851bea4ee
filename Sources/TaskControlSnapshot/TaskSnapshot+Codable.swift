internal import TaskControl

// Coded by hand, so that programs of different versions read each other's snapshots: a value that is missing is empty, and
// a value that is not known is left out.

extension TaskSnapshot: Codable {
    private enum CodingKeys: String, CodingKey {
        case schemaVersion, owners, others, warnings, droppedCount, omittedCount, isTracking
    }

    /// Decodes a snapshot that this or another version has encoded.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        owners = try container.decodeIfPresent([Owner].self, forKey: .owners) ?? []
        others = try container.decodeIfPresent([Entry].self, forKey: .others) ?? []
        warnings = try container.decodeIfPresent([Known<Warning>].self, forKey: .warnings)?.compactMap(\.value) ?? []
        droppedCount = try container.decodeIfPresent(Int.self, forKey: .droppedCount) ?? 0
        omittedCount = try container.decodeIfPresent(Int.self, forKey: .omittedCount) ?? 0
        isTracking = try container.decodeIfPresent(Bool.self, forKey: .isTracking) ?? true
    }

    /// Encodes the snapshot, with ``schemaVersion``.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Self.schemaVersion, forKey: .schemaVersion)
        try container.encode(owners, forKey: .owners)
        try container.encode(others, forKey: .others)
        try container.encode(warnings, forKey: .warnings)
        try container.encode(droppedCount, forKey: .droppedCount)
        try container.encode(omittedCount, forKey: .omittedCount)
        try container.encode(isTracking, forKey: .isTracking)
    }
}

/// A value whose kind may be known only to a later version; `nil` then.
private struct Known<Value: Decodable & KindOfValue>: Decodable {
    let value: Value?

    init(from decoder: any Decoder) throws {
        let kind = try decoder.container(keyedBy: KindKey.self).decode(String.self, forKey: .kind)
        value = Value.isKnown(kind) ? try Value(from: decoder) : nil
    }
}

private enum KindKey: String, CodingKey { case kind }

/// A type that is encoded with its kind as text.
private protocol KindOfValue {
    static func isKnown(_ kind: String) -> Bool
}

extension TaskSnapshot.Owner: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, primitive, name, age, isClosed, isPaused, isDeallocated, permitsOut, circuit, refusedCount,
            lastRefusalAge,
            entries
    }

    /// Decodes an owner that this or another version has encoded.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(TaskEvent.Identity.self, forKey: .id)
        primitive = try container.decode(TaskEvent.Primitive.self, forKey: .primitive)
        name = try container.decodeIfPresent(String.self, forKey: .name)
        age = try container.decodeIfPresent(Duration.self, forKey: .age) ?? .zero
        isClosed = try container.decodeIfPresent(Bool.self, forKey: .isClosed) ?? false
        isPaused = try container.decodeIfPresent(Bool.self, forKey: .isPaused) ?? false
        isDeallocated = try container.decodeIfPresent(Bool.self, forKey: .isDeallocated) ?? false
        permitsOut = try container.decodeIfPresent(Int.self, forKey: .permitsOut) ?? 0
        circuit = try container.decodeIfPresent(Known<TaskSnapshot.Circuit>.self, forKey: .circuit)?.value
        refusedCount = try container.decodeIfPresent(Int.self, forKey: .refusedCount) ?? 0
        lastRefusalAge = try container.decodeIfPresent(Duration.self, forKey: .lastRefusalAge)
        entries = try container.decodeIfPresent([TaskSnapshot.Entry].self, forKey: .entries) ?? []
    }

    /// Encodes the owner.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(primitive, forKey: .primitive)
        try container.encodeIfPresent(name, forKey: .name)
        try container.encode(age, forKey: .age)
        try container.encode(isClosed, forKey: .isClosed)
        try container.encode(isPaused, forKey: .isPaused)
        try container.encode(isDeallocated, forKey: .isDeallocated)
        try container.encode(permitsOut, forKey: .permitsOut)
        try container.encodeIfPresent(circuit, forKey: .circuit)
        try container.encode(refusedCount, forKey: .refusedCount)
        try container.encodeIfPresent(lastRefusalAge, forKey: .lastRefusalAge)
        try container.encode(entries, forKey: .entries)
    }
}

extension TaskSnapshot.Entry: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, primitive, name, key, detail, attempt, phase, age, phaseAge, delay, cancelledAge, cancellationCause,
            waitsFor
        case waiterCount, calls, begunIn
    }

    /// Decodes a task or a call that this or another version has encoded.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(TaskEvent.Identity.self, forKey: .id)
        primitive = try container.decode(TaskEvent.Primitive.self, forKey: .primitive)
        name = try container.decodeIfPresent(String.self, forKey: .name)
        key = try container.decodeIfPresent(String.self, forKey: .key)
        detail = try container.decodeIfPresent(String.self, forKey: .detail)
        begunIn = try container.decodeIfPresent(TaskEvent.Identity.self, forKey: .begunIn)
        attempt = try container.decodeIfPresent(Int.self, forKey: .attempt)
        let phase = try container.decodeIfPresent(String.self, forKey: .phase)
        self.phase = phase.flatMap(TaskEvent.Phase.init) ?? .running
        age = try container.decodeIfPresent(Duration.self, forKey: .age) ?? .zero
        phaseAge = try container.decodeIfPresent(Duration.self, forKey: .phaseAge) ?? .zero
        delay = try container.decodeIfPresent(Duration.self, forKey: .delay)
        cancelledAge = try container.decodeIfPresent(Duration.self, forKey: .cancelledAge)
        cancellationCause = try container.decodeIfPresent(String.self, forKey: .cancellationCause)
        waitsFor = try container.decodeIfPresent([TaskEvent.Identity].self, forKey: .waitsFor) ?? []
        waiterCount = try container.decodeIfPresent(Int.self, forKey: .waiterCount) ?? 0
        calls = try container.decodeIfPresent([TaskSnapshot.Entry].self, forKey: .calls) ?? []
    }

    /// Encodes the task or the call.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(primitive, forKey: .primitive)
        try container.encodeIfPresent(name, forKey: .name)
        try container.encodeIfPresent(key, forKey: .key)
        try container.encodeIfPresent(detail, forKey: .detail)
        try container.encodeIfPresent(begunIn, forKey: .begunIn)
        try container.encodeIfPresent(attempt, forKey: .attempt)
        try container.encode(phase, forKey: .phase)
        try container.encode(age, forKey: .age)
        try container.encode(phaseAge, forKey: .phaseAge)
        try container.encodeIfPresent(delay, forKey: .delay)
        try container.encodeIfPresent(cancelledAge, forKey: .cancelledAge)
        try container.encodeIfPresent(cancellationCause, forKey: .cancellationCause)
        try container.encode(waitsFor, forKey: .waitsFor)
        try container.encode(waiterCount, forKey: .waiterCount)
        try container.encode(calls, forKey: .calls)
    }
}

extension TaskSnapshot.Circuit: Codable, KindOfValue {
    private enum CodingKeys: String, CodingKey { case kind, age }
    private enum Kind: String, Codable { case open, halfOpen }

    fileprivate static func isKnown(_ kind: String) -> Bool { Kind(rawValue: kind) != nil }

    /// Decodes the state of a circuit breaker.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let age = try container.decode(Duration.self, forKey: .age)
        switch try container.decode(Kind.self, forKey: .kind) {
        case .open: self = .open(for: age)
        case .halfOpen: self = .halfOpen(for: age)
        }
    }

    /// Encodes the state of a circuit breaker.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        let (kind, age): (Kind, Duration) =
            switch self {
            case .open(let age): (.open, age)
            case .halfOpen(let age): (.halfOpen, age)
            }
        try container.encode(kind, forKey: .kind)
        try container.encode(age, forKey: .age)
    }
}

extension TaskSnapshot.Warning: Codable, KindOfValue {
    private enum CodingKeys: String, CodingKey { case kind, tasks, age }
    private enum Kind: String, Codable { case cancelledButRunning, dropped, waitsForItself }

    fileprivate static func isKnown(_ kind: String) -> Bool { Kind(rawValue: kind) != nil }

    /// Decodes a warning.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let tasks = try container.decode([TaskEvent.Identity].self, forKey: .tasks)
        func onlyTask() throws -> TaskEvent.Identity {
            guard tasks.count == 1 else {
                throw DecodingError.dataCorruptedError(forKey: .tasks, in: container, debugDescription: "not one task")
            }
            return tasks[0]
        }
        switch try container.decode(Kind.self, forKey: .kind) {
        case .cancelledButRunning:
            self = .cancelledButRunning(try onlyTask(), since: try container.decode(Duration.self, forKey: .age))
        case .dropped: self = .dropped(try onlyTask())
        case .waitsForItself: self = .waitsForItself(tasks)
        }
    }

    /// Encodes the warning.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        let (kind, tasks, age): (Kind, [TaskEvent.Identity], Duration?) =
            switch self {
            case .cancelledButRunning(let task, let age): (.cancelledButRunning, [task], age)
            case .dropped(let task): (.dropped, [task], nil)
            case .waitsForItself(let tasks): (.waitsForItself, tasks, nil)
            }
        try container.encode(kind, forKey: .kind)
        try container.encode(tasks, forKey: .tasks)
        try container.encodeIfPresent(age, forKey: .age)
    }
}
