import Primitives
import SIP
import UserAgent

/// The trunks of the lines that have one, in the order of the lines, so that a replay does the same. Lives on the signalling lane.
final class Trunks {
    private let context: GatewayContext
    private let lines: LineTable
    private let surroundings: Trunk.Surroundings
    private(set) var all: [Trunk] = []
    private var byLine: [Int: Trunk] = [:]
    /// Trunks of an earlier configuration, until their registrations have been taken back.
    private var leaving: [Trunk] = []
    /// Leases of the store, by the numbers of lines.
    private var leases: [String: TrunkLease] = [:]

    init(_ context: GatewayContext, _ lines: LineTable, _ surroundings: Trunk.Surroundings) {
        (self.context, self.lines, self.surroundings) = (context, lines, surroundings)
        adopt()
    }

    /// The trunks of the lines as they are configured now: one that is as it was stays, with its registration. One that changed leaves
    /// before the other registers.
    func reconfigure() {
        leaving.removeAll { !$0.isBusy }
        for (trunk, old) in adopt() {
            if let old { trunk.succeed(old, at: context.now) } else { trunk.start(at: context.now) }
            if let lease = leases[trunk.line.description] { trunk.adopt(lease, at: context.now) }
        }
        contend()
    }

    /// The leases of trunks as the store of several gateways has them.
    func adopt(_ leases: [TrunkLease]) {
        self.leases = Dictionary(leases.map { ($0.trunk, $0) }) { first, _ in first }
        for trunk in all { if let lease = self.leases[trunk.line.description] { trunk.adopt(lease, at: context.now) } }
    }

    /// Trunks that this gateway registers and checks, of those that gateways share.
    var held: Int { all.count { $0.isHeld && $0.configuration.isLeased } }

    private func contend() {
        guard context.leasesTrunks else { return }
        context.store?.contend(for: all.filter(\.isWanted).map(\.line.description))
    }

    /// - Returns: those that are new, and whose place they take.
    @discardableResult
    private func adopt() -> [(new: Trunk, old: Trunk?)] {
        let before = byLine
        var made: [(Trunk, Trunk?)] = []
        (all, byLine) = ([], [:])
        for line in lines.configured {
            guard case .trunk(let configuration) = line.configuration.endpoint else { continue }
            let old = before[line.index], isSame = old?.configuration == configuration
            let trunk = isSame ? old ?? make(configuration, line) : make(configuration, line)
            if !isSame { made.append((trunk, old)) }
            all.append(trunk)
            byLine[line.index] = trunk
        }
        let gone = before.sorted { $0.key < $1.key }.filter { byLine[$0.key] !== $0.value }
        leaving += gone.map(\.value)
        for (place, trunk) in gone where byLine[place] == nil { trunk.leave(at: context.now) }
        return made
    }

    private func make(_ configuration: TrunkConfiguration, _ line: Line) -> Trunk {
        Trunk(configuration, line: line.configuration.number, surroundings)
    }

    func trunk(of line: Line) -> Trunk? { byLine[line.index] }

    /// The trunk that a call over this flow comes from.
    func sender(over flow: Flow) -> Trunk? { all.first { $0.sends(flow) } }

    /// Looks for the servers, and registers.
    func start() {
        for trunk in all { trunk.start(at: context.now) }
        contend()
    }

    /// Our address is another.
    func renewContacts() {
        for trunk in all { trunk.renewContact(at: context.now) }
    }

    /// Takes the registrations back; other gateways may make theirs.
    func leave() {
        for trunk in all { trunk.leave(at: context.now) }
        if context.leasesTrunks { context.store?.contend(for: []) }
    }

    var deadline: Instant? { all.compactMap(\.deadline).min() }

    func advance(to now: Instant) {
        var changes = false
        for trunk in all where trunk.deadline.map({ $0 <= now }) == true {
            let wasWanted = trunk.isWanted
            trunk.advance(to: context.now)
            if trunk.isWanted != wasWanted { changes = true }
        }
        if changes { contend() }
    }

    /// Nothing is heard over the flow any more.
    func lost(_ flow: Flow) {
        for trunk in all { trunk.lost(flow) }
    }

    /// A CRLF that answers ours, or STUN beside SIP: of the trunk whose registration the flow is of.
    func receiveKeepAlive(_ bytes: [UInt8], over flow: Flow) {
        for trunk in all where trunk.receiveKeepAlive(bytes, over: flow, at: context.now) { break }
    }

    // MARK: Numbers

    /// Gives the number that a request of a trunk names, in our words. If it called our Contact, this is the number that is meant by that.
    func number(dialledBy request: Message, from trunk: Trunk) -> Text? {
        let rules = trunk.configuration
        guard let target = request.requestURI, var dialled = lines.routing.dialledNumber(target) else { return nil }
        if rules.registration != nil, dialled == rules.contactUser(line: trunk.line) {
            dialled = rules.incoming ?? lines.routing.dialledNumber(request.to.uri) ?? dialled
        }
        return rules.incomingRewrites.rewritten(dialled)
    }

    /// Back to the trunk that it came from: it would come again.
    func isReturning(_ origin: Trunk?, to line: Line) -> Bool {
        origin.map { trunk(of: line) === $0 && !$0.configuration.isHairpin } ?? false
    }
}
