// Once, for the whole module and for its clients: URLRequest and its like are in a module of their own outside Apple's platforms, and who
// declares an endpoint should not have to know that.
// Dispatch by name: completion queues are of its type, and Foundation re-exports it only through its C headers on Apple's platforms.
@_exported public import Dispatch
@_exported public import Foundation
@_exported public import TaskControl

#if canImport(FoundationNetworking)
@_exported public import FoundationNetworking
#endif
