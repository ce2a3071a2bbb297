import Primitives
import Runtime
import SIP
import Testing
import UserAgent

private let openSSL: DigestHash = { algorithm, bytes in OpenSSLDigest.hexadecimal(algorithm == .md5 ? .md5 : .sha256, bytes) }

private final class Directory: AccountDirectory {
    let accounts: [Text: Account] = [
        "1001": .password("secret-1001"), "1002": .password("secret-1002"), "open": .open,
        "hashed": .hashed([.md5: Text(openSSL(.md5, Array("hashed:example.test:pw".utf8)))]),
    ]
    func account(of user: Text) -> Account? { accounts[user] }
}

/// A device that registers by the book: it answers the challenge that it gets.
private struct Device {
    let user: Text
    var flow: Flow
    var client: DigestClient
    var cseq: UInt32 = 0
    let callID: Text

    init(_ user: Text, as digestUser: Text? = nil, password: Text = "", port: UInt16 = 5060, host: IPAddress = .loopback) {
        self.user = user
        flow = Flow(transport: .udp, local: SocketAddress(.loopback, port: 5060), remote: SocketAddress(host, port: port))
        client = DigestClient(user: digestUser ?? user, secret: .password(password), hash: openSSL)
        callID = user + "-" + Text(port)
    }

    /// A new request, with what the client knows of the server's nonce.
    mutating func request(_ method: Method = .register, contacts: [Text], expires: Int? = nil) -> Message {
        cseq += 1
        let address = NameAddress(uri: URI(user: user, host: "example.test"))
        var request = Message.request(
            method, uri: URI(host: "example.test"),
            via: Via(transport: "UDP", host: "127.0.0.1", port: flow.remote.port, branch: "z9hG4bK" + Text(cseq)),
            from: NameAddress(uri: address.uri, parameters: ["tag": "f"]), to: address, callID: callID, cseq: cseq)
        for contact in contacts { request.headers.append(.contact, contact) }
        if let expires { request.headers.append(.expires, Text(expires)) }
        client.authorize(&request, clientNonce: "cn" + Text(cseq))
        return request
    }

    /// Sends a REGISTER and answers one challenge, and one more that is stale.
    mutating func register(at registrar: Registrar, contacts: [Text], expires: Int? = nil, _ now: Instant) -> Message {
        var sent = request(contacts: contacts, expires: expires)
        var response = registrar.handle(sent, over: flow, at: now)
        for _ in 0..<2 where response.status == 401 {
            guard (try? client.answer(response, in: &sent, clientNonce: "again" + Text(cseq))) != nil else { return response }
            cseq += 1
            sent.cseq.number = cseq
            response = registrar.handle(sent, over: flow, at: now)
        }
        return response
    }
}

@Suite struct RegistrarTests {
    private let directory = Directory()
    private let registrar: Registrar

    init() {
        var configuration = RegistrarConfiguration(domain: "example.test")
        configuration.guesses = GuessLimits(perUser: 3, perSource: 6)
        registrar = Registrar(configuration: configuration, accounts: directory, random: SeededRandom(seed: 1), hash: openSSL)
    }

    private func at(_ seconds: Int) -> Instant { Instant(nanoseconds: 1_000_000_000) + .seconds(seconds) }

    @Test func `a device is challenged with both algorithms, then registered, and told how long`() throws {
        var device = Device("1001", password: "secret-1001", port: 6001)
        let challenge = registrar.handle(device.request(contacts: ["<sip:1001@127.0.0.1:6001>"]), over: device.flow, at: at(0))
        #expect(challenge.status == 401)
        #expect(try challenge.headers.all(.wwwAuthenticate).map { try DigestChallenge(parsing: $0).algorithm } == [.sha256, .md5])
        let response = device.register(at: registrar, contacts: ["<sip:1001@127.0.0.1:6001>;q=0.5"], expires: 600, at(0))
        #expect(response.status == 200)
        #expect(response.contacts.map(\.text) == ["<sip:1001@127.0.0.1:6001>;q=0.5;expires=600"])
        let contact = try #require(registrar.contacts(of: "1001", at: at(1)).first)
        #expect(contact.uri.port == 6001 && contact.origin == device.flow)
    }

