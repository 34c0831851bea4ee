// The modules that a client of this module gets with `import TaskControlHTTP`, and why:
//
// - TaskControl, whose types are parameters of this module: the backoff and the budget of retries, deadlines, `Cancellable`.
// - FoundationNetworking, where it exists. Outside Apple's platforms `URLRequest` and `HTTPURLResponse` are declared there and not in Foundation, so
//   that each file with an endpoint would need an `#if` for its import.
//
// Neither Foundation nor Dispatch: a file that uses them imports them.
@_exported public import TaskControl

#if canImport(FoundationNetworking)
@_exported public import FoundationNetworking
#endif
