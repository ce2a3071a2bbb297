import Primitives
import SIP
import UserAgent

/// The trunks of the lines that have one, in the order of the lines, so that a replay does the same. Lives on the signalling lane.
final class Trunks {
    private let context: GatewayContext
    private let routing: Routing
    let all: [Trunk]
    private let byLine: [Int: Trunk]

    init(_ context: GatewayContext, _ lines: LineTable, _ surroundings: Trunk.Surroundings) {
        (self.context, routing) = (context, lines.routing)
        var byLine: [Int: Trunk] = [:]
        all = lines.all.compactMap { line in
            guard case .trunk(let configuration) = line.configuration.endpoint else { return nil }
            let trunk = Trunk(configuration, line: line.configuration.number, surroundings)
            byLine[line.index] = trunk
            return trunk
        }
        self.byLine = byLine
    }

    func trunk(of line: Line) -> Trunk? { byLine[line.index] }

    /// The trunk that a call over this flow comes from.
    func sender(over flow: Flow) -> Trunk? { all.first { $0.sends(flow) } }

    /// Looks for the servers, and registers.
    func start() {
        for trunk in all { trunk.start(at: context.now) }
    }

    /// Takes the registrations back.
    func leave() {
        for trunk in all { trunk.leave(at: context.now) }
    }

    var deadline: Instant? { all.compactMap(\.deadline).min() }

    func advance(to now: Instant) {
        for trunk in all where trunk.deadline.map({ $0 <= now }) == true { trunk.advance(to: context.now) }
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

    /// Of a request of a trunk: the number that it names, in our words, or where it called our Contact the number that is meant by that.
    func number(dialledBy request: Message, from trunk: Trunk) -> Text? {
        let rules = trunk.configuration
        guard let target = request.requestURI, var dialled = routing.dialledNumber(target) else { return nil }
        if rules.registration != nil, dialled == rules.contactUser(line: trunk.line) {
            dialled = rules.incoming ?? routing.dialledNumber(request.to.uri) ?? dialled
        }
        return rules.incomingRewrites.rewritten(dialled)
    }

    /// Back to the trunk that it came from: it would come again.
    func isReturning(_ origin: Trunk?, to line: Line) -> Bool {
        origin.map { trunk(of: line) === $0 && !$0.configuration.isHairpin } ?? false
    }
}
