import Benchmark

/// Where the library's plugin looks for what there is to run.
let benchmarks: @Sendable () -> Void = {
    observeIfAsked()
    registerAsyncTask()
    registerTaskBag()
    registerTaskStore()
    registerIdentifiableTaskBag()
    registerOwnerSafeWork()
    registerCancelAll()
    registerFIFOQueue()
    registerActorQueue()
    registerSingleFlight()
    registerPolicies()
    registerResilience()
    registerRetry()
    registerBridging()
    registerHTTP()
    registerSimulation()
    registerTrace()
}
