// swift-tools-version: 6.3

import Foundation
import PackageDescription

// The version of the library that is measured: scripts/benchmark instructions sets it, once per version.
let path = ProcessInfo.processInfo.environment["TASK_CONTROL_PATH"] ?? "../.."

// An older version has fewer products: what was in the core is imported with it.
let root = path.hasPrefix("/") ? path : "\(Context.packageDirectory)/\(path)"
let products = ["TaskControl", "TaskControlCaching", "TaskControlFanOut", "TaskControlResilience"].filter { product in
    FileManager.default.fileExists(atPath: "\(root)/Sources/\(product)")
}

let package = Package(
    name: "Instructions",
    // For the rows by hand, which use a task executor and the handler of priorities directly.
    platforms: [.macOS(.v26)],
    dependencies: [.package(name: "swift-task-control", path: path)],
    targets: [
        .executableTarget(
            name: "Instructions",
            dependencies: products.map { .product(name: $0, package: "swift-task-control") }
        )
    ],
    swiftLanguageModes: [.v6]
)
