import Foundation
import Gateway
import Media
import Primitives
import Runtime
import Store
import UserAgent

/// The facts that a person needs when the gateway starts: where it listens, what it tells peers, what it can carry, whom one can call.
struct StartupSummary: Encodable {
    struct Directory: Encodable { var name: String, block: String?, identify: String?, lines: [String] }
    struct Number: Encodable { var number: String, does: String, name: String? }

    var listens: [String]
    var advertises: String
    var mediaPorts: String
    /// The way of relayed packets, where it is not a matter of course.
    var relay: String?
    /// At a time, where every far end takes RTCP on the port of RTP; half as many where none does.
    var legs: Int
    var numbers: [Number]
    var journal: String?
    /// The database of recents, block lists, registrations and so on.
    var database: String?
    /// The address that monitors ask.
    var metrics: String?
    /// The control interface's places: a socket's path, addresses.
    var control: [String]
    var directories: [Directory]
    /// Seconds that a call waits for a sleeping device; nil: nobody is woken.
    var wakeLimit: Double?
    /// A call that is answered, where there is one; typed on this machine.
    var tryNext: String?
    var warnings: [String]

    init(_ configuration: ServeConfiguration, listeners: [Transports.Listener], ephemeral: ClosedRange<UInt16>?) {
        let gateway = configuration.gateway
        listens = listeners.map { "\($0.transport) \($0.address)" }
        advertises = Self.advertised(gateway.advertise, name: configuration.advertisedName)
        let ports = gateway.media.ports
        mediaPorts = "\(ports.lowerBound)-\(ports.upperBound)"
        legs = Self.legs(configuration, listeners)
        numbers = gateway.lines.map { line in
            Number(
                number: line.number.description, does: Self.does(line) + (line.recording == nil ? "" : ", recorded"),
                name: line.name?.description)
        }
        journal = configuration.journalFile
        database = configuration.databaseFile ?? configuration.data.address?.description
        metrics = configuration.metricsAddress.map { "http://\($0)/metrics" }
        control =
            (configuration.controlPath.map { [$0] } ?? [])
            + configuration.control.addresses.map { "http\(configuration.control.tls ? "s" : "")://\($0)/v1" }
        directories = configuration.directories.map { source in
            let enabled = gateway.lines.filter { $0.directories.contains(source.name) }
            return Directory(name: source.name, block: source.block, identify: source.identify, lines: enabled.map(\.number.description))
        }
        wakeLimit = gateway.push.isOn ? Double(gateway.push.limit.wholeMilliseconds) / 1_000 : nil
        tryNext = FirstCall(configuration, listeners)?.command
        warnings = Self.portWarnings(configuration, listeners)
        warnings += directories.filter(\.lines.isEmpty).map { "no line has enabled the directory \($0.name) (see 'directories' of a line)" }
        let rejects = directories.contains { $0.block != nil } && gateway.callInfo == nil
        if rejects, gateway.lines.contains(where: { !$0.directories.isEmpty && $0.refusals.over(gateway.refusals)[.directory] == 608 }) {
            warnings.append("a 608 has to say whom to ask (RFC 8688): set directories.call-info, or refusals.directory to 603")
        }
        if let ephemeral, ephemeral.overlaps(ports) {
            warnings.append(
                "media ports \(mediaPorts) overlap the kernel's own range \(ephemeral.lowerBound)-\(ephemeral.upperBound): another program may take one"
            )
        }
        warnings += Self.certificateWarnings(configuration)
    }

    /// Counts the ports of media that can be had at a time, without those that SIP has of them.
    static func legs(_ configuration: ServeConfiguration, _ listeners: [Transports.Listener]) -> Int {
        let ports = configuration.gateway.media.ports, taken = Set(listeners.filter { $0.transport == .udp }.map(\.address.port))
        return PortPool.size(of: ports) - taken.count { ports.contains($0 & ~1) && ports.contains($0 | 1) }
    }

    /// Media is bound beside every address, so that a port of SIP's among its ports is never to be had for it.
    private static func portWarnings(_ configuration: ServeConfiguration, _ listeners: [Transports.Listener]) -> [String] {
        let ports = configuration.gateway.media.ports, udp = listeners.filter { $0.transport == .udp && ports.contains($0.address.port) }
        return udp.map { "SIP's udp \($0.address) is one of the media ports \(ports.lowerBound)-\(ports.upperBound): no call can have it" }
    }

