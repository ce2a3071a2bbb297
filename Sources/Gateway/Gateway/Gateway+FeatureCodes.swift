import Audio
import CallKit
import Primitives
import SIP
import UserAgent

/// A sound of ours that a call is answered for: it plays, and the call ends.
struct Announcement {
    var tone: Tone
    var length: Duration

    /// Something is on now, or off.
    static func confirmation(_ isOn: Bool) -> Announcement {
        Announcement(tone: Tone(isOn ? 620 : 350, cadence: isOn ? [200, 100] : []), length: .milliseconds(1_200))
    }
}

/// Feature codes: calls of a line's own devices that are commands.
extension Gateway {
    /// The line that answers feature codes; it cannot be dialled otherwise, and has neither recents nor Do Not Disturb.
    static var serviceLine: LineConfiguration {
        var line = LineConfiguration(number: "*")
        line.endpoint = .application(.tone)
        return line
    }

    /// Whether the call comes from a device of the line: by the line's password, or from where one registered.
    func isDevice(_ session: InviteSession, of line: Line) -> Bool {
        guard line.configuration.endpoint == .devices else { return false }
        if line.configuration.password != nil { return true }
        return registrar.contacts(of: line.configuration.number, at: now).contains {
            $0.origin.remote.address == session.flow.remote.address
        }
    }

    /// Does what was dialled. The number that is to be called instead, or nil when the call was dealt with.
    func perform(_ dialled: FeatureCode.Dialled, _ number: Text, session: InviteSession, of line: Line, caller: CallerIdentity) -> Text? {
        guard case .code(let code) = dialled else {
            refuse(session, dialled == .incomplete ? 484 : 404)
            return nil
        }
        journal.record(.featureDialled, line: line.configuration.number, at: now, [.digits: .init(number)])
        switch code {
        case .doNotDisturbOn, .doNotDisturbOff:
            setDoNotDisturb(code == .doNotDisturbOn, of: line)
            announce(.confirmation(code == .doNotDisturbOn), to: session, from: caller)
        case .blockLastCaller, .unblockLastCaller:
            guard let last = line.features.lastCaller else { return noLastCaller(session) }
            setBlocked(code == .blockLastCaller, last, of: line)
            announce(.confirmation(code == .blockLastCaller), to: session, from: caller)
        case .callBackLastCaller:
            guard let last = line.features.lastCaller else { return noLastCaller(session) }
            do throws(CallRequestError) { return try self.dialled(CallRequest(handle: last), of: line) } catch {
                session.respond(
                    status: error == .noRoute ? 404 : 403, reason: error == .noRoute ? nil : "Handle Type Not Supported", at: now)
            }
        }
        return nil
    }

    private func noLastCaller(_ session: InviteSession) -> Text? {
        session.respond(status: 404, reason: "No Last Caller", at: now)
        return nil
    }

    /// An incoming call like any other: reported, answered, and ended when the sound is over.
    private func announce(_ announcement: Announcement, to session: InviteSession, from caller: CallerIdentity) {
        guard legCount < configuration.limits.legs else { return refuseForNow(session) }
        receive(session, on: lines[lines.count - 1], from: caller, callees: [], announcement: announcement)
    }
}
