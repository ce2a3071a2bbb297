import CallKit
import Primitives
import SIP
import UserAgent

/// Feature codes: calls of a line's own devices that are commands.
extension LineServices {
    /// The handling of a call to a feature code.
    enum FeatureResult {
        /// The sound that it is answered with.
        case announce(AnnouncementApplication)
        /// This number is to be called instead.
        case call(Text)
        case refused(status: Int, reason: Text? = nil)
    }

    /// The line that answers feature codes; it cannot be dialled otherwise, and has neither recents nor Do Not Disturb.
    static var serviceLine: LineConfiguration {
        var line = LineConfiguration(number: "*")
        line.endpoint = .application(.tone)
        return line
    }

    /// The feature code that a device of the line has dialled; nil for a number. A line that has just this number goes before a code.
    func featureCode(_ dialled: Text, over flow: Flow, from line: Line) -> FeatureCode.Dialled? {
        guard context.configuration.featureCodes, lines.routing.line(numbered: dialled) == nil else { return nil }
        guard let code = FeatureCode.dialled(dialled), isDevice(at: flow, of: line) else { return nil }
        return code
    }

    /// Whether the call comes from a device of the line: by the line's password, or from where one registered.
    private func isDevice(at flow: Flow, of line: Line) -> Bool {
        guard line.configuration.endpoint == .devices else { return false }
        if line.configuration.password != nil { return true }
        return registrar.contacts(of: line.configuration.number, at: context.now).contains {
            $0.origin.remote.address == flow.remote.address
        }
    }

    func perform(_ dialled: FeatureCode.Dialled, _ number: Text, of line: Line) -> FeatureResult {
        guard case .code(let code) = dialled else { return .refused(status: dialled == .incomplete ? 484 : 404) }
        context.journal.record(.featureDialled, line: line.configuration.number, at: context.now, [.digits: .init(number)])
        switch code {
        case .doNotDisturbOn, .doNotDisturbOff:
            setDoNotDisturb(code == .doNotDisturbOn, of: line)
            return .announce(.confirmation(code == .doNotDisturbOn))
        case .blockLastCaller, .unblockLastCaller:
            guard let last = line.features.lastCaller else { return Self.noLastCaller }
            setBlocked(code == .blockLastCaller, last, of: line)
            return .announce(.confirmation(code == .blockLastCaller))
        case .callBackLastCaller:
            guard let last = line.features.lastCaller else { return Self.noLastCaller }
            do throws(CallRequestError) { return .call(try self.dialled(CallRequest(handle: last), of: line)) } catch {
                return error == .noRoute ? .refused(status: 404) : .refused(status: 403, reason: "Handle Type Not Supported")
            }
        }
    }

    private static var noLastCaller: FeatureResult { .refused(status: 404, reason: "No Last Caller") }
}
