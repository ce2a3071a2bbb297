// Run by scripts/capacity: a cluster on paper.

import Capacity
import Foundation

/// Says a line to whoever waits.
func say(_ line: String) { FileHandle.standardError.write(Data("capacity: \(line)\n".utf8)) }

let words = Array(CommandLine.arguments.dropFirst())
guard !words.contains("--help") else {
    for (name, text) in CapacityOptions.help { print("  \(name.padding(toLength: 20, withPad: " ", startingAt: 0)) \(text)") }
    exit(0)
}
do throws(CapacityOptions.UsageError) {
    let options = try CapacityOptions(words)
    guard !options.listsCosts else {
        print(options.costs.text)
        exit(0)
    }
    let study = CapacityStudy(options, progress: say)
    if options.json != "-" { print(CapacityText(study).text) }
    if let path = options.json { try StudyFile(study).write(to: path) }
} catch {
    say("\(error) (see scripts/capacity --help)")
    exit(2)
}
