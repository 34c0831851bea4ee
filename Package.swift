// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "swift-task-control",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "TaskControl", targets: ["TaskControl"]),
        .library(name: "TaskControlTesting", targets: ["TaskControlTesting"]),
    ],
    targets: [
        .target(name: "TaskControl"),
        .target(name: "TaskControlTesting", dependencies: ["TaskControl", "CTaskControlTesting"]),
        // What the simulation needs of the Swift runtime and cannot say in Swift.
        .target(name: "CTaskControlTesting"),
        .testTarget(name: "TaskControlTests", dependencies: ["TaskControl", "TaskControlTesting"]),
        .testTarget(
            name: "TaskControlTestingTests",
            dependencies: ["TaskControl", "TaskControlTesting", "CTaskControlTesting"]
        ),
        // Code written against the libraries that TaskControl replaces, in their language mode.
        .testTarget(
            name: "SourceCompatibilityTests",
            dependencies: ["TaskControl"],
            swiftSettings: [.swiftLanguageMode(.v5)]
        ),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where !["SourceCompatibilityTests", "CTaskControlTesting"].contains(target.name) {
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
