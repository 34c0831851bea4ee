/// The public function that started a task of an owner, for the report of an error. Stored in one byte, because every
/// task whose work may throw stores it, but only few tasks fail.
@usableFromInline
enum _WorkOrigin: UInt8, Sendable {
    case asyncLifetime, taskStore, taskSlot, taskBag, identifiableTaskBag
    case lifetimeRun, lifetimeForEach, storeRun, slotRun

    var origin: TaskOrigin {
        switch self {
        case .asyncLifetime: TaskOrigin("AsyncLifetime", .asyncLifetime, isForOwner: true)
        case .taskStore: TaskOrigin("TaskStore", .taskStore, isForOwner: true)
        case .taskSlot: TaskOrigin("TaskSlot", .taskSlot, isForOwner: true)
        case .taskBag: TaskOrigin("TaskBag", .taskBag, isForOwner: true)
        case .identifiableTaskBag: TaskOrigin("IdentifiableTaskBag", .identifiableTaskBag, isForOwner: true)
        case .lifetimeRun: TaskOrigin("AsyncLifetime.run", .asyncLifetime, isForOwner: true)
        case .lifetimeForEach: TaskOrigin("AsyncLifetime.forEach", .asyncLifetime, isForOwner: true)
        case .storeRun: TaskOrigin("TaskStore.run", .taskStore, isForOwner: true)
        case .slotRun: TaskOrigin("TaskSlot.run", .taskSlot, isForOwner: true)
        }
    }
}
