import Gateway
import Primitives
import UserAgent

/// Access: peers that are heard, and limits.
extension Setting {
    static let access: [Setting] = [
        Setting(path: "access.trusted", takes: "networks", default: .unset("none"), help: "sources whose calls are never challenged") {
            $0.gateway.access.trusted = try $1.list { try $0.network }
        },
        Setting(
            path: "access.guests", takes: "networks", default: .value("127.0.0.0/8, ::1/128"),
            help: "sources whose callers need not be a line of ours"
        ) { $0.gateway.access.guests = try $1.list { try $0.network } },
        Setting(
            path: "access.silent", takes: "true|false", default: .value("false"), help: "strangers that name no line of ours get no answer"
        ) { $0.gateway.access.isSilent = try $1.flag },
        Setting(
            path: "access.digests", takes: "names", default: .value("SHA-256, MD5"),
            help: "digest algorithms offered to devices, in this order; there are SHA-512-256 and -sess, too"
        ) { $0.gateway.access.digests = try $1.someOf("digest") { try $0.digest } },
        Setting(
            path: "access.guesses-per-user", takes: "number", default: .value("20"),
            help: "wrong passwords a minute for one user from one address before the answers ask to come later"
        ) { $0.gateway.access.guesses.perUser = try $1.integer(1...1_000_000) },
        Setting(
            path: "access.guesses-per-source", takes: "number", default: .value("200"), help: "the same for all users from one address"
        ) { $0.gateway.access.guesses.perSource = try $1.integer(1...1_000_000) },
        Setting(
            path: "access.nonce-secret-file", takes: "file", default: .unset("a random secret"),
            help: "the file whose one line is a secret of gateways that take each other's nonces; 32 characters or more"
        ) { $0.gateway.access.nonceSecret = try $1.longSecret },
        Setting(
            path: "access.asserting", takes: "networks", default: .unset("none"),
            help: "peers whose P-Asserted-Identity is believed, and that are told ours"
        ) { $0.gateway.access.asserting = try $1.list { try $0.network } },
        Setting(
            path: "devices.keep-alive", takes: "seconds|none", default: .value("25"),
            help: "how often devices behind a NAT are asked by OPTIONS whether they are there"
        ) { $0.gateway.devices.keepAlive = try $1.text == "none" ? nil : $1.duration(5...3600) },
        Setting(
            path: "devices.keep-alive-of", takes: "nat|all", default: .value("nat"),
            help: "the devices that are asked: those behind a NAT, or all"
        ) { $0.gateway.devices.asksAll = try $1.oneOf(["nat", "all"]) == "all" },
    ]

    static let limits: [Setting] = [
        Setting(
            path: "limits.legs", takes: "number", default: .value("10000"), help: "legs at a time, callees too; a call too many gets 503"
        ) { $0.gateway.limits.legs = try $1.integer(1...1_000_000) },
        Setting(
            path: "limits.calls-per-second", takes: "number", default: .unset("no limit"),
            help: "calls that may begin in a second; more get 503"
        ) { $0.gateway.limits.callsPerSecond = try $1.integer(1...1_000_000) },
        Setting(
            path: "limits.requests-per-source", takes: "number", default: .unset("no limit"),
            help: "requests outside of calls from one source in a second, twice as many in a burst; more get 503"
        ) { $0.gateway.limits.requestsPerSource = try $1.integer(1...1_000_000) },
        Setting(
            path: "limits.connections", takes: "number", default: .value("4096"),
            help: "TCP and TLS connections at a time; one more is closed"
        ) { $0.gateway.limits.connections = try $1.integer(1...1_000_000) },
        Setting(
            path: "limits.connections-per-source", takes: "number", default: .value("256"),
            help: "the same from one address that is not trusted"
        ) { $0.gateway.limits.connectionsPerSource = try $1.integer(1...1_000_000) },
        Setting(
            path: "limits.users", takes: "number", default: .value("50000"),
            help: "lines with devices that are registered at this gateway; one more gets 503"
        ) { $0.gateway.limits.users = try $1.integer(1...10_000_000) },
        Setting(
            path: "limits.backlog", takes: "seconds", default: .value("0.2"),
            help: "requests outside of calls get 503 while messages lie unread for longer; 0: never"
        ) { $0.gateway.limits.backlog = try $1.duration(0...10) },
        Setting(path: "limits.retry-after", takes: "seconds", default: .value("5"), help: "Retry-After of a 503") {
            $0.gateway.limits.retryAfter = try $1.integer(1...3600)
        },
        Setting(path: "limits.recents", takes: "number", default: .value("100"), help: "calls in the recents of a line") {
            $0.gateway.limits.recents = try $1.integer(0...100_000)
        },
    ]
}
