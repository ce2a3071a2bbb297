import Foundation

/// The command line, which `scripts/fuzz --server` has made.
struct Options {
    /// The built command, the folder with the messages to begin with, one for the server to work in, and one for what broke it.
    var hookswitch = "", corpus = "", work = "", findings = ""
    var seed: UInt64 = 0
    /// Nil: all of them.
    var surface: Surface?
    /// The number of the first input, of one surface.
    var from = 0
    /// Inputs between two looks at the server.
    var every = 50
    var inputs: Int?
    var seconds: Int?

    static let usage = """
        usage: network-fuzz --hookswitch FILE --corpus FOLDER --work FOLDER --findings FOLDER --seed S [--surface NAME [--from N]] \
        [--inputs N | --seconds N] [--every N]
        """

    /// - Throws: a `Usage` in one line.
    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let name = rest.popFirst() {
            guard let value = rest.popFirst() else { throw Usage("\(name) takes a value") }
            try set(name, value)
        }
        if hookswitch.isEmpty || corpus.isEmpty || work.isEmpty || findings.isEmpty { throw Usage(Self.usage) }
        if from > 0, surface == nil { throw Usage("--from numbers the inputs of one surface: name it with --surface") }
        if inputs != nil, seconds != nil { throw Usage("--inputs and --seconds exclude each other") }
    }

    private mutating func set(_ name: String, _ value: String) throws {
        switch name {
        case "--hookswitch": hookswitch = value
        case "--corpus": corpus = value
        case "--work": work = value
        case "--findings": findings = value
        case "--seed": seed = try Self.number(name, value)
        case "--from": from = Int(try Self.number(name, value, below: 1_000_000_000))
        case "--every": every = max(1, Int(try Self.number(name, value, below: 100_001)))
        case "--inputs": inputs = Int(try Self.number(name, value, below: 1_000_000_001))
        case "--seconds": seconds = Int(try Self.number(name, value, below: 1_000_001))
        case "--surface":
            guard let surface = Surface(rawValue: value) else { throw Usage("there is no surface '\(value)'; there are \(Self.surfaces)") }
            self.surface = surface
        default: throw Usage(Self.usage)
        }
    }

    private static let surfaces = Surface.allCases.map(\.rawValue).joined(separator: ", ")

    private static func number(_ name: String, _ value: String, below limit: UInt64 = .max) throws -> UInt64 {
        guard let number = UInt64(value), number < limit else { throw Usage("\(name) takes a number, got '\(value)'") }
        return number
    }
}

/// A mistake in the arguments: exit code 2.
struct Usage: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}

/// The machine is at fault: exit code 3.
struct CannotRun: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}

/// The server did wrong: exit code 1.
struct Broken: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}
