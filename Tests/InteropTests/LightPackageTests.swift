import Foundation
import Testing

extension Packages {
    /// The package of an iOS team, as the guide shows it: nothing is fetched and compiled that it has no use for.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct LightPackageTests {
        private static let repository = Place.tests.deletingLastPathComponent().deletingLastPathComponent()

        private static func page() throws -> String {
            try String(contentsOf: repository.appending(path: "docs/guides/call-sources.md"), encoding: .utf8)
        }

        /// The manifest of the guide, of this repository.
        private func manifest(traits: String, product: String = "CallKit") throws -> String {
            let shown = try Self.page().firstMatch(of: /```swift\n(\/\/ swift-tools-version.*?)```/.dotMatchesNewlines())
            let block = String(try #require(shown).output.1)
            let line = #".package(url: "https://example.com/hookswitch", branch: "main", traits: [])"#
            #expect(block.contains(line))
            return block.replacing(line, with: ".package(name: \"hookswitch\", path: \"\(Self.repository.path)\", traits: \(traits))")
                .replacing("\"CallKit\"", with: "\"\(product)\"")
        }

        private func swift(_ arguments: [String], in folder: Folder) async throws -> [String] {
            // A compiler takes every processor, and calls run beside it.
            let words = ["nice", "-n", "19", "swift"] + arguments
            let result = try await Program.run("/usr/bin/env", words, in: folder.path, within: .seconds(900))
            try #require(result.code == 0, "\(result.lines.suffix(20))")
            return result.lines
        }

        /// The packages that are fetched, by name.
        private func packages(of folder: Folder) async throws -> Set<String> {
            struct Package: Decodable {
                let identity: String, dependencies: [Package]
            }
            func all(_ package: Package) -> Set<String> { package.dependencies.map(all).reduce([package.identity]) { $0.union($1) } }
            let lines = try await swift(["package", "--disable-dependency-cache", "show-dependencies", "--format", "json"], in: folder)
            let json = lines.drop { $0 != "{" }.joined(separator: "\n")
            return Set(try JSONDecoder().decode(Package.self, from: Data(json.utf8)).dependencies.flatMap(all))
                .subtracting([Self.repository.lastPathComponent.lowercased()])
        }

        private func modules(in folder: String) throws -> Set<String> {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            return Set(names.filter { $0.hasSuffix(".swiftmodule") }.map { String($0.dropLast(12)) })
        }

        /// The code names of a row of the guide's table.
        private func names(inRowOf traits: String) throws -> Set<String> {
            let row = try #require(try Self.page().split(separator: "\n").first { $0.hasPrefix("| `\(traits)` ") })
            let cell = row.split(separator: "|").dropFirst(2).first ?? ""
            return Set(cell.matches(of: /`([^`]+)`/).map { String($0.output.1) })
        }

        @Test func `a package that depends on CallKit alone fetches no other package, and compiles what the guide says`() async throws {
            let folder = try Folder()
            try folder.write(try manifest(traits: "[]"), to: "Package.swift")
            _ = try folder.folder("Phone/App")
            try folder.write("", to: "Phone/Linux.swift")
            try folder.write(
                """
                import CallKit
                import LiveCommunicationKit
                import UIKit

                @UIApplicationMain
                class AppDelegate: UIResponder, UIApplicationDelegate {
                    @objc func call() {}
                    func application(
                        _ application: UIApplication, didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]?
                    ) -> Bool {
                        print(CXProviderConfiguration().maximumCallGroups, Conversation.State.joined, #selector(call))
                        exit(0)
                    }
                }
                """, to: "Phone/App/AppDelegate.swift")
            #expect(try await packages(of: folder) == [])
            _ = try await swift(["build"], in: folder)
            #expect(!FileManager.default.fileExists(atPath: folder.file("Package.resolved")))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file(".build/checkouts")) == [])
            let built = try modules(in: folder.file(".build/debug/Modules"))
            let tools = try modules(in: folder.file(".build/debug/Modules-tool"))
            #expect(try built.union(tools) == names(inRowOf: "traits: []").union(["phone"]))
            #expect(try await Program.run(folder.file(".build/debug/phone"), []).lines == ["2 joined call"])
        }

        @Test func `a package with the network of an app fetches what HTTP's names come from, and no more`() async throws {
            let folder = try Folder(), origin = "https://github.com/apple/swift-http-types"
            // As it was fetched for this build.
            let store = URL(filePath: Place.hookswitch).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
                .appending(path: "repositories").path
            let copy = try #require(
                try FileManager.default.contentsOfDirectory(atPath: store).first { $0.hasPrefix("swift-http-types-") })
            try folder.write(try manifest(traits: "[\"Network\"]", product: "CallApp"), to: "Package.swift")
            _ = try folder.folder("Phone/App")
            try folder.write("", to: "Phone/Linux.swift")
            _ = try await swift(
                ["package", "config", "set-mirror", "--original", origin, "--mirror", "file://\(store)/\(copy)"], in: folder)
            #expect(try await packages(of: folder).map { $0.prefix(16) } == ["swift-http-types"])
        }
    }
}
