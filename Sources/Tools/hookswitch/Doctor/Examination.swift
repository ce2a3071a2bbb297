import Gateway
import Media
import Primitives
import Runtime
import SIP
import Store
import UserAgent

/// The doctor's questions, one after the other.
struct Examination {
    private typealias Finding = DoctorReport.Finding
    private let configuration: ServeConfiguration
    private let machine: Machine

    init(_ configuration: ServeConfiguration, _ machine: Machine) { (self.configuration, self.machine) = (configuration, machine) }

    /// - Parameter published: of a compose file, where one is used.
    func all(_ published: ComposePorts?) -> [DoctorReport.Finding] {
        advertised() + listeners() + folder() + database() + [mediaPorts(), capacity()] + (published.map(compose) ?? []) + [
            relay(), buffers(), clock(), descriptors(),
        ] + names()
            + warnings() + [rest()].compactMap(\.self)
    }

    /// Warnings of a start about resources: too few descriptors, and sockets that hold little.
    var resourceWarnings: [String] {
        [descriptors(), buffers()].filter { $0.grade != .good }.map { finding in
            "\(finding.subject): \(finding.text)\(finding.remedy.map { " (\($0))" } ?? "")"
        }
    }

    private var gateway: GatewayConfiguration { configuration.gateway }
    private var ports: ClosedRange<UInt16> { gateway.media.ports }

    /// Examines the address that peers outside are told, and whether they can get there.
    private func advertised() -> [Finding] {
        let subject = "advertised", own = machine.addresses
        let bound = Set(configuration.listeners.map(\.address.address))
        if let address = gateway.advertise.address {
            let inside = gateway.advertise.local.map { "\($0)" }.joined(separator: ", ")
            let isOwn = own.contains(address) || address.isLoopback
            var findings = [
                Finding(
                    grade: .good, subject: subject,
                    text:
                        "\(address) to all but loopback\(inside.isEmpty ? "" : " and \(inside)")\(isOwn ? "" : "; not of this machine, so something must translate")"
                )
            ]
            if address.isLoopback {
                findings.append(
                    Finding(
                        grade: .bad, subject: subject, text: "\(address) is told to other machines, which look for it at themselves",
                        remedy: "set advertise.address to the address that callers reach"))
            }
            return findings
        }
        if bound.allSatisfy(\.isLoopback) {
            return [
                Finding(
                    grade: .note, subject: subject, text: "loopback alone: nobody outside of this machine or container can call",
                    remedy: "sip.udp: [\"0.0.0.0:5060\"], and advertise.address")
            ]
        }
        let families = Set(bound.filter(\.isAny).map(\.family)),
            everywhere = own.filter { families.contains($0.family) && !MachineKind.isLinkLocal($0) }
        let told = everywhere + bound.filter { !$0.isLoopback && !$0.isAny && !everywhere.contains($0) }
        return told.map { address in
            let isContainer = MachineKind.looksContained(address)
            return Finding(
                grade: isContainer ? .bad : .good, subject: subject,
                text:
                    "\(address) to peers that reach it there\(isContainer ? ": an address of a container's network, which others cannot reach" : "")",
                remedy: isContainer ? "set advertise.address to the address of the host" : nil)
        }
    }

    private func listeners() -> [Finding] {
        configuration.listeners.map { listener("\($0.transport)", $0.address, isTCP: $0.transport != .udp) }
            + (configuration.metricsAddress.map { [listener("metrics", $0, isTCP: true)] } ?? [])
            + configuration.control.addresses.map { listener("api", $0, isTCP: true) }
    }

    private func listener(_ name: String, _ address: SocketAddress, isTCP: Bool) -> Finding {
        guard let failure = machine.bindFailure(address, isTCP) else {
            return Finding(grade: .good, subject: "listens", text: "\(name) \(address) is free")
        }
        return Finding(grade: .note, subject: "listens", text: "\(name) \(address): \(failure)", remedy: Self.ourselves)
    }

    private func folder() -> [Finding] {
        guard let path = configuration.dataFolder else { return [] }
        guard let failure = machine.folderFailure(path) else {
            return [Finding(grade: .good, subject: "data", text: "\(path) can be written to")]
        }
        let isInUse = failure == .inUse
        return [
            Finding(
                grade: isInUse ? .note : .bad, subject: "data", text: "\(path) \(failure.text)",
                remedy: isInUse ? Self.ourselves : "a folder that this user may write to")
        ]
    }

