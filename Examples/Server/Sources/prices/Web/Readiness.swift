/// Whether the process accepts requests. A load balancer asks for it at `/health`.
actor Readiness {
    private(set) var isReady = true

    func close() {
        isReady = false
    }
}
