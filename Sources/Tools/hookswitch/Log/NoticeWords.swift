import Gateway
import Logging
import Media
import Primitives
import Runtime
import UserAgent

/// Notices of a gateway to its operator, in words.
struct NoticeWords: Sendable {
    private let log: NoticeLog

    init(_ log: NoticeLog) { self.log = log }

    func say(_ notice: GatewayServer.Notice) {
        switch notice {
        case .violation(let violation): log.say(.error, "the contract was broken: \(violation)")
        case .journal(.failing(let cause)): log.say(.error, "the journal cannot be written: \(cause)")
        case .recording(let failure): log.say(.error, "the recording \(failure.path) ends, and its call goes on: \(failure.error)")
        case .directory(let outcome): say(outcome)
        case .journal(.stillFailing(let lost)): log.say(.error, "the journal is still not written; \(lost) are lost so far")
        case .journal(.recovered(let lost)): log.say(.notice, "the journal is written again; \(lost) were lost")
        case .tls(let error, let peer, isOurs: true): log.say(.warning, "TLS to \(peer): \(error)")
        case .tls(let error, let peer, isOurs: false): log.say(.info, "TLS from \(peer): \(error)", oncePer: "\(peer.address)")
        case .trunk(let trunk): log.say(trunk.isTrouble ? .warning : .info, "\(trunk)")
        case .push(let line, let cause):
            log.say(.warning, "a push for line \(line) failed: \(cause)", oncePer: "push for \(line): \(cause)")
        case .call(let call): say(call)
        case .registration(let registration): say(registration)
        case .guessing(let guess):
            log.say(
                .warning, "wrong passwords for \(guess.user) from \(guess.source): \(guess.count) within a minute",
                oncePer: "guesses from \(guess.source)")
        }
    }

    private func say(_ outcome: DirectoryOutcome) {
        let entries = "\(outcome.blocked) numbers blocked, \(outcome.identified) identified"
        if let failure = outcome.failure {
            log.say(.error, "directory \(outcome.name) was not loaded: \(failure); still in force: \(entries)")
        } else {
            log.say(.notice, "directory \(outcome.name): \(entries)")
        }
    }

    /// `call 5B4E7C36 from 1001@a.test to 9196@a.test: answered, 2.0s long: the caller hung up`
    private func say(_ call: CallSummary) {
        let from = call.from?.shortAddress, to = call.to?.shortAddress, status = CallWords.status(call.disposition, call.status)
        let parties = "from \(from ?? "–") to \(to ?? "–")", length = call.length.map { ", \(CallWords.length($0)) long" } ?? ""
        log.say(
            .info, "call \(call.call.description.prefix(8)) \(parties): \(status)\(length): \(call.reason)",
            [
                ("event", "call"), ("call", "\(call.call)"), ("callID", .init(call.callID?.description)), ("from", .init(from)),
                ("to", .init(to)), ("disposition", "\(call.disposition.rawValue)"), ("status", .init(call.status.map(Int64.init))),
                ("duration", .init(call.length)), ("reason", "\(call.reason)"),
            ])
    }

    /// `registration of 1001 from 192.0.2.7:5060 over udp: accepted for 600 s, 1 contact`
    private func say(_ registration: RegistrationSummary) {
        let place = registration.remote.map { " from \($0)\(registration.transport.map { " over \($0)" } ?? "")" } ?? ""
        let (outcome, words, fields) = Self.words(of: registration.outcome)
        log.say(
            .info, "registration of \(registration.user)\(place): \(words)",
            [
                ("event", "registration"), ("outcome", "\(outcome)"), ("user", "\(registration.user)"),
                ("remote", .init(registration.remote?.description)), ("transport", .init(registration.transport?.description)),
                ("agent", .init(registration.agent?.description)),
            ] + fields)
    }

    private static func words(of outcome: RegistrationSummary.Outcome) -> (name: String, words: String, fields: NoticeLog.Fields) {
        func contacts(_ count: Int64) -> String { count == 1 ? "1 contact" : "\(count) contacts" }
        switch outcome {
        case .accepted(let expires, let count):
            return (
                "accepted", "accepted for \(expires) s, \(contacts(count))", [("expires", .whole(expires)), ("contacts", .whole(count))]
            )
        case .removed(let count): return ("removed", "taken back, \(contacts(count)) left", [("contacts", .whole(count))])
        case .refused(let status, let reason):
            return ("refused", "refused \(status): \(reason)", [("status", .whole(status)), ("reason", "\(reason)")])
        case .lost(let count): return ("lost", "ended with its connection, \(contacts(count)) left", [("contacts", .whole(count))])
        case .expired(let count): return ("expired", "expired, \(contacts(count)) left", [("contacts", .whole(count))])
        }
    }
}