    private func database() -> [Finding] {
        let subject = "database"
        let settings: PostgresStore.Settings?
        do { settings = try configuration.postgresSettings } catch {
            let text = (error as? Failure)?.message ?? "\(error)"
            return [Finding(grade: .bad, subject: subject, text: text, remedy: "a password file that this user may read")]
        }
        guard let settings else { return [] }
        switch machine.database(.database(settings)) {
        case .good(let time):
            return [Finding(grade: .good, subject: subject, text: "\(settings.address) was read in \(Int(time.rounded(.up))) ms")]
        case .otherVersion(let version, let words):
            let isLater = version == .later
            return [
                Finding(
                    grade: isLater ? .bad : .note, subject: subject, text: "\(settings.address): \(words)",
                    remedy: isLater ? "the program of that version" : "good before the first start: 'serve' does it, too")
            ]
        case .refused(let words): return [Finding(grade: .bad, subject: subject, text: words, remedy: "a start ends with this line")]
        case .away(let words):
            return [
                Finding(
                    grade: .bad, subject: subject, text: words,
                    remedy: "a gateway whose database is away starts, and serves without what was kept there")
            ]
        }
    }

    private static let ourselves = "good, if that is the gateway itself"

    private func mediaPorts() -> Finding {
        let text = "UDP \(ports.lowerBound)-\(ports.upperBound)"
        guard let kernel = machine.ephemeral else {
            return Finding(grade: .note, subject: "media ports", text: "\(text); the kernel does not tell which it gives away itself")
        }
        guard kernel.overlaps(ports) else {
            return Finding(
                grade: .good, subject: "media ports", text: "\(text), clear of the kernel's own \(kernel.lowerBound)-\(kernel.upperBound)")
        }
        let shared = kernel.clamped(to: ports)
        return Finding(
            grade: .bad, subject: "media ports",
            text: "\(text): the kernel may give \(shared.lowerBound)-\(shared.upperBound) to any program (ip_local_port_range)",
            remedy:
                "media.ports below \(kernel.lowerBound), or sysctl net.ipv4.ip_local_reserved_ports=\(ports.lowerBound)-\(ports.upperBound)"
        )
    }

    private func capacity() -> Finding {
        let legs = StartupSummary.legs(configuration, configuration.listeners)
        return Finding(
            grade: legs < 4 ? .note : .good, subject: "capacity",
            text: "\(legs) legs at a time with rtcp-mux, \(legs / 2) without; a bridged call has two",
            remedy: legs < 4 ? "a wider media.ports" : nil)
    }

    /// Examines the services of a file. If it has others besides the gateway, only those that publish something of the gateway are meant.
    private func compose(_ published: ComposePorts) -> [Finding] {
        if published.services.isEmpty { return [Finding(grade: .note, subject: "compose", text: "\(published.path) publishes no port")] }
        let meant = published.services.filter { service in
            service.publishes(someOf: ports) || signalling.contains { service.publishes($0.port, $0.kind) }
        }
        return published.services.filter { service in meant.isEmpty || service.usesHostNetwork || meant.contains { $0.name == service.name }
        }.map(compose)
    }

    private var signalling: [(port: UInt16, kind: ComposePorts.Kind)] {
        configuration.listeners.map { ($0.address.port, $0.transport == .udp ? .udp : .tcp) }
    }

    private func compose(_ service: ComposePorts.Service) -> Finding {
        func bad(_ text: String, _ remedy: String) -> Finding {
            Finding(grade: .bad, subject: "compose", text: "\(service.name) \(text)", remedy: remedy)
        }
        if service.usesHostNetwork {
            return Finding(grade: .good, subject: "compose", text: "\(service.name) is on the host's network: nothing is in the way")
        }
        let hidden = signalling.filter { !service.publishes($0.port, $0.kind) }
        // TCP is for few, and may be kept inside where devices come over UDP.
        if let (port, kind) = hidden.first(where: { port, kind in
            kind == .udp || configuration.udp.isEmpty || (configuration.tls + configuration.webSocket.secure).contains { $0.port == port }
        }) {
            return bad("does not publish SIP's \(port)/\(kind)", "ports: \"\(port):\(port)/\(kind)\"")
        }
        if let missing = service.missing(ports) {
            let remedy =
                "ports: \"\(ports.lowerBound)-\(ports.upperBound):\(ports.lowerBound)-\(ports.upperBound)/udp\", or a smaller media.ports"
            return bad("does not publish media ports \(missing.lowerBound)-\(missing.upperBound)/udp: calls there have no sound", remedy)
        }
        if let moved = service.moved(ports) {
            return bad("publishes \(moved) under another number: SDP names the inner one", "the same number on both sides")
        }
        if let (port, kind) = hidden.first {
            return Finding(
                grade: .note, subject: "compose",
                text: "\(service.name) publishes SIP over UDP and all media ports, and not \(port)/\(kind)",
                remedy: "ports: \"\(port):\(port)/\(kind)\", where devices speak TCP")
        }
        return Finding(grade: .good, subject: "compose", text: "\(service.name) publishes SIP and all media ports")
    }

