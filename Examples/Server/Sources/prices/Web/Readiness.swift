/// The readiness of the process: whether it accepts requests. A load balancer requests it at `/health`.
actor Readiness {
    private(set) var isReady = true

    func close() {
        isReady = false
    }
}
