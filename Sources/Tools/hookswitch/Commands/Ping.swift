import ArgumentParser
import Dispatch
import Foundation
import Gateway
import Primitives
import Runtime
import SIP
import Synchronization
import UserAgent

struct Ping: ExplainedCommand {
    static let exits: KeyValuePairs<ExitStatus, String> = [
        .good: "the server answers 2xx, with --alive anything",
        .bad: "it does not",
        .cannotRun: "its name has no address",
    ]

    static let configuration = CommandConfiguration(
        abstract: "Ask a SIP server whether it takes calls (OPTIONS).",
        discussion: "\(ExitStatus.sentence(exits)) The container's health check.")

    @Argument(help: "sip:127.0.0.1:5060, or an address or a name, with a port or without.") var target: String
    @Flag(help: "Any answer is good, also that of a server that takes no calls now: for a check of whether it lives.") var alive = false
    @Option(help: "Seconds to wait.") var timeout = 3.0
    @Flag(help: "Print one JSON object.") var json = false

    struct Report: Encodable {
        var target: String
        var status: Int?
        var milliseconds: Double?
        /// Why there is no status.
        var failure: String?

        /// 503 says that a server is there, and full, or about to stop.
        var isRefusal: Bool { status == 503 }
        var text: String {
            let meaning = isRefusal ? ": it takes no calls now" : ""
            return "\(target) " + (status.map { "answered \($0) after \(Int(milliseconds ?? 0)) ms\(meaning)" } ?? failure ?? "")
        }

        /// Takes calls.
        var isGood: Bool { status.map { (200..<300).contains($0) } ?? false }
        var isAlive: Bool { status != nil }
    }

    func run() throws {
        let report = try report()
        if json { try printJSON(report) } else { try StandardOutput.print(report.text) }
        guard alive ? report.isAlive : report.isGood else { throw ExitCode(.bad) }
    }

    func report() throws -> Report {
        _ = try Bounded.seconds(timeout, option: "--timeout", in: 0.1...60)
        let target = try SIPTarget(self.target)
        try target.transport.mustBePlain(for: "ping", self.target)
        let begin = MonotonicClock.now
        let status = try OneOff.options(target, timeout: timeout)
        let elapsed = Double((MonotonicClock.now - begin).wholeNanoseconds)
        if let status { return Report(target: self.target, status: status, milliseconds: elapsed / 1e6) }
        let failure =
            elapsed < timeout * 1e9 ? "cannot be reached: nobody takes messages there" : "did not answer within \(Bounded.short(timeout)) s"
        return Report(target: self.target, failure: failure)
    }
}

/// A SIP URI, and where it leads.
struct SIPTarget {
    var uri: URI
    var address: SocketAddress
    var transport: Transport

    /// - Parameter wanted: goes before what the URI says.
    init(_ text: String, over wanted: Transport? = nil) throws {
        let whole = text.hasPrefix("sip:") || text.hasPrefix("sips:") ? text : "sip:" + text
        guard let uri = try? URI(parsing: Text(whole)), uri.scheme == .sip || uri.scheme == .sips else {
            throw Failure.usage("'\(text)' is no SIP URI as sip:9196@127.0.0.1:5060")
        }
        (self.uri, transport) = (uri, try wanted ?? uri.carrier())
        if let host = uri.address {
            address = SocketAddress(host, port: uri.port ?? transport.standardPort)
        } else {
            guard HostLookup.name(in: uri.host.description) != nil else {
                throw Failure.usage("'\(text)': the host is an address or a name as 127.0.0.1, [::1] or sip.example.test")
            }
            address = try HostLookup.address(of: uri.host, port: uri.port, over: transport)
        }
    }

    /// From a socket of any port of ours.
    var flow: Flow { Flow(transport: transport, local: SocketAddress(local, port: 0), remote: address) }

    /// The address of this machine that faces the target.
    var local: IPAddress { LocalAddresses.used(towards: address.address) ?? (address.address.family == .v4 ? .anyV4 : .anyV6) }
}

/// One request from a lane of its own.
enum OneOff {
    /// The final status, or nil when there was none in time.
    static func options(_ target: SIPTarget, timeout: Double) throws -> Int? {
        let answered = DispatchSemaphore(value: 0)
        let status = Mutex<Int?>(nil)
        let lane: Lane<SignallingHost<UserAgent>>
        do throws(SocketError) {
            lane = try Lane(label: "ping") { lane, _ throws(SocketError) in
                let transports = try Transports(.init(listeners: [.init(.udp, SocketAddress(target.local, port: 0))]), on: lane)
                return SignallingHost(transports: transports) {
                    UserAgent(configuration: UserAgentConfiguration(), network: $0, random: SystemRandom(), hash: OpenSSLDigest.sip)
                }
            }
        } catch { throw Failure.cannotRun(error.description) }
        lane.post { host, now in
            let us = NameAddress(uri: URI(user: "ping", host: Text("\(target.local)")))
            var flow = target.flow
            if let listener = host.transports.listeners.first, target.transport == .udp { flow.local = listener.address }
            host.endpoint.options(OutgoingOptions(target: target.uri, flow: flow, from: us, to: NameAddress(uri: target.uri)), at: now) {
                code, message, _ in
                status.withLock { $0 = message == nil ? nil : code }
                answered.signal()
            }
        }
        _ = answered.wait(timeout: .now() + timeout)
        lane.close()
        return status.withLock { $0 }
    }
}
