// swift-tools-version: 6.3

import PackageDescription

// A package of its own, because the trait SQLite needs the headers of SQLite, which are not on every machine that has Swift. The trait
// AsyncHTTPClient is the transport to etcd on Linux.
let package = Package(
    name: "Fleet",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(name: "swift-task-control", path: "../..", traits: ["AsyncHTTPClient", "SQLite"]),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        .executableTarget(
            name: "fleet",
            dependencies: [
                .product(name: "TaskControl", package: "swift-task-control"),
                .product(name: "TaskControlEtcd", package: "swift-task-control"),
                .product(name: "TaskControlFleet", package: "swift-task-control"),
                .product(name: "TaskControlSupervision", package: "swift-task-control"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        // The processes of scripts/check-fleet: workloads that check leases while processes and members of a cluster fail.
        .executableTarget(
            name: "fleet-workload",
            dependencies: [
                .product(name: "TaskControl", package: "swift-task-control"),
                .product(name: "TaskControlEtcd", package: "swift-task-control"),
                .product(name: "TaskControlFleet", package: "swift-task-control"),
                .product(name: "TaskControlHTTP", package: "swift-task-control"),
                .product(name: "TaskControlTesting", package: "swift-task-control"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .testTarget(
            name: "WorkloadTests",
            dependencies: ["fleet-workload", .product(name: "TaskControlTesting", package: "swift-task-control")]
        ),
        .testTarget(
            name: "FleetTests",
            dependencies: [
                "fleet",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
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
