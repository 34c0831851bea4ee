// swift-tools-version: 6.1

import PackageDescription

// The library that scripts/check-upstream loads before the tests of another package: it runs each asynchronous test under many schedules.
let package = Package(
    name: "upstream",
    products: [.library(name: "SimulatedTests", type: .dynamic, targets: ["SimulatedTests"])],
    dependencies: [.package(name: "swift-task-control", path: "../..")],
    targets: [
        .target(
            name: "SimulatedTests",
            dependencies: ["Originals", .product(name: "TaskControlTesting", package: "swift-task-control")]
        ),
        .target(name: "Originals"),
    ],
    swiftLanguageModes: [.v6]
)
