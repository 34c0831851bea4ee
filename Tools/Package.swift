// swift-tools-version: 6.3

import PackageDescription

let package = Package(
    name: "Tools",
    platforms: [.macOS(.v13)],
    products: [
        .library(name: "AuditTasks", targets: ["AuditTasks"]),
        .executable(name: "audit-tasks", targets: ["audit-tasks"]),
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
            ]),
        .executableTarget(
            name: "audit-tasks",
            dependencies: [
                "AuditTasks",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
    ]
)
