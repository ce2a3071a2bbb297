/// One Swift source as an app has it.
package struct CallSource: Sendable {
    /// The path that messages of the compiler name.
    package let path: String
    package let text: String

    package init(path: String, text: String) { (self.path, self.text) = (path, text) }
}

/// Makes copies of an app's sources that the compiler of Linux takes: without the attributes and expressions that need Objective-C.
///
/// A copy has two lines before those of its source, and says in the second that the rest are the source's: messages of the compiler name
/// the source and its line. Comments and literals are never touched, and neither is the code of an interpolation.
package struct SourceRewriter: Sendable {
    /// Members that an object may lack: a call of one loses the `?` after its name.
    let optionalMembers: Set<String>
    let keepsEntryPoint: Bool
    /// Modules that each copy imports: what the app has from its bridging header.
    private let modules: [String]

    /// - Parameters:
    ///   - sources: all sources of the module; the protocols of one have their callers in others.
    ///   - modules: what each copy imports beside what its source does, in the place of a bridging header.
    ///   - keepsEntryPoint: whether the module is an executable, whose `@main` and `@UIApplicationMain` are kept as `@main`.
    package init(of sources: [CallSource], importing modules: [String] = [], keepsEntryPoint: Bool) {
        let found = sources.lazy.flatMap { SourcePass(bytes: Array($0.text.utf8)).optionalMembers() }
        optionalMembers = Self.membersOfSystem.union(found)
        (self.modules, self.keepsEntryPoint) = (modules, keepsEntryPoint)
    }

    /// The names of optional methods in protocols of the shims.
    private static let membersOfSystem: Set<String> = [
        "provider", "providerDidBegin", "pushRegistry", "application", "scene", "userNotificationCenter", "callObserver",
    ]

    package func copy(of source: CallSource) -> String {
        var pass = SourcePass(bytes: Array(source.text.utf8))
        pass.rewrite(with: self)
        let imports = ["HookswitchObjectiveC"] + pass.modulesOfFoundation + modules
        let path = source.path.reduce(into: "") { $0 += $1 == "\\" || $1 == "\"" ? "\\\($1)" : String($1) }
        return imports.map { "import \($0)" }.joined(separator: "; ") + "\n#sourceLocation(file: \"\(path)\", line: 1)\n" + pass.result
    }
}
