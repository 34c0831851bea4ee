import ArgumentParser
import AuditTasks
@main struct Main: ParsableCommand { mutating func run() { print(count("let a = 1; let b = 2")) } }
