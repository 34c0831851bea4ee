/// Returns the name of the case of an enumeration, without its associated values; `nil` for a value of another type. Calls
/// no code of the type, such as its `description`.
func caseName<Value>(of value: Value) -> String? { enumCaseName(value).map { String(cString: $0) } }

// The function of the Swift runtime with which the standard library makes the description of an enumeration. Its only
// argument is the value, together with the type.
@_silgen_name("swift_EnumCaseName")
private func enumCaseName<Value>(_ value: Value) -> UnsafePointer<CChar>?
