import Console
import Dispatch
import Foundation
import Gateway
import Primitives
import Runtime
import Synchronization

/// The addresses of the decision hook, and its default.
struct HookSettings {
    var address: URL?
    /// Asked when the first does not answer as it should.
    var fallback: URL?
    /// Seconds that each address has.
    var timeout = 2.0
    /// The default decision; nil: not set, which `check` refuses.
    var standard: CallDecision?
}

/// Asks a program over HTTP what becomes of each call from outside, before anything rings: one POST of JSON for a call.
///
/// A connection that fails is tried once more; then the fallback is asked; then the default holds. Each call has its decision in time,
/// whatever the program does. Blocks threads of its own alone.
final class DecisionHook: CallDecider {
    private struct Body: Encodable {
        let callID, from, to, dialled: String
        let line, trunk, userAgent, digits: String?
        let source: String
    }

    private static let mostWaiting = 1_000, threads = 16
    private let addresses: [URL]
    private let timeout: Double
    private let standard: CallDecision
    private let trust: TLSContexts?
    private let queues = (0..<DecisionHook.threads).map { DispatchQueue(label: "hook.\($0)") }
    private let alarms = DispatchQueue(label: "hook.alarms")
    private let state = Mutex((waiting: 0, next: 0))
    /// Requests what the program has for the calls that it lets in.
    let desk = CallTransactionsDesk()
    private let waited = Mutex(FixedHistogram([0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60]))

    /// Seconds from each question to its verdict, so far.
    var waits: FixedHistogram { waited.withLock(\.self) }

    /// - Parameters:
    ///   - address: asked first.
    ///   - standard: the default.
    ///   - trust: whose certificates an `https` address may show; nil only for `http`.
    init(_ settings: HookSettings, at address: URL, default standard: CallDecision, trusting trust: TLSContexts?) {
        addresses = [address] + (settings.fallback.map { [$0] } ?? [])
        (timeout, self.standard, self.trust) = (settings.timeout, standard, trust)
    }

    func decide(_ question: CallQuestion, then: @escaping @Sendable (CallVerdict) -> Void) {
        let asked = MonotonicClock.now
        let once = Once { [self] verdict in
            waited.withLock { $0.add(Double((MonotonicClock.now - asked).wholeMilliseconds) / 1_000) }
            then(verdict)
        }
        let queue = state.withLock { state -> DispatchQueue? in
            guard state.waiting < Self.mostWaiting else { return nil }
            state.waiting += 1
            state.next = (state.next + 1) % queues.count
            return queues[state.next]
        }
        guard let queue else { return once.call(CallVerdict(standard, defaultCause: "too many calls wait for the hook")) }
        alarms.asyncAfter(deadline: .now() + timeout * Double(addresses.count)) { [standard] in
            once.call(CallVerdict(standard, defaultCause: "the hook has not answered in time"))
        }
        queue.async { [self] in
            defer { state.withLock { $0.waiting -= 1 } }
            let (verdict, transactions) = ask(question)
            once.call(verdict) { [desk] in transactions.map { desk.expect($0, forCallID: question.callID) } }
        }
    }

    private func ask(_ question: CallQuestion) -> (CallVerdict, CallTransactions?) {
        let body = Body(
            callID: question.callID.description, from: question.from.description, to: question.to.description,
            dialled: question.dialled.description, line: question.callingLine?.description, trunk: question.trunk?.description,
            userAgent: question.userAgent?.description, digits: question.digits?.description, source: "\(question.source)")
        guard let json = try? JSONEncoder().encode(body) else {
            return (CallVerdict(standard, defaultCause: "the call cannot be written as JSON"), nil)
        }
        var cause = ""
        for address in addresses {
            do throws(HTTPPost.Failure) {
                let answer = try ask(json, at: address)
                return (CallVerdict(answer?.decision ?? .asDialled), answer?.transactions)
            } catch { cause = error.description }
        }
        return (CallVerdict(standard, defaultCause: Text(cause)), nil)
    }

    /// Once more where the connection fails within the time.
    private func ask(_ json: Data, at address: URL) throws(HTTPPost.Failure) -> HookAnswer? {
        let begin = MonotonicClock.now
        let answer: (status: Int, content: Data)
        do throws(HTTPPost.Failure) { answer = try post(json, to: address, within: timeout) } catch {
            let spent = Double((MonotonicClock.now - begin).wholeMilliseconds) / 1_000
            guard spent < timeout / 2 else { throw error }
            answer = try post(json, to: address, within: timeout - spent)
        }
        return try Self.decision(answer)
    }

    private func post(_ json: Data, to address: URL, within time: Double) throws(HTTPPost.Failure) -> (status: Int, content: Data) {
        try HTTPPost(address, trusting: address.scheme == "https" ? trust : nil, timeout: time, to: "the hook").ask(json)
    }

    private static func decision(_ answer: (status: Int, content: Data)) throws(HTTPPost.Failure) -> HookAnswer? {
        guard (200..<300).contains(answer.status) else { throw .init(description: "the hook answered \(answer.status)") }
        return answer.content.isEmpty || answer.status == 204 ? nil : try HookAnswer(answer.content)
    }

    /// Calls the completion with what comes first.
    private final class Once: Sendable {
        private let completion: Mutex<(@Sendable (CallVerdict) -> Void)?>
        init(_ completion: @escaping @Sendable (CallVerdict) -> Void) { self.completion = Mutex(completion) }

        /// - Parameter prepare: is done before, where this is the first.
        func call(_ verdict: CallVerdict, _ prepare: () -> Void = {}) {
            let completion = completion.withLock { completion in
                defer { completion = nil }
                return completion
            }
            guard let completion else { return }
            prepare()
            completion(verdict)
        }
    }
}
