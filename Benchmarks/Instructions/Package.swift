// swift-tools-version: 6.3

import Foundation
import PackageDescription

// The version of the library that is measured: scripts/instructions sets it, once per version.
let path = ProcessInfo.processInfo.environment["TASK_CONTROL_PATH"] ?? "../.."

let package = Package(
    name: "Instructions",
    // For the rows by hand, which use a task executor and the handler of priorities directly.
    platforms: [.macOS(.v26)],
    dependencies: [.package(name: "swift-task-control", path: path)],
    targets: [
        .executableTarget(
            name: "Instructions",
            dependencies: [
                .product(name: "TaskControl", package: "swift-task-control"),
                .product(name: "TaskControlResilience", package: "swift-task-control"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
