import Foundation

// Reads the interface of a module, and prints it as a dump, or what of it is not documented.
func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("\(message)\n".utf8))
    exit(1)
}

let usage = "usage: interface dump|dump-compatibility|undocumented MODULE < INTERFACE"
guard CommandLine.arguments.count == 3 else { fail(usage) }
let module = CommandLine.arguments[2]

do {
    let interface = try Interface(module: module, lines: Array(sequence(state: ()) { _ in readLine() }))
    switch CommandLine.arguments[1] {
    case "dump": print(Dump(interface.selecting(compatibility: false)))
    case "dump-compatibility": print(Dump(interface.selecting(compatibility: true)))
    case "undocumented": interface.undocumented.forEach { print($0) }
    default: fail(usage)
    }
} catch {
    fail("\(module): \(error)")
}
