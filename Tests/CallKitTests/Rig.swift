import CallKit
import Foundation
import Primitives

/// A telephone in virtual time, with a log of everything that its journal, delegate, observer and completions heard, in
/// order. Lines of the journal are bare; lines of callbacks begin with "→".
final class Rig {
    let host: InlineHost
    let system: CallSystem
    let provider: CXProvider
    let controller: CXCallController
    let delegate: Delegate
    let log = Log()
    private let journal: Journal

    init(
        _ configuration: CallSystemConfiguration = CallSystemConfiguration(), groups: Int = 2, callsPerGroup: Int = 5,
        delegate: ((Log) -> Delegate)? = nil
    ) {
        host = InlineHost()
        system = CallSystem(configuration: configuration, host: host)
        provider = CXProvider(configuration: .limited(groups, callsPerGroup), system: system)
        controller = CXCallController(system: system)
        self.delegate = delegate?(log) ?? Delegate(log)
        journal = Journal(log)
        system.journal = journal
        provider.setDelegate(self.delegate, queue: nil)
        log.clear()
    }

    func ring(_ call: Character, update: CXCallUpdate = CXCallUpdate()) {
        provider.hookswitchReport(.call(call), update: update) { [log] in log.add("→ incoming \(call) \(text($0))") }
    }

    func request(_ actions: CXAction...) {
        controller.hookswitchRequest(CXTransaction(actions: actions)) { [log] in log.add("→ answer \(text($0))") }
    }

    /// The code of the refusal; nil when the transaction was accepted.
    func refusal(_ actions: CXAction...) -> Int? {
        var code: Int?
        controller.hookswitchRequest(CXTransaction(actions: actions)) { code = ($0 as? CXErrorCodeRequestTransactionError)?.code.rawValue }
        return code
    }

    /// An incoming call that is up.
    func connect(_ call: Character) {
        ring(call)
        request(.answer(call))
    }

    /// An outgoing call that is up.
    func dial(_ call: Character) {
        request(.start(call))
        provider.reportOutgoingCall(with: .call(call), connectedAt: nil)
    }

    func end(_ call: Character, _ reason: CXCallEndedReason = .remoteEnded) {
        provider.reportCall(with: .call(call), endedAt: nil, reason: reason)
    }

    func advance(seconds: Double, nanoseconds: Int64 = 0) {
        system.advance(to: host.now + .seconds(seconds) + .nanoseconds(nanoseconds))
    }

    /// Goes from deadline to deadline until nothing is waited for.
    func runOut() { while let deadline = system.deadline { system.advance(to: max(deadline, host.now)) } }

    func call(_ call: Character) -> CallSnapshot? { system.call(.call(call)) }
    var calls: String { String(system.calls.map { Character($0.uuid) }) }
}

/// Performs what it is asked to, in the manner it is told, and logs it.
class Delegate: NSObject, CXProviderDelegate {
    let log: Log
    /// What to do with an action; fulfils it by default.
    var act: (CXCallAction) -> Void = { $0.fulfill() }
    var takesTransactions = false
    var onTimeout: (CXAction) -> Void = { _ in }
    var onActivate: (AVAudioSession) -> Void = { _ in }

    init(_ log: Log) { self.log = log }

    func providerDidBegin(_ provider: CXProvider) { log.add("→ begin") }
    func providerDidReset(_ provider: CXProvider) { log.add("→ reset") }

    func provider(_ provider: CXProvider, execute transaction: CXTransaction) -> Bool {
        guard takesTransactions else { return false }
        log.add("→ execute \(transaction.actions.count)")
        return true
    }

    private func perform(_ action: CXCallAction) {
        log.add("→ perform \(text(action))")
        act(action)
    }

