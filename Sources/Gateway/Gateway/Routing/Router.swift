import CallJournal
import Primitives
import SIP
import UserAgent

/// An INVITE from outside of any dialog whose caller was let in.
struct IncomingCall {
    let session: InviteSession
    let caller: CallerIdentity
    /// The line of ours that calls, as it proved; nil for anybody else.
    var callingLine: Line?
    /// The number that was dialled, in our words. Empty for a call in the place of another.
    var dialled: Text = .empty
    /// The trunk that it came from.
    var trunk: Trunk?
    /// The digits that its caller has pressed in a menu; nil: nothing has answered yet.
    var digits: Text?
    /// Said outside, before anything rang.
    var decision = CallDecision.asDialled

    var invite: Message { session.request }
}

/// Decides which line an incoming call is for, and whom it rings there. Lives on the signalling lane.
final class Router {
    let context: GatewayContext
    let lines: LineTable
    let trunks: Trunks
    private let table: CallTable
    let registrar: Registrar
    let userAgent: UserAgent
    let listeners: Listeners
    /// Devices can be woken.
    let isPushing: Bool
    /// Calls that somebody outside is asked about.
    var pending = PendingDecisions()
    /// Asked before the configuration. Calls the completion once, at once or in a later turn of the lane.
    var hook: ((IncomingCall, @escaping (CallVerdict) -> Void) -> Void)?

    init(
        _ context: GatewayContext, _ table: CallTable, _ trunks: Trunks, _ registrar: Registrar, _ userAgent: UserAgent,
        _ listeners: Listeners, isPushing: Bool
    ) {
        (self.context, self.table, lines, self.trunks) = (context, table, table.lines, trunks)
        (self.registrar, self.userAgent, self.listeners, self.isPushing) = (registrar, userAgent, listeners, isPushing)
    }

    /// Asks the hook. The answer may come later: the caller has its 100 by then, and a call that was cancelled meanwhile is not routed.
    /// - Parameter completion: gets the call with the number that it is for; not called for a call that is refused or gone.
    func decide(_ call: IncomingCall, completion: @escaping (IncomingCall) -> Void) {
        guard hook != nil else { return completion(call) }
        call.session.respond(status: 100, at: context.now)
        ask(about: call) { [unowned self] decision in
            guard call.session.state == .inviting else { return }
            var call = call
            switch decision {
            case .asDialled, .trunk, .ring, .application:
                call.decision = decision
                completion(call)
            case .number(let number):
                call.dialled = number
                completion(call)
            case .refused(let status): call.session.respond(status: status, at: context.now)
            }
        }
    }

    /// Asks the hook, whether the call is up or not; as dialled where there is no hook. The answer may come later.
    func ask(about call: IncomingCall, then: @escaping (CallDecision) -> Void) {
        guard let hook else { return then(.asDialled) }
        let line = call.callingLine?.configuration.number ?? .empty, asked = context.now
        context.journal.record(
            .hookAsked, line: line, at: asked,
            [.callid: .init(call.invite.callID), .from: .init(call.invite.from.uri.text), .to: .init(call.dialled)])
        hook(call) { [unowned self] verdict in
            note(verdict, on: call, of: line, askedAt: asked)
            then(verdict.decision)
        }
    }

    private func note(_ verdict: CallVerdict, on call: IncomingCall, of line: Text, askedAt asked: Instant) {
        var details: JournalEvent.Details = [
            .callid: .init(call.invite.callID), .text: .init(verdict.decision.text),
            .count: .init((context.now - asked).wholeMilliseconds),
        ]
        details.add(.cause, verdict.defaultCause.map { .init($0) })
        context.journal.record(verdict.defaultCause == nil ? .hookAnswered : .hookDefaulted, line: line, at: context.now, details)
    }

    /// The line that the call is for.
    func line(for call: IncomingCall) -> Line? {
        guard case .trunk(let number) = call.decision else { return lines.line(for: call.dialled, host: call.invite.requestURI?.host) }
        return lines.line(numbered: number).flatMap { trunks.trunk(of: $0) == nil ? nil : $0 }
    }

    /// Whether the call would come again: back to the trunk that it came from, or to a line whose telephone sent it on to us (3xx) before.
    func isLoop(_ call: IncomingCall, to line: Line) -> Bool {
        if trunks.isReturning(call.trunk, to: line) { return true }
        var own = userAgent.ownCall(call.invite)
        while let leg = own?.delegate as? Leg, leg.destination?.value.isToOurselves == false {
            if leg.line === line { return true }
            own = table.opener(ofBridgeOf: leg)?.session.flatMap { userAgent.ownCall($0.request) }
        }
        return false
    }

    /// A call of ours to a number of ours at a domain of ours, which arrives as anybody's does; nil where we listen over TLS alone.
    func toOurselves(_ dialled: Text, at domain: Text, from caller: CallerIdentity) -> Destination? {
        guard let listener = listeners.direct.first(where: { !$0.transport.isSecure }) else { return nil }
        // The flow says where it goes; which line is meant its domain says, too.
        let target = URI(user: dialled, host: domain)
        return Destination(
            target: target, addressOfRecord: target,
            flow: Flow(transport: listener.transport, local: listener.address, remote: listener.reachable), caller: caller,
            isToOurselves: true)
    }

    /// RFC 5630 §5.3, §10.2: the caller wants TLS, and nobody is there over it.
    func warnings(whereNobodyIsThereFor request: Message) -> [(HeaderName, Text)] {
        request.isSecure ? [(.warning, "380 " + context.configuration.domain + " \"SIPS Not Allowed\"")] : []
    }
}
