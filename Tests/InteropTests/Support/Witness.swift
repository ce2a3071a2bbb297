import Foundation
import Testing

/// `hookswitch witness` beside a gateway.
struct Witness {
    static let agreement = "the kernel and the journal agree"
    let program: Program

    /// Starts it and waits until it watches.
    /// - Parameter isOfItsProcess: only sockets of the gateway's process count.
    static func start(beside gateway: Gateway, isOfItsProcess: Bool = true) async throws -> Witness {
        let process = isOfItsProcess ? ["--pid", "\(gateway.program.pid)"] : []
        let program = try Program(Place.hookswitch, ["witness", "--journal", gateway.journalFile] + process)
        try await program.line(containing: "watching the ports \(gateway.mediaRange.lowerBound)-\(gateway.mediaRange.upperBound)")
        return Witness(program: program)
    }

    /// Ctrl-C, and its verdict.
    func stop(expecting code: Int32, _ location: SourceLocation = #_sourceLocation) async throws -> String {
        program.signal(SIGINT)
        let ended = try await program.exitCode(within: .seconds(20))
        #expect(ended == code, "\(program.transcript)", sourceLocation: location)
        return program.lines.all.last { $0.hasPrefix("witness: ") } ?? program.transcript
    }
}
