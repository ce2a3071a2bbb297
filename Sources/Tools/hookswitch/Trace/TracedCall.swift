import Gateway
import Primitives
import SIP
import UserAgent

/// The messages of one Call-ID: a call, a registration, or another request with its answers.
struct TracedCall {
    let callID: Text
    /// Its place in the trace, from 1 on.
    let number: Int
    /// Nanoseconds since 1970.
    let began: UInt64
    /// The method of its first message.
    let method: SIP.Method
    let from: NameAddress, to: NameAddress
    let transport: Transport
    let peer: SocketAddress

    private(set) var last: UInt64
    private(set) var count = 0
    /// nil where they are not kept, or no longer.
    private(set) var messages: [TracedMessage]?
    /// The status of the final response to the first request.
    private(set) var status: Int?
    private var hasRung = false, isOver = false

    init(_ traced: TracedMessage, _ message: Message, number: Int, keepsMessages: Bool) {
        (callID, self.number, began, last) = (message.callID.detached, number, traced.wall, traced.wall)
        (method, from, to) = (message.method, message.from, message.to)
        (transport, peer) = (traced.transport, traced.remote)
        messages = keepsMessages ? [] : nil
    }

    mutating func note(_ traced: TracedMessage, _ message: Message) {
        (count, last) = (count + 1, traced.wall)
        messages?.append(traced)
        guard let status = message.status else {
            if message.method == .bye { isOver = true }
            // The same again, with a password or another interval.
            if message.method == method, let before = self.status, before >= 300, before != 487 { self.status = nil }
            return
        }
        guard message.method == method, self.status == nil else { return }
        if status >= 200 { self.status = status } else if status > 100 { hasRung = true }
    }

    /// - Returns: how many there were.
    mutating func forgetMessages() -> Int {
        defer { messages = nil }
        return messages?.count ?? 0
    }

    /// As far as the messages tell.
    var disposition: CallDisposition {
        guard let status else { return .up }
        guard status >= 300 else { return method == .invite && !isOver ? .up : .answered }
        return CallDisposition(ofFinal: status, hasRung: hasRung)
    }

    /// `answered`, `refused 404`, `ringing`
    var statusText: String {
        guard disposition == .up, status == nil else { return CallWords.status(disposition, status) }
        return hasRung ? "ringing" : "no answer yet"
    }
}

/// The calls of a trace, gathered as its messages come.
struct TraceHistory {
    /// In the order in which they began.
    private(set) var calls: [TracedCall] = []
    /// Messages that could not be read.
    private(set) var unreadable = 0
    private var places: [Text: Int] = [:]
    private let keepsMessages: Bool
    /// The most messages that are kept; above that the oldest calls lose theirs.
    let mostMessages: Int
    private var kept = 0, forgotten = 0

    init(keepsMessages: Bool, mostMessages: Int = .max) { (self.keepsMessages, self.mostMessages) = (keepsMessages, mostMessages) }

    /// - Returns: the place of the message's call; nil for what cannot be read.
    @discardableResult
    mutating func note(_ traced: TracedMessage) -> Int? {
        guard let message = try? Message(parsing: traced.bytes) else {
            unreadable += 1
            return nil
        }
        let place = places[message.callID] ?? begin(traced, message)
        calls[place].note(traced, message)
        if calls[place].messages != nil { kept += 1 }
        while kept > mostMessages, forgotten < calls.count {
            kept -= calls[forgotten].forgetMessages()
            forgotten += 1
        }
        return place
    }

    private mutating func begin(_ traced: TracedMessage, _ message: Message) -> Int {
        calls.append(TracedCall(traced, message, number: calls.count + 1, keepsMessages: keepsMessages))
        places[message.callID.detached] = calls.count - 1
        return calls.count - 1
    }
}

/// The filter for the calls of a trace that are wanted.
struct TraceFilter {
    /// Parts of From, To and Call-ID, in any case.
    var from: String?, to: String?, call: String?
    /// None: all.
    var methods: [SIP.Method] = []
    var statuses: [CallStatusTerm] = []

    func takes(_ call: TracedCall) -> Bool {
        if !methods.isEmpty, !methods.contains(call.method) { return false }
        if !statuses.isEmpty, !statuses.contains(where: { $0.takes(call.disposition, call.status) }) { return false }
        return CallsFilter.isFound(from, in: [call.from.text]) && CallsFilter.isFound(to, in: [call.to.text])
            && CallsFilter.isFound(self.call, in: [call.callID])
    }

    /// `INVITE,register`
    static func methods(_ text: String) throws -> [SIP.Method] {
        try text.split(separator: ",", omittingEmptySubsequences: false).map { name in
            guard !name.isEmpty, name.allSatisfy(\.isLetter) else {
                throw Failure.usage("--method takes methods as INVITE,REGISTER, got '\(text)'")
            }
            return SIP.Method(Text(name.uppercased()))
        }
    }
}
