import Foundation

/// A message of `os_log`. Each argument is written by its own description; widths and precisions of the format are not applied.
struct FormattedMessage {
    private(set) var text = ""

    init(_ format: String, _ arguments: [any CVarArg]) {
        var rest = Substring(format), arguments = arguments[...]
        while let percent = rest.firstIndex(of: "%") {
            text += rest[..<percent]
            rest = rest[rest.index(after: percent)...]
            if rest.first == "%" {
                text += "%"
                rest = rest.dropFirst()
            } else {
                text += Self.argument(&rest, arguments.popFirst())
            }
        }
        text += rest
    }

    /// The text in the place of what follows a percent sign.
    private static func argument(_ rest: inout Substring, _ value: (any CVarArg)?) -> String {
        var isPublic = false
        if rest.first == "{" {
            guard let end = rest.firstIndex(of: "}") else { return "%" }
            isPublic = rest[..<end].contains("public")
            rest = rest[rest.index(after: end)...]
        }
        guard let conversion = rest.firstIndex(where: { $0.isLetter && !"hlqLzjt".contains($0) || $0 == "@" }) else { return "%" }
        let kind = rest[conversion]
        rest = rest[rest.index(after: conversion)...]
        guard let value else { return "(missing)" }
        return isPublic || !"@sS".contains(kind) ? "\(value)" : "<private>"
    }
}
