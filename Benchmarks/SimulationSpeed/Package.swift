// swift-tools-version: 6.3

import Foundation
import PackageDescription

// Built against two versions of the library by scripts/benchmark simulation.
let library = ProcessInfo.processInfo.environment["TASK_CONTROL_PATH"] ?? "../.."

let package = Package(
    name: "SimulationSpeed",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "swift-task-control", path: library)],
    targets: [
        .executableTarget(
            name: "SimulationSpeed",
            dependencies: [.product(name: "TaskControlTesting", package: "swift-task-control")]
        )
    ],
    swiftLanguageModes: [.v6]
)
