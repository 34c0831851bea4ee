// Reads the interface of a module, and prints it as a dump, or what of it is not documented.
var lines: [String] = []
while let line = readLine() { lines.append(line) }

let interface = try Interface(module: CommandLine.arguments[2], lines: lines)
switch CommandLine.arguments[1] {
case "dump": print(Dump(interface))
case "undocumented": interface.undocumented.forEach { print($0) }
default: fatalError("usage: dump|undocumented MODULE < INTERFACE")
}
