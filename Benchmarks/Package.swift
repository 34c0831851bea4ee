// swift-tools-version: 6.3

import PackageDescription

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v13)],
    traits: [
        .trait(name: "AsyncHTTPClient", description: "Measures the HTTP client over AsyncHTTPClient, too.")
    ],
    dependencies: [
        .package(
            name: "swift-task-control",
            path: "..",
            traits: [.trait(name: "AsyncHTTPClient", condition: .when(traits: ["AsyncHTTPClient"]))]
        ),
        // Only with the trait.
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        // Without its traits: the library's own interposers count nothing here, and slow down what they watch.
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
    ],
    targets: [
        .target(name: "HeapCounter"),
        .executableTarget(
            name: "TaskControlBenchmarks",
            dependencies: [
                "HeapCounter",
                .product(name: "TaskControl", package: "swift-task-control"),
                .product(name: "TaskControlCaching", package: "swift-task-control"),
                .product(name: "TaskControlFanOut", package: "swift-task-control"),
                .product(name: "TaskControlHTTP", package: "swift-task-control"),
                .product(name: "TaskControlResilience", package: "swift-task-control"),
                .product(name: "TaskControlTesting", package: "swift-task-control"),
                .product(name: "TaskControlTrace", package: "swift-task-control"),
                .product(
                    name: "AsyncHTTPClient",
                    package: "async-http-client",
                    condition: .when(traits: ["AsyncHTTPClient"])
                ),
                .product(name: "Benchmark", package: "benchmark"),
            ],
            // The library's plugin looks for benchmarks in a folder of this name.
            path: "Benchmarks/TaskControlBenchmarks",
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]
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
