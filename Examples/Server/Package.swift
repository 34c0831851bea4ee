// swift-tools-version: 6.3

import PackageDescription

let package = Package(
    name: "Server",
    platforms: [.macOS(.v14)],
    dependencies: [
        .package(name: "swift-task-control", path: "../..", traits: ["ServiceLifecycle"]),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        .executableTarget(
            name: "prices",
            dependencies: [
                .product(name: "TaskControl", package: "swift-task-control"),
                .product(name: "TaskControlCaching", package: "swift-task-control"),
                .product(name: "TaskControlHTTP", package: "swift-task-control"),
                .product(name: "TaskControlResilience", package: "swift-task-control"),
                .product(name: "TaskControlSnapshot", package: "swift-task-control"),
                .product(name: "TaskControlSupervision", package: "swift-task-control"),
                .product(name: "TaskControlTrace", package: "swift-task-control"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .testTarget(
            name: "PricesTests",
            dependencies: [
                "prices",
                .product(name: "TaskControl", package: "swift-task-control"),
                .product(name: "TaskControlSnapshot", package: "swift-task-control"),
                .product(name: "TaskControlSupervision", package: "swift-task-control"),
                .product(name: "TaskControlTesting", package: "swift-task-control"),
                .product(name: "TaskControlTrace", package: "swift-task-control"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("ImmutableWeakCaptures"),
            .enableUpcomingFeature("InferIsolatedConformances"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
            .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        ]
}
