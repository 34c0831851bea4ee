// With the one import of this module, code that was written for Apexy finds what it found there with `import Apexy` and `import Foundation`.
@_exported public import Dispatch
@_exported public import Foundation
@_exported public import TaskControl
@_exported public import TaskControlHTTP

#if canImport(FoundationNetworking)
@_exported public import FoundationNetworking
#endif
