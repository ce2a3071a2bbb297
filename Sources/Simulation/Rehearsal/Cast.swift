import Gateway
import Primitives
import SIP
import UserAgent

/// The players: the gateway's lines, the phones, and their addresses (RFC 5737).
enum Cast {
    static let domain: Text = "hookswitch.test"
    static let password: Text = "secret"
    static let gateway = SocketAddress(IPAddress(v4: 0xCB00_7101), port: 5060)

    static func callerAddress(_ index: Int) -> SocketAddress { SocketAddress(IPAddress(v4: 0xC633_6400 + UInt32(index)), port: 5060) }
    static func deviceAddress(_ index: Int) -> SocketAddress { SocketAddress(IPAddress(v4: 0xC000_0200 + UInt32(index)), port: 5060) }

    struct CallerRole {
        let address: SocketAddress
        let transport: Transport
        let line: (number: Text, password: Text)?
    }

    /// Two that are trusted, one of them over connections, and two that have to prove who they are.
    static let callers = [
        CallerRole(address: callerAddress(1), transport: .udp, line: nil),
        CallerRole(address: callerAddress(2), transport: .tcp, line: nil),
        CallerRole(address: callerAddress(129), transport: .udp, line: ("1003", password)),
        CallerRole(address: callerAddress(130), transport: .tcp, line: ("1003", password)),
    ]

    struct Device {
        let user: String
        let line: Text
        let address: SocketAddress
    }

    /// One line with one device, one with three.
    static let devices = [
        Device(user: "one", line: "1001", address: deviceAddress(1)), Device(user: "two-a", line: "1002", address: deviceAddress(2)),
        Device(user: "two-b", line: "1002", address: deviceAddress(3)), Device(user: "two-c", line: "1002", address: deviceAddress(4)),
    ]

    struct TrunkRole {
        let number: Text
        let address: SocketAddress
        /// A trunk with several members forks: each of them gets the INVITE.
        let members: [SocketAddress]
        var usesTCP = false
    }

    static let trunks = [
        TrunkRole(number: "2000", address: deviceAddress(20), members: [deviceAddress(20)]),
        TrunkRole(number: "2001", address: deviceAddress(21), members: [deviceAddress(21)], usesTCP: true),
        TrunkRole(number: "3000", address: deviceAddress(30), members: [deviceAddress(31), deviceAddress(32)]),
    ]

    /// The numbers that are called; one of them nobody has.
    static let numbers: [Text] = ["1001", "1001", "1002", "1002", "2000", "2001", "3000", "3000", "9196", "9197", "4040"]

    static func configuration(portPairs: Int, random: inout SeededRandom) -> GatewayConfiguration {
        var configuration = GatewayConfiguration()
        configuration.domain = domain
        configuration.access.trusted = [IPNetwork("198.51.100.0/25")!]
        configuration.access.guests = []
        configuration.media.ports = 20_000...UInt16(20_000 + 2 * portPairs - 1)
        configuration.limits.dropsDeadContacts = false
        configuration.sip.sessionTimer = SessionTimer.Policy(interval: 90)
        let ring: Duration = random.chance(500) ? .seconds(60) : .seconds(3)
        for number: Text in ["1001", "1002", "1003"] {
            var line = line(number, .devices, ring)
            line.password = password
            configuration.lines.append(line)
        }
        for trunk in trunks {
            var endpoint = LineEndpoint.Trunk(address: trunk.address)
            if trunk.usesTCP { endpoint.targets[0].transport = .tcp }
            configuration.lines.append(line(trunk.number, .trunk(endpoint), ring))
        }
        configuration.lines += [line("9196", .application(.echo), ring), line("9197", .application(.tone), ring)]
        return configuration
    }

    private static func line(_ number: Text, _ endpoint: LineEndpoint, _ ring: Duration) -> LineConfiguration {
        var line = LineConfiguration(number: number)
        line.endpoint = endpoint
        line.ringTimeout = ring
        return line
    }
}
