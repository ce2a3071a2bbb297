import Dispatch
import Primitives
import Runtime
import SIP
import UserAgent

/// The address of a host that somebody named: by the hosts file and by DNS (RFC 3263), for a person who waits.
enum HostLookup {
    /// Asks the system's name servers, and waits. A test has answers of its own.
    @TaskLocal static var ask: @Sendable (DNSQuestion) -> DNSAnswer = { answer(to: $0, DNSResolver(DNSResolver.Settings())) }

    /// All that DNS says, once everything is known.
    static func location(
        of domain: ServerLocation.Domain, transports: [Transport], families: [IPAddress.Family], ask: (DNSQuestion) -> DNSAnswer
    ) -> ServerLocation.Result? {
        var location = ServerLocation(domain, transports: transports, families: families), waiting = location.start()
        while !waiting.isEmpty {
            let question = waiting.removeFirst()
            waiting += location.receive(ask(question), to: question)
        }
        return location.result
    }

    /// The first server of a name; without a port by its SRV records, where it has some.
    /// - Throws: a `Failure` with code 3 where it has no address.
    static func address(of host: Text, port: UInt16?, over transport: Transport) throws -> SocketAddress {
        if host == "localhost" { return SocketAddress(.loopback, port: port ?? transport.standardPort) }
        let domain = ServerLocation.Domain(host: host, port: port, transport: transport)
        let found = location(of: domain, transports: [transport], families: [.v4, .v6], ask: ask)
        guard let server = found?.servers.first else {
            throw Failure.cannotRun(
                "the name '\(host)' \(found?.hasFailed == true ? "cannot be asked for: no name server answers" : "has no address")")
        }
        return server.address
    }

    static func answer(to question: DNSQuestion, _ resolver: DNSResolver?) -> DNSAnswer {
        guard let resolver else { return DNSAnswer(.failed) }
        let answered = DispatchSemaphore(value: 0), box = AnswerBox()
        resolver.ask(question) { answer in
            box.set(answer)
            answered.signal()
        }
        answered.wait()
        return box.answer
    }

    /// A host name (RFC 1123 §2.1), and its port where one is written behind it; nil for what is none, such as a number.
    static func name(in text: String) -> (host: Text, port: UInt16?)? {
        guard let match = text.wholeMatch(of: /([A-Za-z0-9_][A-Za-z0-9_.\-]*)(:([0-9]+))?/), match.1.contains(where: \.isLetter) else {
            return nil
        }
        guard let written = match.3 else { return (Text(String(match.1)), nil) }
        guard let port = UInt16(written), port != 0 else { return nil }
        return (Text(String(match.1)), port)
    }
}

/// Carries one answer from the resolver's queue to who waits for it.
private final class AnswerBox: @unchecked Sendable {
    // Written before the semaphore is signalled, and read after it was waited for.
    private(set) var answer = DNSAnswer(.failed)
    func set(_ answer: DNSAnswer) { self.answer = answer }
}
