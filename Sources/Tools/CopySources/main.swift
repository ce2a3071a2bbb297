import Foundation
import SourceRewriter

// Run by the plug-in CallSources: CopySources executable|library [import MODULE]... (SOURCE COPY)...

/// Ends with a line that says what is wrong.
func refuse(_ reason: String) -> Never {
    FileHandle.standardError.write(Data("error: CopySources: \(reason)\n".utf8))
    exit(2)
}

let words = Array(CommandLine.arguments.dropFirst())
guard let kind = words.first, kind == "executable" || kind == "library", words.count % 2 == 1 else {
    refuse("the arguments are executable or library, import and a module for each, then each source and its copy")
}
let all = stride(from: 1, to: words.count, by: 2).map { (source: words[$0], copy: words[$0 + 1]) }
let modules = all.prefix { $0.source == "import" }.map(\.copy), pairs = all.dropFirst(modules.count)
let sources = pairs.map { pair in
    guard let data = FileManager.default.contents(atPath: pair.source) else { refuse("cannot read \(pair.source)") }
    return CallSource(path: pair.source, text: String(decoding: data, as: UTF8.self))
}
let rewriter = SourceRewriter(of: sources, importing: modules, keepsEntryPoint: kind == "executable")
for (pair, source) in zip(pairs, sources) {
    let copy = Data(rewriter.copy(of: source).utf8)
    // A copy that is as it was keeps its date, and is not compiled again.
    guard FileManager.default.contents(atPath: pair.copy) != copy else { continue }
    do { try copy.write(to: URL(fileURLWithPath: pair.copy)) } catch { refuse("cannot write \(pair.copy)") }
}