    /// Warns of certificates that are over, or soon will be.
    static func certificateWarnings(_ configuration: ServeConfiguration) -> [String] {
        (configuration.certificates + configuration.webSocket.certificates).compactMap(warning(ofCertificateIn:))
    }

    /// Half a month is time to get another certificate.
    private static func warning(ofCertificateIn path: String) -> String? {
        guard let validity = CertificateValidity(certificateIn: path) else { return nil }
        let day = 86_400, start = validity.start, end = validity.end
        if end < 0 { return "the certificate \(path) ended \(-end / day) days ago: clients that look will refuse it" }
        if start > 0 { return "the certificate \(path) counts from \(start / day) days on: clients that look will refuse it until then" }
        return end < 15 * day ? "the certificate \(path) ends in \(end / day) days" : nil
    }

    var text: String {
        var lines = [
            "  listens     \(listens.joined(separator: ", "))",
            "  advertises  \(advertises)",
            "  media       UDP \(mediaPorts): range allows \(legs) calls to an application or \(legs / 2) bridged calls with rtcp-mux, half as many without",
            "  numbers     \(numbers.isEmpty ? "none" : compactNumbers)",
            "  journal     \(journal ?? "not written (set data or journal.file)")",
            "  remembers   \(database ?? "nothing after a restart (set data)")",
        ]
        if let relay { lines.insert("  relay       \(relay)", at: 3) }
        if let metrics { lines.append("  metrics     \(metrics)") }
        if !control.isEmpty { lines.append("  control     \(control.joined(separator: ", "))") }
        lines += directories.map {
            "  directory   \($0.name): \([$0.block, $0.identify].compactMap(\.self).joined(separator: ", "))\($0.lines.isEmpty ? "" : ", for \($0.lines.joined(separator: ", "))")"
        }
        if let wakeLimit { lines.append("  wakes       sleeping devices; their calls wait \(wakeLimit.formatted()) s for them") }
        lines += warnings.map { "  warning     \($0)" }
        if let tryNext { lines.append("  try         \(tryNext)") }
        return lines.joined(separator: "\n")
    }

    private var compactNumbers: String {
        var groups: [(does: String, numbers: [String])] = []
        for number in numbers {
            if groups.last?.does == number.does {
                groups[groups.count - 1].numbers.append(number.number)
            } else {
                groups.append((number.does, [number.number]))
            }
        }
        return groups.map { group in
            let first = group.numbers[0], last = group.numbers[group.numbers.count - 1]
            return "\(Self.isRun(group.numbers) ? "\(first)-\(last)" : group.numbers.joined(separator: ", ")) (\(group.does))"
        }.joined(separator: ", ")
    }

    /// Three or more, each one more than the one before.
    private static func isRun(_ numbers: [String]) -> Bool {
        let values = numbers.map { Int($0) }
        return numbers.count > 2 && zip(values, values.dropFirst()).allSatisfy { one, next in one.map { $0 &+ 1 } == next && next != nil }
    }

    private static func advertised(_ advertise: GatewayConfiguration.Advertise, name: String?) -> String {
        guard let address = advertise.address else { return "the address of the socket that a peer reached, to everybody" }
        let inside = (["loopback"] + advertise.local.map(\.description)).joined(separator: ", ")
        return "\(address)\(name.map { " (\($0))" } ?? "") to everybody but \(inside), who are told the socket's own address"
    }

    private static func does(_ line: LineConfiguration) -> String {
        switch line.endpoint {
        case .devices: line.isOpen ? "devices, no password" : "devices"
        case .trunk(let trunk):
            "trunk \(trunk.targets.map(Self.text).joined(separator: ", "))\(trunk.registration == nil ? "" : ", registered")"
        case .application(let application): application.name
        case .group(let group): "rings \(group.members.map(\.number.description).joined(separator: ", ")) \(Self.order(of: group))"
        case .script: "script"
        }
    }

    private static func order(of group: RingGroup) -> String {
        switch group.strategy {
        case .inTurn(let time): "in turn, \(time.components.seconds) s each"
        case .all: group.members.contains { $0.delay > .zero } ? "one by one" : "together"
        }
    }

    private static func text(_ target: TrunkConfiguration.Target) -> String {
        let host = target.host.bytes.contains(0x3A) ? "[\(target.host)]" : "\(target.host)"
        return host + (target.port.map { ":\($0)" } ?? "") + (target.transport.map { " \($0)" } ?? "")
    }
}