    func provider(_ provider: CXProvider, perform action: CXStartCallAction) { perform(action) }
    func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) { perform(action) }
    func provider(_ provider: CXProvider, perform action: CXEndCallAction) { perform(action) }
    func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction) { perform(action) }
    func provider(_ provider: CXProvider, perform action: CXSetMutedCallAction) { perform(action) }
    func provider(_ provider: CXProvider, perform action: CXSetGroupCallAction) { perform(action) }
    func provider(_ provider: CXProvider, perform action: CXPlayDTMFCallAction) { perform(action) }
    func provider(_ provider: CXProvider, perform action: CXSetTranslatingCallAction) { perform(action) }

    func provider(_ provider: CXProvider, timedOutPerforming action: CXAction) {
        log.add("→ timed out \(text(action))")
        onTimeout(action)
    }

    func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) {
        log.add("→ activate \(names(audioSession.hookswitchCalls))")
        onActivate(audioSession)
    }

    func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession) {
        log.add("→ deactivate \(names(audioSession.hookswitchCalls))")
    }
}

/// A delegate that wants to hear of further calls, too.
final class AudioDelegate: Delegate, CallSystemAudioDelegate {
    func provider(_ provider: CXProvider, didAdmit calls: [UUID], to audioSession: AVAudioSession) {
        log.add("→ admit \(names(calls))")
    }
}

final class Log {
    private(set) var lines: [String] = []
    private(set) var events: [CallSystemEvent] = []
    func add(_ line: String) { lines.append(line) }
    func add(_ event: CallSystemEvent) { events.append(event) }
    func clear() { (lines, events) = ([], []) }

    /// What was logged since the last time.
    func take() -> [String] {
        defer { lines = [] }
        return lines
    }

    /// The callbacks among it.
    func takeCallbacks() -> [String] { take().filter { $0.hasPrefix("→") }.map { String($0.dropFirst(2)) } }
    /// The journal's lines among it.
    func takeJournal() -> [String] { take().filter { !$0.hasPrefix("→") } }
}

final class Journal: CallSystemJournal {
    private let log: Log
    init(_ log: Log) { self.log = log }

    func callSystem(_ system: CallSystem, did event: CallSystemEvent, at now: Instant) {
        log.add(event)
        // Every transaction is offered: the delegate's line says so.
        if case .transactionOffered = event { return }
        log.add(text(event))
    }
}

// MARK: - Words

extension UUID {
    /// The call of a name.
    static func call(_ name: Character) -> UUID {
        UUID(uuid: (name.asciiValue!, 0, 0, 0, 0, 0, 0x80, 0, 0x80, 0, 0, 0, 0, 0, 0, 0))
    }
}

extension Character {
    init(_ call: UUID) { self.init(UnicodeScalar(call.uuid.0)) }
}

extension CXProviderConfiguration {
    static func limited(_ groups: Int, _ callsPerGroup: Int) -> CXProviderConfiguration {
        let configuration = CXProviderConfiguration()
        configuration.maximumCallGroups = groups
        configuration.maximumCallsPerCallGroup = callsPerGroup
        return configuration
    }
}

extension CXHandle {
    static let bob = CXHandle(type: .phoneNumber, value: "2001")
}

extension CXAction {
    static func start(_ call: Character) -> CXCallAction { CXStartCallAction(call: .call(call), handle: .bob) }
    static func answer(_ call: Character) -> CXCallAction { CXAnswerCallAction(call: .call(call)) }
    static func end(_ call: Character) -> CXCallAction { CXEndCallAction(call: .call(call)) }
    static func hold(_ call: Character) -> CXCallAction { CXSetHeldCallAction(call: .call(call), onHold: true) }
    static func resume(_ call: Character) -> CXCallAction { CXSetHeldCallAction(call: .call(call), onHold: false) }
    static func mute(_ call: Character) -> CXCallAction { CXSetMutedCallAction(call: .call(call), muted: true) }
    static func join(_ call: Character, _ other: Character) -> CXCallAction {
        CXSetGroupCallAction(call: .call(call), callUUIDToGroupWith: .call(other))
    }
    static func leave(_ call: Character) -> CXCallAction { CXSetGroupCallAction(call: .call(call), callUUIDToGroupWith: nil) }
    static func tones(_ call: Character) -> CXCallAction {
        CXPlayDTMFCallAction(call: .call(call), digits: "1", type: .singleTone)
    }
}

func names(_ calls: [UUID]) -> String { String(calls.map { Character($0) }) }

