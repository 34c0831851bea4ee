import Benchmark

/// The entry point in which the library's plugin looks for benchmarks.
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
    registerCachedFlight()
    registerFanOut()
    registerPolicies()
    registerResilience()
    registerRetry()
    registerBridging()
    registerHTTP()
    registerDecoding()
    registerSimulation()
    registerTrace()
}
