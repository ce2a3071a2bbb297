import ArgumentParser
import Foundation
import Primitives
import SDP

/// The options of the three sample apps: their line, and the actions of their user.
public struct SampleOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The line to register.", valueName: "number")) public var line = "1001"
    @Option(help: ArgumentHelp("The line's password.", valueName: "password")) public var password: String?
    @Option(help: ArgumentHelp("The SIP server: an address, with :PORT unless it is 5060.", valueName: "address")) public var server =
        "127.0.0.1:5060"
    @Option(help: ArgumentHelp("Call this when the line is registered.", valueName: "target")) public var call: String?
    @Option(help: ArgumentHelp("Call this too, when the first call is connected.", valueName: "target")) public var second: String?
    @Option(
        help: ArgumentHelp(
            "Answer so many milliseconds after the first ring; without it calls ring until they are given up.", valueName: "ms"))
    public var answerAfter: Int?
    @Option(help: ArgumentHelp("Decline so many milliseconds after the first ring.", valueName: "ms")) public var declineAfter: Int?
    @Option(help: ArgumentHelp("What to do with the active call when a second one is answered: hold or end.", valueName: "how")) public
        var waiting = WaitingCall.hold
    @Option(help: ArgumentHelp("Hold so many seconds after the connection.", valueName: "s")) public var holdAfter: Double?
    @Option(help: ArgumentHelp("Resume so many seconds after the hold.", valueName: "s")) public var resumeAfter: Double?
    @Option(help: ArgumentHelp("Mute so many seconds after the connection.", valueName: "s")) public var muteAfter: Double?
    @Option(help: ArgumentHelp("Keys to press half a second after the connection.", valueName: "digits")) public var dtmf: String?
    @Option(help: ArgumentHelp("Hang up so many seconds after the connection.", valueName: "s")) public var endAfter: Double?
    @Flag(help: "Join the second call with the first.") public var conference = false
    @Flag(help: "Let nobody in.") public var doNotDisturb = false
    @Option(help: ArgumentHelp("Let this number not in. May be repeated.", valueName: "number")) public var block: [String] = []
    @Option(help: ArgumentHelp("How long an incoming call rings.", valueName: "s")) public var ringTimeout: Double = 60
    @Option(
        help: ArgumentHelp(
            "Stop when so many calls are over; without it, at SIGINT or, after --call, when all are over.", valueName: "count"))
    public var calls: Int?
    @Option(
        help: ArgumentHelp(
            "Encrypt the sound: by sdes or dtls, and refuse the clear; optional takes what the other side can; off.", valueName: "how"))
    public var srtp = Encryption.off
    @Option(help: ArgumentHelp("Ports for media.", valueName: "low-high")) public var mediaPorts = "23000-23999"
    @Option(help: ArgumentHelp("Write the journal here, for hookswitch audit and ladder.", valueName: "file")) public var journal: String?
    @Flag(help: "One JSON object a line.") public var json = false

    public init() {}

    public enum WaitingCall: String, ExpressibleByArgument, Sendable { case hold, end }

    public enum Encryption: String, ExpressibleByArgument, CaseIterable, Sendable {
        case off, sdes, dtls, optional

        var policy: SRTPPolicy {
            switch self {
            case .off: .off
            case .optional: .optional
            case .sdes, .dtls: .required
            }
        }

        var keying: SRTPKeying { self == .dtls ? .dtls : .sdes }
    }

    public func validate() throws {
        guard let address = serverAddress, address.port != 0 else {
            throw ValidationError("--server takes an address as 127.0.0.1 or [::1]:5062, got '\(server)'")
        }
        guard mediaRange != nil else { throw ValidationError("--media-ports takes a range as 23000-23999, got '\(mediaPorts)'") }
        for (name, value) in [("answer-after", answerAfter), ("decline-after", declineAfter)] {
            if let value, !(0...3_600_000).contains(value) {
                throw ValidationError("--\(name) takes milliseconds from 0 to 3600000, got \(value)")
            }
        }
        let times = [
            ("hold-after", holdAfter), ("resume-after", resumeAfter), ("mute-after", muteAfter), ("end-after", endAfter),
            ("ring-timeout", ringTimeout),
        ]
        for (name, value) in times {
            if let value, !(0...86_400).contains(value) { throw ValidationError("--\(name) takes seconds from 0 to 86400, got \(value)") }
        }
        if let calls, calls < 1 { throw ValidationError("--calls takes a count from 1, got \(calls)") }
    }

    var serverAddress: SocketAddress? { SocketAddress(server, defaultPort: 5060) }

    var mediaRange: ClosedRange<UInt16>? {
        let ends = mediaPorts.split(separator: "-").compactMap { UInt16($0) }
        guard ends.count == 2, ends[0] >= 1024, ends[0] < ends[1] else { return nil }
        return ends[0]...ends[1]
    }
}
