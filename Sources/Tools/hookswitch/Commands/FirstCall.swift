import Gateway
import Primitives
import Runtime
import SDP
import SIP
import UserAgent

/// The command that a person on this machine can type to hear that the gateway works.
struct FirstCall {
    let command: String

    /// Nil where nothing answers by itself, or nobody here may call it.
    init?(_ configuration: ServeConfiguration, _ listeners: [Transports.Listener]) {
        let gateway = configuration.gateway
        guard let line = Self.answerer(gateway.lines), let way = Self.way(listeners, configuration) else { return nil }
        let address = way.reachable
        guard let caller = Self.caller(gateway, from: address.address) else { return nil }
        var words = ["hookswitch call \(way.transport.isSecure ? "sips" : "sip"):\(line.number)@\(address)"]
        if way.transport == .tcp { words.append("--transport tcp") }
        if way.transport.isSecure {
            if IPAddress(gateway.domain.withoutBrackets) == nil { words.append("--tls-name \(gateway.domain)") }
            if let authorities = configuration.serverAuthorities { words.append("--ca \(authorities)") }
        }
        if line.srtp == .required { words.append("--srtp \(line.srtpKeying == .dtls ? "dtls" : "sdes")") }
        command = (words + caller).joined(separator: " ")
    }

    /// An echo judges the sound best; after it come others that are heard.
    private static func answerer(_ lines: [LineConfiguration]) -> LineConfiguration? {
        let ranked = lines.filter { $0.domain == nil && $0.takesCalls }.map { (line: $0, rank: rank($0.endpoint)) }
        return ranked.filter { $0.rank > 0 }.max { $0.rank < $1.rank }?.line
    }

    private static func rank(_ endpoint: LineEndpoint) -> Int {
        switch endpoint {
        case .application(let application): application.demonstration
        case .script(let script): script.act == .answer && script.busyEvery == nil ? 2 : 0
        case .devices, .trunk, .group: 0
        }
    }

    private static func way(_ listeners: [Transports.Listener], _ configuration: ServeConfiguration) -> Transports.Listener? {
        let open = listeners.filter { !$0.transport.isSecure || configuration.clientAuthorities == nil }
        return [Transport.udp, .tcp, .tls].lazy.compactMap { transport in open.first { $0.transport == transport } }.first
    }

    /// As whom: nobody where that is enough, else a line of ours. A password is not printed.
    private static func caller(_ gateway: GatewayConfiguration, from address: IPAddress) -> [String]? {
        if (gateway.access.trusted + gateway.access.guests).contains(where: { $0.contains(address) }) { return [] }
        let devices = gateway.lines.filter { $0.endpoint == .devices && $0.match == nil && $0.domain == nil }
        if let open = devices.first(where: \.isOpen) { return ["--from \(open.number)"] }
        return devices.first { $0.password != nil }.map { ["--from \($0.number) --password PASSWORD"] }
    }
}
