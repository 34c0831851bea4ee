// swift-tools-version: 6.1

import Foundation
import PackageDescription

// A client of one product of the package at a path, with a trait of it: scripts/check-client and scripts/ci-macos build copies of this package.
let environment = ProcessInfo.processInfo.environment
let traits: Set<Package.Dependency.Trait> = environment["TRAIT"].map { [.trait(name: $0)] } ?? [.defaults]
let package = Package(
    name: "client",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: "swift-task-control", path: environment["TASK_CONTROL_PATH"] ?? "../..", traits: traits)],
    targets: [
        .executableTarget(
            name: "client", dependencies: [.product(name: environment["PRODUCT"] ?? "TaskControl", package: "swift-task-control")])
    ]
)
