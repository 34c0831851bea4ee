// These modules are exported once for this whole module and for its clients. Outside Apple's platforms, `URLRequest`
// and related types are in the module FoundationNetworking, which code that declares an endpoint should not need to
// know.
// Dispatch is exported explicitly, because completion queues are `DispatchQueue`s, and on Apple's platforms Foundation
// re-exports Dispatch only through its C headers.
@_exported public import Dispatch
@_exported public import Foundation
@_exported public import TaskControl

#if canImport(FoundationNetworking)
@_exported public import FoundationNetworking
#endif
