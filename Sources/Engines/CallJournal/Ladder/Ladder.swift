import Primitives

/// The look of a ladder.
public struct LadderOptions: Equatable, Sendable {
    /// Characters per line, at least 72.
    public var width: Int
    /// ANSI colours.
    public var colour: Bool

    /// - `width`: columns; fewer than 72 count as 72.
    public init(width: Int = 120, colour: Bool = false) { (self.width, self.colour) = (max(width, 72), colour) }
}

/// The story of one or more calls on one time axis, for people: SIP arrows between the parties and the gateway, what the gateway did in
/// between, and for each call a bar that shows its media.
///
/// Incoming calls stand on the left of the gateway, outgoing ones on the right. A bar is `·` while a port number is reserved, `┆` when the
/// media is configured, `│` while sockets are open and `║` while packets may flow. Retransmissions have dotted arrows. The time is in
/// milliseconds since the first event and is written where it changes.
public struct Ladder: Sendable {
    /// A party: one call of the journal.
    public struct Party: Sendable {
        public let call: CallUUID
        /// A letter.
        public let name: String
        public let line: Text
        public let isIncoming: Bool
    }

    let events: [JournalEvent]
    public let parties: [Party]
    let options: LadderOptions
    /// Calls that do not fit into the width.
    public let omitted: Int

    /// - Parameters:
    ///   - events: of one run, in order; events of other calls are left out.
    ///   - calls: whose story to tell; nil for all in `events`.
    ///   - options: width and colour.
    public init(_ events: [JournalEvent], calls: [CallUUID]? = nil, options: LadderOptions = LadderOptions()) {
        let found = Self.parties(in: events, only: calls.map(Set.init))
        let capacity = (options.width - LadderLayout.timeWidth - 2) / (LadderLayout.narrowestColumn + 2) - 1
        self.options = options
        parties = Array(found.prefix(max(capacity, 1)))
        omitted = found.count - parties.count
        let shown = Set(parties.map(\.call)), lines = Set(parties.map(\.line))
        self.events = events.filter { event in event.call.map(shown.contains) ?? (event.kind.isOfSystem && lines.contains(event.line)) }
    }

    /// The call and all that were joined with it, in the order in which they appear.
    public static func calls(joinedWith call: CallUUID, in events: [JournalEvent]) -> [CallUUID] {
        parties(in: events, only: joined(with: [call], in: events)).map(\.call)
    }

    /// The calls and all that were ever joined with one of them (`perform.group`).
    public static func joined(with calls: [CallUUID], in events: some Sequence<JournalEvent>) -> Set<CallUUID> {
        var joined = Set(calls)
        let pairs = events.compactMap { event -> Set<CallUUID>? in
            guard event.kind == .performGroup, let call = event.call, let other = event.details.uuid(.with) else { return nil }
            return [call, other]
        }
        while let pair = pairs.first(where: { !$0.isDisjoint(with: joined) && !$0.isSubset(of: joined) }) { joined.formUnion(pair) }
        return joined
    }

    private static func parties(in events: [JournalEvent], only calls: Set<CallUUID>?) -> [Party] {
        var parties: [Party] = []
        var known: Set<CallUUID> = []
        for event in events {
            guard let call = event.call, calls?.contains(call) ?? true, let isIncoming = event.showsIncoming, known.insert(call).inserted
            else { continue }
            parties.append(Party(call: call, name: name(parties.count), line: event.line, isIncoming: isIncoming))
        }
        return parties
    }

    /// A, B, … Z, A1, B1, …
    private static func name(_ index: Int) -> String {
        let letter = String(Unicode.Scalar(UInt8(0x41 + index % 26)))
        return index < 26 ? letter : letter + String(index / 26)
    }

    /// From top to bottom.
    public var steps: [LadderStep] {
        var reader = LadderSteps(self)
        return reader.all()
    }

    /// The whole ladder, each line with a newline.
    public var text: String {
        var painter = LadderPainter(self)
        return painter.paint()
    }
}

extension JournalEvent {
    /// Whether this event shows its call to be incoming (true) or outgoing (false); nil when it tells neither.
    fileprivate var showsIncoming: Bool? {
        switch kind {
        case .inviteReceived, .callRefused, .reportIncoming, .performAnswer: true
        case .sipReceived: details.text(.method) == "INVITE" ? details.number(.status) == nil : nil
        case .sipSent: details.text(.method) == "INVITE" ? details.number(.status) != nil : nil
        case .performStart: false
        default: nil
        }
    }
}

extension JournalEvent.Kind {
    /// About a line and not one call of it.
    fileprivate var isOfSystem: Bool {
        switch self {
        case .transactionRequested, .transactionAccepted, .transactionRefused, .systemAction, .sessionActivated, .sessionDeactivated,
            .providerReset:
            true
        default: false
        }
    }
}
