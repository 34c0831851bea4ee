// swift-tools-version: 6.3

import PackageDescription

// A package of its own: a client of the library resolves and compiles none of it.
let pages = [
    "dropped-task", "uncancelled-task", "task-per-event", "continuation", "check-then-await", "shared-task",
    "retry-loop", "blocked-wait", "task-order", "shown-cancellation",
]

let package = Package(
    name: "Tools",
    platforms: [.macOS(.v13)],
    products: [
        .library(name: "AuditTasks", targets: ["AuditTasks"]),
        .executable(name: "audit-tasks", targets: ["audit-tasks"]),
        .plugin(name: "AuditTasksPlugin", targets: ["AuditTasksPlugin"]),
    ],
    dependencies: [
        .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        .target(
            name: "AuditTasks",
            dependencies: [
                .product(name: "SwiftParser", package: "swift-syntax"),
                .product(name: "SwiftSyntax", package: "swift-syntax"),
            ],
            resources: pages.map { .embedInCode("AuditTasks.docc/\($0).md") }
        ),
        .executableTarget(
            name: "audit-tasks",
            dependencies: [
                "AuditTasks",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .plugin(
            name: "AuditTasksPlugin",
            capability: .command(
                intent: .custom(verb: "audit-tasks", description: "Finds the tasks without an owner in this package.")
            ),
            dependencies: ["audit-tasks"]
        ),
        .testTarget(name: "AuditTasksTests", dependencies: ["AuditTasks"]),
    ]
)
