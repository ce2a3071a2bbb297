// swift-tools-version: 6.2
import PackageDescription

// The test of an app's call code on Linux: `swift build`, then `swift run hookswitch app Scenarios/*.yaml --app .build/debug/MyPhone`.
// The command is built from this dependency, and so it says nothing of traits. With a hookswitch of another place, `traits: ["Network"]` is enough.
// Where the app's sources have Objective-C attributes, Combine or UIKit, add the plug-in CallSources.
let package = Package(
    name: "MyPhone",
    dependencies: [.package(url: "https://example.com/hookswitch", branch: "main")],
    targets: [
        .executableTarget(
            name: "MyPhone",
            dependencies: [.product(name: "CallKit", package: "hookswitch"), .product(name: "CallApp", package: "hookswitch")],
            swiftSettings: [.swiftLanguageMode(.v5)])
    ])
