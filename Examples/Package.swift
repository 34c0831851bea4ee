// swift-tools-version: 6.3

import PackageDescription

let package = Package(
    name: "Examples",
    platforms: [.macOS(.v13), .iOS(.v16)],
    dependencies: [
        .package(name: "swift-task-control", path: ".."),
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        // Machinery that all examples need, and none of them shows: a local server, processes, waiting, printing.
        .target(
            name: "Support",
            dependencies: [
                .product(name: "TaskControl", package: "swift-task-control"),
                .product(name: "FlyingFox", package: "FlyingFox"),
                .product(name: "FlyingSocks", package: "FlyingFox"),
            ]
        ),
        .executableTarget(
            name: "tour",
            dependencies: [
                "Support",
                .product(name: "TaskControl", package: "swift-task-control"),
                .product(name: "TaskControlCaching", package: "swift-task-control"),
                .product(name: "TaskControlCalendar", package: "swift-task-control"),
                .product(name: "TaskControlFanOut", package: "swift-task-control"),
                .product(name: "TaskControlFleet", package: "swift-task-control"),
                .product(name: "TaskControlHTTP", package: "swift-task-control"),
                .product(name: "TaskControlResilience", package: "swift-task-control"),
                .product(name: "TaskControlSupervision", package: "swift-task-control"),
                .product(name: "TaskControlTesting", package: "swift-task-control"),
                .product(name: "TaskControlTrace", package: "swift-task-control"),
                .product(name: "FlyingFox", package: "FlyingFox"),
                .product(name: "FlyingSocks", package: "FlyingFox"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .executableTarget(
            name: "outage",
            dependencies: [
                "Support",
                .product(name: "TaskControl", package: "swift-task-control"),
                .product(name: "TaskControlResilience", package: "swift-task-control"),
                .product(name: "TaskControlTesting", package: "swift-task-control"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .executableTarget(
            name: "bookshelf",
            dependencies: [
                "Support",
                .product(name: "TaskControl", package: "swift-task-control"),
                .product(name: "TaskControlCaching", package: "swift-task-control"),
                .product(name: "TaskControlFanOut", package: "swift-task-control"),
                .product(name: "TaskControlHTTP", package: "swift-task-control"),
                .product(name: "TaskControlSupervision", package: "swift-task-control"),
                .product(name: "FlyingFox", package: "FlyingFox"),
                .product(name: "FlyingSocks", package: "FlyingFox"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .testTarget(
            name: "TourTests",
            dependencies: [
                "Support", "tour",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "TaskControlTesting", package: "swift-task-control"),
            ]
        ),
        .testTarget(
            name: "OutageTests",
            dependencies: [
                "outage",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "TaskControlTesting", package: "swift-task-control"),
            ]
        ),
        .testTarget(
            name: "BookshelfTests",
            dependencies: [
                "Support", "bookshelf",
                .product(name: "TaskControl", package: "swift-task-control"),
                .product(name: "TaskControlHTTP", package: "swift-task-control"),
                .product(name: "TaskControlSupervision", package: "swift-task-control"),
                .product(name: "TaskControlTesting", package: "swift-task-control"),
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