    /// Tells whether plain bridged calls can be relayed in the kernel, and what that changes.
    private func relay() -> Finding {
        let subject = "relay", choice = configuration.lanes.relay
        guard let refusal = machine.relayRefusal() else {
            return Finding(
                grade: .good, subject: subject,
                text: choice == .off
                    ? "by sockets; eBPF works here: bridged calls in the clear would cost a fraction, past the host's firewall"
                    : "plain bridged calls by eBPF; the host's firewall does not see them",
                remedy: choice == .off ? "media.kernel-relay: auto, if that is wanted" : nil)
        }
        guard choice != .off else { return Finding(grade: .good, subject: subject, text: "by sockets") }
        return Finding(
            grade: choice == .required ? .bad : .note, subject: subject, text: "by sockets: \(refusal)",
            remedy: "in a container user: root with cap_add: [BPF, NET_ADMIN, PERFMON]; else root, or AmbientCapabilities= of the three")
    }

    private func buffers() -> Finding {
        let wanted = 4 << 20
        guard let receive = machine.receiveBufferLimit, let send = machine.sendBufferLimit else {
            return Finding(grade: .note, subject: "buffers", text: "the kernel does not tell its limits")
        }
        guard min(receive, send) < wanted else { return Finding(grade: .good, subject: "buffers", text: "sockets may have 4 MiB and more") }
        return Finding(
            grade: .note, subject: "buffers",
            text: "rmem_max is \(receive / 1024) KiB, wmem_max \(send / 1024) KiB: bursts of SIP beyond that are lost",
            remedy: "sysctl net.core.rmem_max=\(wanted) net.core.wmem_max=\(wanted)")
    }

    private func clock() -> Finding {
        guard let source = machine.clockSource else {
            return Finding(grade: .note, subject: "clock", text: "the kernel does not tell its clock")
        }
        let isSlow = ["hpet", "acpi_pm", "jiffies", "pit"].contains(source)
        return Finding(
            grade: isSlow ? .bad : .good, subject: "clock",
            text: source + (isSlow ? ": reading it takes a system call for every packet" : ", read without a system call"),
            remedy: isSlow ? "boot with clocksource=tsc, or let the hypervisor offer a clock" : nil)
    }

    private func descriptors() -> Finding {
        let needed = min(gateway.limits.legs * 2, ports.count) + 64, limit = machine.descriptorLimit
        let isTooFew = limit > 0 && limit < needed
        return Finding(
            grade: isTooFew ? .bad : .good, subject: "descriptors", text: "\(limit) may be open, \(needed) can be needed",
            remedy: isTooFew ? "LimitNOFILE=\(needed), ulimit -n, or docker's --ulimit nofile=\(needed)" : nil)
    }

    /// Names of trunks, and our own.
    private func names() -> [Finding] {
        let targets =
            gateway.lines.flatMap { line -> [TrunkConfiguration.Target] in
                guard case .trunk(let trunk) = line.endpoint else { return [] }
                return trunk.targets
            } + (gateway.domain == "localhost" ? [] : [TrunkConfiguration.Target(host: gateway.domain)])
        let named = targets.filter { IPAddress($0.host.withoutBrackets) == nil }
        return Dictionary(named.map { ("\($0.host)", $0) }, uniquingKeysWith: { first, _ in first }).sorted { $0.key < $1.key }.map {
            host, target in
            guard let time = machine.resolve(target, configuration) else {
                return Finding(
                    grade: .note, subject: "names", text: "\(host) has no address here",
                    remedy: "its entry in DNS, or the resolver of this machine")
            }
            let isSlow = time > 1_000
            return Finding(
                grade: isSlow ? .note : .good, subject: "names", text: "\(host) is found in \(Int(time.rounded())) ms",
                remedy: isSlow ? "a resolver that is nearer" : nil)
        }
    }

    /// Warnings of a start; the kernel's own ports have a finding of theirs.
    private func warnings() -> [Finding] {
        StartupSummary(configuration, listeners: configuration.listeners, ephemeral: nil).warnings.map {
            Finding(grade: .note, subject: "settings", text: $0)
        }
    }

    private func rest() -> Finding? {
        machine.cores < 2
            ? Finding(
                grade: .note, subject: "cores", text: "one core for signalling and media: late packets under load", remedy: "two cores")
            : nil
    }
}

enum MachineKind {
    /// Whether an address is of one cable (RFC 3927, RFC 4291 §2.5.6): nobody calls there.
    static func isLinkLocal(_ address: IPAddress) -> Bool {
        ["169.254.0.0/16", "fe80::/10"].contains { IPNetwork($0)?.contains(address) == true }
    }

    /// Whether an address is of the networks that container engines make by default.
    static func looksContained(_ address: IPAddress) -> Bool {
        ["172.17.0.0/16", "172.18.0.0/15", "172.20.0.0/14", "10.88.0.0/16", "192.168.65.0/24"].contains {
            IPNetwork($0)?.contains(address) == true
        }
    }
}
