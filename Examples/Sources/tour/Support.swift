// All files of the tour use it.
@_exported public import Support
