import Foundation
import PackagePlugin

/// Gives the compiler copies of an app's sources that Linux can build: of each Swift file in the target's folder that the target does not
/// itself compile.
///
/// The file `.callsources` in that folder names files and folders to leave out, one a line. A line `import MODULE` is for each copy: what
/// the app has from its bridging header.
@main
struct CallSources: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let module = target.sourceModule else { return [] }
        let list = lines(of: module.directoryURL.appendingPathComponent(".callsources")), word = "import "
        let modules = list.filter { $0.hasPrefix(word) }.map { $0.dropFirst(word.count).trimmingCharacters(in: .whitespaces) }
        let sources = originals(of: module, in: context.package, without: list.filter { !$0.hasPrefix(word) })
        guard !sources.isEmpty else { return [] }
        let copies = places(of: sources, in: context.pluginWorkDirectoryURL)
        let kind = hasEntryPointOfApp(module) ? "executable" : "library"
        return [
            .buildCommand(
                displayName: "Copying the call sources of \(target.name)", executable: try context.tool(named: "CopySources").url,
                arguments: [kind] + modules.flatMap { ["import", $0] } + zip(sources, copies).flatMap { [$0.path, $1.path] },
                inputFiles: sources, outputFiles: copies)
        ]
    }

    /// A `main.swift` beside the app is its host, which launches the app's delegate: then the app's own entry point is taken out.
    private func hasEntryPointOfApp(_ module: any SourceModuleTarget) -> Bool {
        module.kind == .executable && !module.sourceFiles(withSuffix: "swift").contains { $0.url.lastPathComponent == "main.swift" }
    }

    private func originals(of module: any SourceModuleTarget, in package: Package, without names: [String]) -> [URL] {
        let root = module.directoryURL.resolvingSymlinksInPath()
        let compiled = Set(module.sourceFiles(withSuffix: "swift").map { $0.url.resolvingSymlinksInPath().path })
        let others = package.targets.map { $0.directoryURL.resolvingSymlinksInPath().path }.filter { $0.hasPrefix(root.path + "/") }
        let leftOut = Set(others + names.map { root.appendingPathComponent($0).path })
        let walk = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil, options: [.skipsHiddenFiles])
        var found: [URL] = []
        while let file = (walk?.nextObject() as? URL)?.resolvingSymlinksInPath() {
            if leftOut.contains(file.path) {
                walk?.skipDescendants()
            } else if file.pathExtension == "swift", !isManifest(file.lastPathComponent), !compiled.contains(file.path) {
                found.append(file)
            }
        }
        return found.sorted { $0.path < $1.path }
    }

    private func isManifest(_ name: String) -> Bool { name == "Package.swift" || name.hasPrefix("Package@swift-") }

    /// The lines of a list; an empty one, and one that begins with #, is none.
    private func lines(of list: URL) -> [String] {
        guard let data = FileManager.default.contents(atPath: list.path) else { return [] }
        return String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty && !$0.hasPrefix("#") }
    }

    /// A copy has the name of its source with `copy` in it, so that `#fileID` is another; a number tells two of one name apart.
    private func places(of sources: [URL], in folder: URL) -> [URL] {
        var uses: [String: Int] = [:]
        return sources.map { source in
            let name = source.deletingPathExtension().lastPathComponent, count = uses[name, default: 0]
            uses[name] = count + 1
            return folder.appendingPathComponent(count == 0 ? "\(name).copy.swift" : "\(name).copy\(count).swift")
        }
    }
}
