import Primitives
import Runtime
import SIP
import UserAgent

@testable import Gateway
@testable import Rehearsal

/// What the suites about trunks share: a gateway with one, and a carrier that says what a test makes it say.
protocol TrunkSuite {}

extension TrunkSuite {
    static func target(_ last: UInt32, priority: Int = 0) -> TrunkConfiguration.Target {
        var target = TrunkConfiguration.Target(host: Text("192.0.2.\(last)"), port: 5060)
        target.priority = priority
        return target
    }

    /// Line `carrier`, for numbers that begin with +.
    static func stage(
        _ targets: [TrunkConfiguration.Target], zone: [DNSQuestion: DNSAnswer] = [:],
        _ change: (inout TrunkConfiguration) -> Void = { _ in }
    ) -> Stage {
        var trunk = TrunkConfiguration(targets: targets)
        (trunk.user, trunk.password) = ("account", "secret")
        change(&trunk)
        return Stage(
            { configuration in
                var line = LineConfiguration(number: "carrier")
                (line.match, line.endpoint) = (NumberPattern("^+"), .trunk(trunk))
                configuration.lines.append(line)
            }, zone: zone)
    }

    static func register(_ trunk: inout TrunkConfiguration) { trunk.registration = .init() }

    static func challenge(_ peer: RawPeer, _ request: Message?, _ status: Int = 401) {
        guard let request else { return }
        var response = Message.response(to: request, status: status, toTag: "c")
        let value = DigestChallenge(
            realm: "carrier", nonce: Text("n\(request.cseq.number)"), algorithm: DigestAlgorithm(.sha512_256), qualities: ["auth"]
        ).value
        response.headers.append(status == 401 ? .wwwAuthenticate : .proxyAuthenticate, value)
        peer.send(response.serialized())
    }

    /// Whether the credentials of a request are those of the account, by a server of our own.
    static func isProven(_ request: Message?, _ name: HeaderName) -> Bool {
        guard let request, let value = request.headers[name], let given = try? DigestCredentials(parsing: value) else { return false }
        let challenge = DigestChallenge(realm: given.realm, nonce: given.nonce, algorithm: given.algorithm, qualities: ["auth"])
        let right = DigestCredentials(
            answering: challenge, user: "account", secret: .password("secret"), method: request.method, uri: given.uri, count: 1,
            clientNonce: given.clientNonce,
            hash: OpenSSLDigest.sip)
        return given.response == right?.response
    }

    static func granted(_ peer: RawPeer, _ request: Message?, expires: Int = 600) {
        guard let request, let contact = request.contact else { return }
        var response = Message.response(to: request, status: 200, toTag: "c")
        response.headers.append(.contact, contact.text + ";expires=" + Text(expires))
        peer.send(response.serialized())
    }
}
