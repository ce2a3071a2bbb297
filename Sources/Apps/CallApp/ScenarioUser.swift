import CallKit
import Calls
import Dispatch
import Foundation
import PushKit

/// The user of an app that `hookswitch app` has started: each order is an act on the telephone's own call screen, which the app hears of by
/// CallKit alone. On the main queue.
final class ScenarioUser: Sendable {
    private let line: LiveAppLine
    private let link: ScenarioLink
    private let controller: CXCallController
    private let dial: (@Sendable (String) -> Void)?

    init(_ line: LiveAppLine, _ link: ScenarioLink, dial: (@Sendable (String) -> Void)?) {
        (self.line, self.link, self.dial) = (line, link, dial)
        controller = CXCallController(system: line.system)
    }

    func begin() { link.begin { order in Self.afterReports(to: self.line.system) { self.perform(order) } } }

    /// Acts on the main queue when the completions of the app's reports have run, which is elsewhere: no user is faster than they are, and
    /// apps that keep a call from its completion on would find none to answer.
    static func afterReports(to system: CallSystem, _ act: @escaping @Sendable () -> Void) {
        system.host.run(on: .private) { DispatchQueue.main.async(execute: act) }
    }

    private func perform(_ order: AppLink.Order?) {
        switch order {
        case .dial(let handle): dial?(handle) ?? request([CXStartCallAction(call: UUID(), handle: Self.handle(handle))])
        case .answer(let call, let endsOthers): answer(own(call), endsOthers)
        case .end(let call): request([CXEndCallAction(call: own(call))])
        case .hold(let call, let isHeld): request([CXSetHeldCallAction(call: own(call), onHold: isHeld)])
        case .mute(let call, let isMuted): request([CXSetMutedCallAction(call: own(call), muted: isMuted)])
        case .press(let call, let digits): request([CXPlayDTMFCallAction(call: own(call), digits: digits, type: .singleTone)])
        case .join(let call, let other): join(own(call), own(other))
        case .push(let payload): push(payload, [:])
        case .pushWithNextCall(let payload): link.expectPush(payload)
        case .finish: finish()
        case .setUp, nil: link.tell(.misunderstood)
        }
    }

    /// The app's UUID of a call of the journal.
    private func own(_ call: UUID) -> UUID { line.perform(call) { line, _ in line.ownUUID(of: call) } }

    private static func handle(_ value: String) -> CXHandle {
        let isNumber = value.allSatisfy { $0.isNumber || $0 == "+" }
        return CXHandle(type: isNumber ? .phoneNumber : .generic, value: value)
    }

    private func answer(_ call: UUID, _ endsOthers: Bool) {
        let others = line.system.calls.filter { $0.hasConnected && !$0.isOnHold && $0.uuid != call }.map(\.uuid)
        let before: [CXAction] = others.map { endsOthers ? CXEndCallAction(call: $0) : CXSetHeldCallAction(call: $0, onHold: true) }
        request(before + [CXAnswerCallAction(call: call)])
    }

    private func join(_ call: UUID, _ other: UUID) {
        let held = line.system.calls.filter { [call, other].contains($0.uuid) && $0.isOnHold }.map(\.uuid)
        request(
            [CXSetGroupCallAction(call: call, callUUIDToGroupWith: other)] + held.map { CXSetHeldCallAction(call: $0, onHold: false) })
    }

    private func request(_ actions: [CXAction]) {
        controller.request(CXTransaction(actions: actions)) { [link] error in
            guard let error else { return }
            let code = (error as? CXErrorCodeRequestTransactionError)?.code
            link.tell(.refused, code.map { "\($0)" + Self.reason($0, of: actions) } ?? "\(error)")
        }
    }

    /// The likely reason, where the code alone does not tell it: what the app says its calls and its provider can do.
    static func reason(_ code: CXErrorCodeRequestTransactionError.Code, of actions: [CXAction]) -> String {
        switch code {
        case .maximumCallGroupsReached: return " (the provider's maximumCallGroups)"
        case .invalidAction where actions.contains { ($0 as? CXSetHeldCallAction)?.isOnHold == true }:
            return " (the app reports its call with supportsHolding false: it can be ended, not held)"
        case .invalidAction where actions.contains { $0 is CXPlayDTMFCallAction }:
            return " (the app reports its call with supportsDTMF false)"
        default: return ""
        }
    }

    /// - Parameter values: by the names that stand in braces in the payload.
    func push(_ payload: String, _ values: [String: String]) {
        guard let object = try? JSONSerialization.jsonObject(with: Data(payload.utf8)) as? [String: Any] else {
            return link.tell(.misunderstood, payload)
        }
        let filled = object.mapValues { Self.filled($0, values) }
        line.deliver(PKPushPayload(hookswitch: filled)) { [link] outcome in link.tell(.push, "\(outcome)") }
    }

    private static func filled(_ value: Any, _ values: [String: String]) -> Any {
        switch value {
        case let text as String: values.reduce(text) { $0.replacing("{\($1.key)}", with: $1.value) }
        case let object as [String: Any]: object.mapValues { filled($0, values) }
        case let list as [Any]: list.map { filled($0, values) }
        default: value
        }
    }

    private func finish() {
        let refusals = line.refusals
        line.close()
        link.tell(.finished, "\(refusals)")
        exit(0)
    }
}
