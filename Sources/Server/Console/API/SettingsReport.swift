import HTTP
import Runtime

/// The settings in force and what the check of the configuration says of them, as `/v1/settings` shows them. Secrets are masked before.
public struct SettingsReport: Sendable, Encodable {
    /// One setting.
    public struct Setting: Sendable, Encodable {
        /// Dotted, as `media.ports`.
        public var path: String
        /// As it was written; nil: the default holds.
        public var value: String?
        /// The effect without a value.
        public var `default`: String
        /// The file and line, the variable or the flag that set it; nil: nothing did.
        public var place: String?
        public var help: String

        public init(path: String, value: String?, default: String, place: String?, help: String) {
            (self.path, self.value, self.default, self.place, self.help) = (path, value, `default`, place, help)
        }
    }

    /// A finding of the check.
    public struct Finding: Sendable, Encodable {
        /// `warning`, or `fact`.
        public var grade: String
        public var subject: String
        public var text: String

        public init(grade: String, subject: String, text: String) { (self.grade, self.subject, self.text) = (grade, subject, text) }
    }

    /// All there are, in the order of the reference.
    public var settings: [Setting]
    public var findings: [Finding]

    public init(settings: [Setting], findings: [Finding]) { (self.settings, self.findings) = (settings, findings) }
}

extension ControlServer {
    /// The settings in force from now on.
    public func use(_ settings: SettingsReport) { lane.post { host, _ in host.api.settings = settings } }
}

/// The settings in force.
struct SettingsRoutes {
    unowned let api: ControlAPI

    func add(to routes: inout HTTPRoutes) {
        routes.on(.get, "/v1/settings") { ask, responder in
            api.answer(ask, responder) { () throws(Problem) in
                guard ask.grant.lines == nil else {
                    throw Problem(.forbidden, "insufficientScope", "the settings are those of all lines, and the token covers some")
                }
                guard let settings = api.settings else { throw .notRunning }
                return JSONBody.reply(.ok, settings)
            }
        }
    }
}
