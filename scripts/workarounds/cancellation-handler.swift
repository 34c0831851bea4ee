// prints false: withTaskCancellationHandler runs its operation outside the isolation of its caller
func isInside(_ actor: any Actor, isolation: isolated (any Actor)? = #isolation) -> Bool { isolation === actor }

nonisolated(nonsending) func call(_ actor: any Actor) async -> Bool {
    await withTaskCancellationHandler { isInside(actor) } onCancel: {}
}

actor Caller {
    func isIsolated() async -> Bool { await call(self) }
}

@main struct Main {
    static func main() async { print(await Caller().isIsolated()) }
}