    @Test(arguments: [
        ("baresip v1.0.0 (x86_64/linux)", [DigestAlgorithm.md5]), ("baresip v4.10.0 (x86_64/linux)", [.sha256, .md5]),
        ("PJSUA v2.15", [.sha256, .md5]),
    ])
    func `a client that gives up at SHA-256 is not shown it`(client: String, algorithms: [DigestAlgorithm]) throws {
        var device = Device("1001", password: "secret-1001")
        var request = device.request(contacts: ["<sip:a@h>"])
        request.headers.set(.userAgent, Text(client))
        let challenge = registrar.handle(request, over: device.flow, at: at(0))
        #expect(try challenge.headers.all(.wwwAuthenticate).map { try DigestChallenge(parsing: $0).algorithm } == algorithms)
    }

    @Test(arguments: [
        ("z9hG4bK-12345-1-0", [DigestAlgorithm.md5]), ("z9hG4bK-12345-1-0-1", [.sha256, .md5]), ("z9hG4bKa-1-2-3", [.sha256, .md5]),
        ("z9hG4bK776", [.sha256, .md5]),
    ])
    func `sipp is told by its branches`(branch: String, algorithms: [DigestAlgorithm]) throws {
        var device = Device("1001", password: "secret-1001")
        var request = device.request(contacts: ["<sip:a@h>"])
        request.via.parameters["branch"] = Text(branch)
        let challenge = registrar.handle(request, over: device.flow, at: at(0))
        #expect(try challenge.headers.all(.wwwAuthenticate).map { try DigestChallenge(parsing: $0).algorithm } == algorithms)
    }

    @Test func `contacts over a WebSocket go with their connection, but those that a push wakes`() {
        var browser = Device("1001", password: "secret-1001"), other = Device("1002", password: "secret-1002")
        for (transport, connection) in [(Transport.ws, UInt64(7)), (.wss, 8), (.tcp, 9)] {
            (browser.flow.transport, browser.flow.connection) = (transport, connection)
            _ = browser.register(at: registrar, contacts: [Text("<sip:\(connection)@a.invalid;transport=ws>")], at(0))
        }
        (browser.flow.transport, browser.flow.connection) = (.ws, 7)
        _ = browser.register(at: registrar, contacts: ["<sip:push@a.invalid;pn-provider=x;pn-prid=y>"], at(0))
        (other.flow.transport, other.flow.connection) = (.ws, 7)
        _ = other.register(at: registrar, contacts: ["<sip:7@b.invalid>"], at(0))
        var lost: [(Text, Int)] = [], kept: [Text] = []
        registrar.onLoss = { user, contacts in lost.append((user, contacts.count)) }
        registrar.onChange = { user, _ in kept.append(user) }
        registrar.lost(browser.flow, at: at(1))
        #expect(lost.map(\.0) == ["1001", "1002"] && lost.map(\.1) == [3, 0] && kept == ["1001", "1002"])
        #expect(Set(registrar.contacts(of: "1001", at: at(1)).map { $0.uri.user }) == ["8", "9", "push"])
        browser.flow.connection = 9
        registrar.lost(browser.flow, at: at(2))
        #expect(lost.count == 2, "TCP may be opened again")
    }

