// swift-tools-version: 6.2

import PackageDescription

// The programs that show the bugs which verdicts.tsv names: `swift run --package-path scripts/upstream/bugs`.
let package = Package(
    name: "bugs",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "swift-task-control", path: "../../.."),
        .package(url: "https://github.com/apple/swift-async-algorithms", exact: "1.1.4"),
        .package(url: "https://github.com/grpc/grpc-swift-2", exact: "2.4.3"),
    ],
    targets: [
        .executableTarget(
            name: "bugs",
            dependencies: [
                .product(name: "TaskControlTesting", package: "swift-task-control"),
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
                .product(name: "GRPCCore", package: "grpc-swift-2"),
                .product(name: "GRPCInProcessTransport", package: "grpc-swift-2"),
            ]
        )
    ]
)
