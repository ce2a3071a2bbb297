import ArgumentParser
import Console
import Dispatch
import Foundation
import Primitives
import Runtime
import Workbench

struct Agent: ExplainedCommand {
    static let exits: KeyValuePairs<ExitStatus, String> = [
        .good: "it was told to end, or made the one load of --once", .cannotRun: "its address cannot be had",
    ]

    static let configuration = CommandConfiguration(
        abstract: "Make calls for a load that another machine orders: hookswitch load --agents.",
        discussion: """
            Waits for the order of 'hookswitch load TARGET --agents THIS-MACHINE', makes its part of the calls with this machine's sockets, and tells how \
            it goes. One load at a time; a load whose orderer is silent for 15 s is given up. Files that --ca, --certificate and --certificate-key of the \
            load name are this machine's.

            Whoever reaches it can make this machine call others: at an address beyond this machine it needs a token, which the orderer shows \
            (--agent-token-file). The order has the passwords of the load's lines; over a network that others read, give it a certificate and name it as \
            https://… there. The first line of standard output is the address at which it listens. \(ExitStatus.sentence(exits))

            Examples:
              hookswitch agent
              hookswitch agent --listen 0.0.0.0:9467 --token-file token
              hookswitch agent --listen 10.0.0.7:9467 --token-file token --local 10.0.0.7 --once
            """)

    @Option(help: ArgumentHelp("Take orders here.", valueName: "address:port")) var listen = "127.0.0.1:\(AgentOptions.standardPort)"

    @Option(
        help: ArgumentHelp(
            "A file with the token that an orderer has to show (default: HOOKSWITCH_AGENT_TOKEN, else none).", valueName: "file"))
    var tokenFile: String?

    @Option(help: ArgumentHelp("Take SIP of loads here (default: any port, on the address that faces the target).", valueName: "address"))
    var local: String?

    @Option(help: ArgumentHelp("TLS: the certificate for orderers, PEM (default: in the clear).", valueName: "file")) var certificate:
        String?

    @Option(help: ArgumentHelp("TLS: its key, PEM (default: none).", valueName: "file")) var certificateKey: String?

    @Flag(help: "Make one load, and end.") var once = false

    func run() throws {
        let address = try address(), token = try AgentToken.read(tokenFile, option: "--token-file"), tls = try contexts()
        guard token != nil || address.address.isLoopback else {
            throw Failure.usage("--listen \(listen) lets other machines in: add --token-file, or \(AgentToken.variable)")
        }
        let reporter = ProgressReporter(.standardError), desk = AgentDesk(local: try localAddress(), isOnce: once, reporter),
            server: CommandServer
        do throws(SocketError) {
            server = try CommandServer(listening: address, tls: tls, token: token, AgentDesk.paths) { desk.answer($0, $1) }
        } catch { throw Failure.cannotRun("--listen: \(error.description)") }
        let trap = SignalTrap(on: DispatchQueue(label: "agent")) { _ in
            desk.stop()
            desk.isDone.signal()
        }
        try StandardOutput.print("\(server.address)")
        desk.isDone.wait()
        withExtendedLifetime((trap, server)) {}
        reporter.finish()
    }

    private func address() throws -> SocketAddress {
        guard let address = SocketAddress(listen, defaultPort: AgentOptions.standardPort) else {
            throw Failure.usage("--listen takes an address and a port as 0.0.0.0:\(AgentOptions.standardPort), got '\(listen)'")
        }
        return address
    }

    private func localAddress() throws -> String? {
        guard let local else { return nil }
        guard let place = SocketAddress(local, defaultPort: 0), !place.address.isAny else {
            throw Failure.usage("--local takes one address of this machine as 10.0.0.7, got '\(local)'")
        }
        return local
    }

    private func contexts() throws -> TLSContexts? {
        var settings = TLSSettings()
        switch (certificate, certificateKey) {
        case (let certificate?, let key?): settings.identities = [.init(certificate: certificate, key: key)]
        case (nil, nil): return nil
        default: throw Failure.usage("--certificate and --certificate-key belong together")
        }
        do throws(TLSError) { return try TLSContexts(settings) } catch { throw Failure.cannotRun("\(error)") }
    }
}