    @Test func `of registrars that share their state the one that registered a contact last tells of its expiry`() throws {
        var device = Device("1001", password: "secret-1001", port: 6001), told: [Int] = [], expired: [Int] = []
        func read(_ isElsewhere: Bool, cseq: UInt32, expires: Int) throws -> Registrar.Contact {
            var contact = Registrar.Contact(
                uri: try URI(parsing: "sip:1001@127.0.0.1:6001"), displayName: nil, parameters: [:], path: [], origin: device.flow,
                userAgent: nil, callID: device.callID, cseq: cseq, refreshed: at(0), expiry: at(expires))
            contact.isElsewhere = isElsewhere
            return contact
        }
        registrar.onChange = { _, contacts in told.append(contacts.count) }
        registrar.onExpiry = { _, contacts in expired.append(contacts.count) }
        registrar.adopt([try read(true, cseq: 1, expires: 60)], of: "1001", at: at(0))
        registrar.advance(to: at(61))
        #expect(told.isEmpty && expired == [0] && registrar.counts.isEmpty, "it is forgotten, and the other one tells of it")
        #expect(device.register(at: registrar, contacts: ["<sip:1001@127.0.0.1:6001>"], expires: 60, at(70)).status == 200)
        registrar.advance(to: at(131))
        #expect(told == [1, 0] && expired == [0, 0])
        #expect(device.register(at: registrar, contacts: ["<sip:1001@127.0.0.1:6001>"], expires: 60, at(140)).status == 200)
        registrar.adopt([try read(true, cseq: 99, expires: 300)], of: "1001", at: at(150))
        registrar.advance(to: at(301))
        #expect(told == [1, 0, 1] && expired == [0, 0, 0], "it was refreshed at the other one since")
        registrar.restore([try read(false, cseq: 100, expires: 400)], of: "1001", at: at(310))
        registrar.advance(to: at(401))
        #expect(told == [1, 0, 1, 0], "it registered here before the restart")
    }

    @Test func `nothing of a WebSocket is kept for users that are not registered any more`() {
        var browser = Device("1001", password: "secret-1001")
        (browser.flow.transport, browser.flow.connection) = (.ws, 7)
        _ = browser.register(at: registrar, contacts: ["<sip:a@a.invalid>"], expires: 60, at(0))
        #expect(registrar.counts.webSockets == 1)
        registrar.advance(to: at(61))
        #expect(registrar.counts.isEmpty)
        _ = browser.register(at: registrar, contacts: ["<sip:a@a.invalid>"], expires: 60, at(62))
        _ = browser.register(at: registrar, contacts: ["<sip:a@a.invalid>"], expires: 0, at(63))
        #expect(registrar.counts.isEmpty)
    }

    @Test func `a refresh with the same nonce is not challenged again until the nonce is old`() {
        var device = Device("1001", password: "secret-1001")
        #expect(device.register(at: registrar, contacts: ["<sip:a@h>"], at(0)).status == 200)
        #expect(registrar.handle(device.request(contacts: ["<sip:a@h>"]), over: device.flow, at: at(100)).status == 200)
        let old = registrar.handle(device.request(contacts: ["<sip:a@h>"]), over: device.flow, at: at(300))
        #expect(old.status == 401 && old.headers.all(.wwwAuthenticate).allSatisfy { (try? DigestChallenge(parsing: $0))?.isStale == true })
        #expect(device.register(at: registrar, contacts: ["<sip:a@h>"], at(301)).status == 200)
        #expect(registrar.authenticator.guessCount == 0)
    }

    @Test func `who may register what`() {
        var stranger = Device("9999", password: "x")
        #expect(registrar.handle(stranger.request(contacts: []), over: stranger.flow, at: at(0)).status == 401, "as who has an account")
        #expect(stranger.register(at: registrar, contacts: ["<sip:a@h>"], at(0)).status == 401)
        var wrong = Device("1001", password: "guess")
        #expect(wrong.register(at: registrar, contacts: ["<sip:a@h>"], at(0)).status == 401)
        var other = Device("1001", as: "1002", password: "secret-1002")
        #expect(other.register(at: registrar, contacts: ["<sip:a@h>"], at(0)).status == 403)
        var nobody = Device("1001", as: "ghost", password: "x")
        #expect(nobody.register(at: registrar, contacts: ["<sip:a@h>"], at(0)).status == 401)
        var open = Device("open")
        #expect(open.register(at: registrar, contacts: ["<sip:a@h>"], at(0)).status == 200)
        #expect(registrar.counts.users == 1)
    }

