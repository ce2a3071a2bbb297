// Run by scripts/rehearse: many rehearsals on all cores, in release.

import Foundation

let words = CommandLine.arguments.dropFirst().map { String($0) }
guard words.count == 4, let count = Int(words[0]), let first = UInt64(words[1]), let threads = Int(words[2]) else {
    FileHandle.standardError.write(Data("rehearse: run it by scripts/rehearse\n".utf8))
    exit(2)
}
var marathon = Marathon(count, from: first, threads: threads, file: URL(filePath: words[3]))
do { exit(try marathon.run() ? 0 : 1) } catch {
    FileHandle.standardError.write(Data("rehearse: \(words[3]) cannot be written: \(error.localizedDescription)\n".utf8))
    exit(3)
}
