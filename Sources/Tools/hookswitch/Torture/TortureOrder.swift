import Console
import Foundation
import Primitives
import SIP
import UserAgent
import Workbench

/// Torture that was asked for, with everything checked.
struct TortureOrder {
    var cases: [TortureCase]
    /// Nil only for a list.
    var plan: TorturePlan?
    var targetText: String
    var junit: ReportFile?
}

extension Torture {
    /// - Throws: a `Failure` in one line: 2 for what was typed, 3 for files.
    func order() throws -> TortureOrder {
        let cases = try chosen()
        if list, junit != nil { throw Failure.usage("--list and --junit exclude each other: what is not played has no verdict") }
        if list { return TortureOrder(cases: cases, plan: nil, targetText: "", junit: nil) }
        guard let target else {
            throw Failure.usage("whom to torture? 'hookswitch torture sip:9196@ADDRESS', a number that answers by itself")
        }
        let place = try CallTarget(target, server: nil, transport: try wantedTransport())
        try place.transport.mustBePlain(for: "torture", target)
        guard place.uri.user != nil else {
            throw Failure.usage("'\(target)' names nobody to call: write sip:9196@ADDRESS, a number that answers by itself")
        }
        let flow = Flow(transport: place.transport, local: try localAddress(facing: place.server), remote: place.server)
        var plan = TorturePlan(cases, target: place.uri, flow: flow)
        plan.line = try line()
        plan.isExact = exact
        plan.timeout = try Bounded.seconds(timeout, option: "--timeout", in: 0.5...30)
        if exact, place.transport == .udp, flow.local.port != 5060 {
            throw Failure.usage("--exact needs --local ADDRESS:5060: that is where the answers to messages without rport go")
        }
        return TortureOrder(
            cases: cases, plan: plan, targetText: "\(place.uri)", junit: try junit.map { try ReportFile($0.named(by: "--junit")) })
    }

    /// In the order of all cases.
    private func chosen() throws -> [TortureCase] {
        guard let only else { return TortureCase.all }
        let names = only.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        let known = TortureCase.Group.allCases.map(\.rawValue) + TortureCase.all.map(\.name)
        for name in names where !known.contains(name) {
            throw Failure.usage("--only knows no '\(name)'\(SpellingSuggestion.hint(for: name, among: known)); --list names all")
        }
        guard !names.isEmpty else { throw Failure.usage("--only takes names of cases or groups, separated by commas; --list names all") }
        return TortureCase.all.filter { names.contains($0.name) || names.contains($0.group.rawValue) }
    }

    /// Nil leaves it to the URI.
    private func wantedTransport() throws -> Transport? {
        guard let transport else { return nil }
        guard let wanted = ["udp": Transport.udp, "tcp": .tcp][transport] else {
            throw Failure.usage("--transport is udp or tcp, got '\(transport)'")
        }
        return wanted
    }

    private func localAddress(facing server: SocketAddress) throws -> SocketAddress {
        guard let local else { return SocketAddress(server.address.family == .v4 ? .anyV4 : .anyV6, port: 0) }
        guard let address = SocketAddress(local, defaultPort: 0), !address.address.isAny, address.address.family == server.address.family
        else {
            throw Failure.usage("--local takes one address of this machine, as 127.0.0.2:5060, got '\(local)'")
        }
        try SocketAddress.refuseBothReadings(of: local, option: "--local")
        return address
    }

    private func line() throws -> TorturePlan.Line? {
        guard let register else {
            if password != nil { throw Failure.usage("--password needs --register: whose password is it?") }
            return nil
        }
        let user = try Identity(register, option: "--register").user
        return TorturePlan.Line(user: user, password: password.map { Text($0) })
    }
}