    @Test func `a stored hash decides as the password would, and picks the algorithm`() {
        var device = Device("hashed", password: "pw")
        device.client = DigestClient(
            user: "hashed", secret: .hashed([.md5: Text(openSSL(.md5, Array("hashed:example.test:pw".utf8)))]), hash: openSSL)
        #expect(device.register(at: registrar, contacts: ["<sip:a@h>"], at(0)).status == 200)
    }

    private static let office = IPAddress(v4: 0xC000_0201)

    @Test func `somebody else's wrong passwords lock nobody out, and are asked to come later`() {
        var seen: [WrongPassword] = []
        registrar.authenticator.onWrongPassword = { guess, _ in seen.append(guess) }
        var pauses: [Text?] = []
        for number in 1...5 {
            var guesser = Device("1001", password: "guess", port: UInt16(number), host: Self.office)
            let answer = guesser.register(at: registrar, contacts: [], at(number))
            #expect(answer.status == 401)
            pauses.append(answer.headers[.retryAfter])
        }
        #expect(pauses == [nil, nil, nil, "57", "56"])
        #expect(
            seen.map(\.excess) == [.none, .none, .none, .first, .further]
                && seen.allSatisfy { $0.user == "1001" && $0.source == Self.office })
        #expect(registrar.authenticator.throttled(at: at(6)).map(\.count) == [5])
        for user in ["1001", "1002"] as [Text] {
            var neighbour = Device(user, password: "secret-" + user, host: Self.office)
            #expect(neighbour.register(at: registrar, contacts: ["<sip:a@h>"], at(6)).status == 200, "\(user)")
        }
        #expect(registrar.authenticator.guessCount == 5 && registrar.authenticator.throttledCount == 2)
        #expect(registrar.authenticator.throttled(at: at(62)).isEmpty)
    }

    @Test func `many users of one address are counted together, too`() {
        var pauses: [Text?] = []
        for number in 1...7 {
            var guesser = Device(Text("ghost\(number)"), password: "guess", host: Self.office)
            pauses.append(guesser.register(at: registrar, contacts: [], at(0)).headers[.retryAfter])
        }
        #expect(pauses == [nil, nil, nil, "60", "60", "60", "60"], "users that there are not count as one")
        var guesser = Device("1002", password: "guess", host: Self.office)
        #expect(guesser.register(at: registrar, contacts: [], at(0)).headers[.retryAfter] == "60", "the address has had its six")
    }

    @Test func `a machine that tries passwords is not heard any more, and who proved itself is`() {
        var known = Device("1001", password: "secret-1001", host: Self.office)
        #expect(known.register(at: registrar, contacts: ["<sip:a@h>"], at(0)).status == 200)
        for user in ["1001", "1002"] as [Text] {
            for _ in 0..<150 {
                var guesser = Device(user, password: "guess", host: Self.office)
                _ = guesser.register(at: registrar, contacts: [], at(1))
            }
        }
        #expect(registrar.authenticator.guessCount == 300)
        #expect(known.register(at: registrar, contacts: ["<sip:a@h>"], at(2)).status == 200)
        var lucky = Device("1002", password: "secret-1002", host: Self.office)
        #expect(lucky.register(at: registrar, contacts: ["<sip:a@h>"], at(2)).status == 401)
        #expect(registrar.authenticator.guessCount == 300, "it was not looked at")
        var elsewhere = Device("1002", password: "secret-1002")
        #expect(elsewhere.register(at: registrar, contacts: ["<sip:a@h>"], at(2)).status == 200)
        var later = Device("1002", password: "secret-1002", port: 7000, host: Self.office)
        #expect(later.register(at: registrar, contacts: ["<sip:a@h>"], at(62)).status == 200)
    }

    /// Over UDP a source can be forged.
    @Test func `a nonce is good at the address that it was given to, and a guess elsewhere counts for nobody`() {
        var attacker = Device("1001", password: "guess", host: IPAddress(v4: 0xC633_6401))
        var request = attacker.request(contacts: [])
        let challenge = registrar.handle(request, over: attacker.flow, at: at(0))
        #expect(throws: Never.self) { try attacker.client.answer(challenge, in: &request, clientNonce: "c") }
        attacker.flow.remote = SocketAddress(Self.office, port: 5060)
        for count in 2...40 {
            request.cseq.number = UInt32(count)
            let answer = registrar.handle(request, over: attacker.flow, at: at(1))
            #expect(
                answer.status == 401
                    && answer.headers.all(.wwwAuthenticate).allSatisfy { (try? DigestChallenge(parsing: $0))?.isStale == true })
        }
        #expect(registrar.authenticator.guessCount == 0)
    }

    @Test func `refusals say what would be right`() {
        var device = Device("open")
        let brief = device.register(at: registrar, contacts: ["<sip:a@h>"], expires: 5, at(0))
        #expect(brief.status == 423 && brief.headers[.minExpires] == "60")
        #expect(device.register(at: registrar, contacts: ["<tel:1>"], at(0)).status == 400)
        #expect(device.register(at: registrar, contacts: (0..<11).map { Text("<sip:a\($0)@h>") }, at(0)).status == 403)
        #expect(registrar.counts.isEmpty)
        #expect(device.register(at: registrar, contacts: ["<sip:a@h>"], at(0)).status == 200)
        device.cseq = 0
        #expect(device.register(at: registrar, contacts: ["<sip:a@h>"], at(1)).status == 500)
    }

    @Test func `several devices of a user are listed, the newest first, and expire on their own`() {
        var desk = Device("open", port: 1), mobile = Device("open", port: 2)
        #expect(desk.register(at: registrar, contacts: ["<sip:desk@h>"], expires: 100, at(0)).status == 200)
        #expect(
            mobile.register(at: registrar, contacts: ["<sip:mobile@h>"], expires: 60, at(10)).contacts.map(\.uri.user) == [
                "mobile", "desk",
            ])
        #expect(registrar.deadline == at(70))
        #expect(registrar.contacts(of: "open", at: at(70)).map(\.uri.user) == ["desk"])
        var told: [String] = []
        registrar.onExpiry = { user, contacts in told.append("\(user) \(contacts.count)") }
        registrar.advance(to: at(70))
        #expect(registrar.counts.contacts == 1 && registrar.deadline == at(100))
        registrar.advance(to: at(100))
        #expect(registrar.counts.isEmpty && registrar.deadline == nil && told == ["open 1", "open 0"])
    }

    @Test func `asking, taking back and dropping leave nothing behind`() throws {
        var device = Device("open")
        let path: Text = "<sip:edge.example.test;lr>"
        var request = device.request(contacts: ["<sip:a@h>", "<sip:b@h>", "<sip:c@h>"])
        request.headers.append(.path, path)
        let response = registrar.handle(request, over: device.flow, at: at(0))
        #expect(response.headers.all(.path) == [path])
        #expect(registrar.contacts(of: "open", at: at(0)).first?.path.map(\.text) == [path])
        #expect(device.register(at: registrar, contacts: [], at(1)).contacts.count == 3)
        registrar.drop(try URI(parsing: "sip:b@h"), of: "open", registered: at(0))
        #expect(device.register(at: registrar, contacts: ["<sip:c@h>;expires=0"], at(2)).contacts.map(\.uri.user) == ["a"])
        #expect(device.register(at: registrar, contacts: ["*"], expires: 0, at(3)).contacts.isEmpty)
        #expect(registrar.counts.isEmpty)
    }

    @Test(arguments: ["garbage <<>", "<sip:edge;lr>, <sip:other"])
    func `a path that cannot be read is refused`(path: Text) {
        var device = Device("open")
        var request = device.request(contacts: ["<sip:a@h>"])
        request.headers.append(.path, path)
        #expect(registrar.handle(request, over: device.flow, at: at(0)).status == 400)
        #expect(registrar.counts.isEmpty)
    }

    @Test func `users are bounded`() {
        var configuration = RegistrarConfiguration(domain: "example.test")
        configuration.users = 2
        final class Everybody: AccountDirectory { func account(of user: Text) -> Account? { .open } }
        let everybody = Everybody()
        let registrar = Registrar(configuration: configuration, accounts: everybody, random: SeededRandom(seed: 1), hash: openSSL)
        let statuses = ["a", "b", "c", "a"].map { (user: Text) -> Int? in
            var device = Device(user, port: user == "a" ? 7 : 8)
            device.cseq = UInt32(registrar.counts.users)
            return device.register(at: registrar, contacts: ["<sip:x@h>"], at(0)).status
        }
        #expect(statuses == [200, 200, 503, 200])
    }

    @Test func `users that other registrars have do not count, until they register here`() throws {
        var configuration = RegistrarConfiguration(domain: "example.test")
        configuration.users = 1
        final class Everybody: AccountDirectory { func account(of user: Text) -> Account? { .open } }
        let everybody = Everybody()
        let registrar = Registrar(configuration: configuration, accounts: everybody, random: SeededRandom(seed: 1), hash: openSSL)
        var number: UInt32 = 1_000
        func take(_ user: Text, _ isElsewhere: Bool, atStart: Bool = false) throws {
            number += 1
            var contact = Registrar.Contact(
                uri: try URI(parsing: "sip:x@h"), displayName: nil, parameters: [:], path: [], origin: Device(user).flow, userAgent: nil,
                callID: "other", cseq: number, refreshed: at(0), expiry: at(3_600))
            contact.isElsewhere = isElsewhere
            if atStart { registrar.restore([contact], of: user, at: at(0)) } else { registrar.adopt([contact], of: user, at: at(0)) }
        }
        func register(_ user: Text, expires: Int = 3_600) -> Int? {
            number += 1
            var device = Device(user)
            device.cseq = number
            return device.register(at: registrar, contacts: ["<sip:x@h>"], expires: expires, at(1)).status
        }
        for user: Text in ["a", "b", "c"] { try take(user, true, atStart: user == "a") }
        #expect(registrar.counts.users == 3 && register("d") == 200 && register("e") == 503 && register("a") == 503 && register("d") == 200)
        try take("f", false)
        #expect(registrar.counts.users == 4 && registrar.refusedUsers == 2, "what registered here before the restart is bounded, too")
        try take("d", true)
        #expect(register("a") == 200 && register("d") == 503, "it has moved, and made room")
        #expect(register("a", expires: 0) == 200 && register("d") == 200)
        registrar.advance(to: at(4_000))
        #expect(registrar.counts.isEmpty)
        registrar.userLimit = 2
        #expect(register("e") == 200 && register("f") == 200 && register("g") == 503)
    }

    @Test func `a call is checked with the nonce of the registration`() {
        var device = Device("1001", password: "secret-1001")
        #expect(device.register(at: registrar, contacts: ["<sip:a@h>"], at(0)).status == 200)
        let invite = device.request(.invite, contacts: ["<sip:a@h>"])
        guard case .accepted("1001") = registrar.authenticator.verify(invite, from: .loopback, at: at(1)) else {
            Issue.record("not taken")
            return
        }
        guard case .challenge(let values) = registrar.authenticator.verify(invite, from: .loopback, at: at(2)) else {
            Issue.record("a replay was taken")
            return
        }
        #expect(values.count == 2 && values.allSatisfy { (try? DigestChallenge(parsing: $0.1))?.isStale == true })
        var naked = Device("1001", port: 2)
        guard case .challenge(let fresh) = registrar.authenticator.verify(naked.request(.invite, contacts: []), from: .loopback, at: at(2))
        else {
            Issue.record("taken without credentials")
            return
        }
        #expect(fresh.allSatisfy { (try? DigestChallenge(parsing: $0.1))?.isStale == false })
    }
}