func text(_ error: (any Error)?) -> String {
    switch error {
    case nil: "ok"
    case let error as CXErrorCodeIncomingCallError: "incoming error \(error.code.rawValue)"
    case let error as CXErrorCodeRequestTransactionError: "request error \(error.code.rawValue)"
    case let error?: "\(error)"
    }
}

func text(_ action: CXAction) -> String {
    let verb =
        switch action {
        case is CXStartCallAction: "start"
        case is CXAnswerCallAction: "answer"
        case is CXEndCallAction: "end"
        case let action as CXSetHeldCallAction: action.isOnHold ? "hold" : "resume"
        case let action as CXSetMutedCallAction: action.isMuted ? "mute" : "unmute"
        case let action as CXSetGroupCallAction: action.callUUIDToGroupWith == nil ? "leave" : "join"
        case is CXPlayDTMFCallAction: "tones"
        default: "other"
        }
    return "\(verb) \((action as? CXCallAction).map { String(Character($0.callUUID)) } ?? "-")"
}

func text(_ action: CallAction) -> String {
    let verb =
        switch action.kind {
        case .start: "start"
        case .answer: "answer"
        case .end: "end"
        case .hold(let onHold): onHold ? "hold" : "resume"
        case .mute(let muted): muted ? "mute" : "unmute"
        case .group(let other): other == nil ? "leave" : "join"
        case .tones: "tones"
        case .translate: "translate"
        case .other: "other"
        }
    return "\(verb) \(action.call.map { String(Character($0)) } ?? "-")"
}

func text(_ transaction: CallTransaction) -> String { transaction.actions.map(text).joined(separator: ", ") }

func text(_ event: CallSystemEvent) -> String {
    switch event {
    case .incomingReported(let call, _): "incoming \(Character(call))"
    case .incomingAdmitted(let call): "admitted \(Character(call))"
    case .incomingRefused(let call, let error): "turned away \(Character(call)) \(text(error))"
    case .updated(let call): "updated \(Character(call))"
    case .startedConnecting(let call, _): "connecting \(Character(call))"
    case .connected(let call, _): "connected \(Character(call))"
    case .endReported(let call, let reason, _): "reported ended \(Character(call)) \(reason)"
    case .transactionRequested(let transaction): "requested \(text(transaction))"
    case .transactionAccepted(let transaction): "accepted \(text(transaction))"
    case .transactionRefused(let transaction, let code): "refused \(text(transaction)) \(code.rawValue)"
    case .systemTransaction(let transaction, let cause): "system \(text(transaction)) \(cause)"
    case .transactionOffered: "offered"
    case .transactionHandled: "handled"
    case .actionPerformed(let action): "perform \(text(action))"
    case .actionUnimplemented(let action): "unimplemented \(text(action))"
    case .actionFulfilled(let action, _): "fulfilled \(text(action))"
    case .actionFailed(let action): "failed \(text(action))"
    case .actionVoided(let action): "voided \(text(action))"
    case .actionTimedOut(let action): "timed out \(text(action))"
    case .callEnded(let call, let end): "ended \(Character(call)) \(text(end))"
    case .sessionActivated(_, let calls): "activated \(names(calls))"
    case .sessionAdmitted(_, let calls): "admitted to audio \(names(calls))"
    case .sessionDeactivated(_, let last): "deactivated \(Character(last))"
    case .providerBegan: "began"
    case .providerReset(_, let invalidated): invalidated ? "invalidated" : "reset"
    }
}

extension CallSystem.Counts {
    /// One provider, and nothing goes on.
    static let idle: CallSystem.Counts = {
        let system = CallSystem(configuration: CallSystemConfiguration(), host: InlineHost())
        return withExtendedLifetime(CXProvider(configuration: .limited(2, 5), system: system)) { system.counts }
    }()
}

func text(_ end: CallEnd) -> String {
    switch end {
    case .reported(let reason): "\(reason)"
    case .action: "action"
    case .endTimedOut: "endTimedOut"
    case .startFailed: "startFailed"
    case .startTimedOut: "startTimedOut"
    case .answerFailed: "answerFailed"
    case .reset: "reset"
    }
}
