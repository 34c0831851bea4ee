// crashes the compiler: the isolation of a `sending` parameter is read, and the parameter is then captured
func start(_ operation: sending @escaping @isolated(any) () async -> Void) -> Task<Void, Never> {
    let isolation = operation.isolation
    return Task {
        _ = isolation
        await operation()
    }
}
