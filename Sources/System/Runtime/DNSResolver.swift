import CCAres
import Glibc
public import Primitives

/// Asks the DNS, on a lane of its own: no caller ever waits.
///
/// c-ares speaks the protocol, the lane's poller watches its sockets and the lane's alarm its timeouts. Bounded: a query takes seconds at
/// most, and their number is limited. Thread-safe.
public final class DNSResolver: Sendable {
    /// The servers and files that it asks, and for how long.
    public struct Settings: Hashable, Sendable {
        /// The servers that are asked; empty: those of the system's `resolv.conf`.
        public var servers: [SocketAddress] = []
        /// The file that has addresses of names before any server is asked; read for each question.
        public var hostsFile = "/etc/hosts"
        /// The domains in which a name without a dot is looked for; nil: those that the system's `resolv.conf` says.
        public var searchDomains: [String]?
        /// The time that a server has for its first answer; `tries` says how often all of them are asked.
        public var timeout: Duration = .seconds(2)
        /// Rounds over all servers, the first included.
        public var tries = 2
        /// Questions under way; one more fails at once.
        public var maximumQuestions = 1_000

        /// The servers of the system, two seconds each, two rounds.
        public init() {}
    }

    private let lane: Lane<DNSWorker>

    private struct CannotStart: Error {}

    /// Nil when c-ares cannot start: no memory, or servers that are none.
    public init?(_ settings: Settings = Settings()) {
        let lane = try? Lane<DNSWorker>(label: "dns") { lane, _ throws(CannotStart) in
            guard let worker = DNSWorker(settings, sockets: lane.sockets) else { throw CannotStart() }
            return worker
        }
        guard let lane else { return nil }
        self.lane = lane
    }

    deinit {
        let lane = lane
        lane.post { worker, _ in worker.close() }
        lane.queue.async { lane.leave() }
    }

    /// - Parameter completion: called once, on the resolver's own lane.
    public func ask(_ question: DNSQuestion, completion: @escaping @Sendable (DNSAnswer) -> Void) {
        lane.post { worker, now in worker.ask(question, completion, at: now) }
    }
}

/// c-ares and its sockets, on their lane.
private final class DNSWorker: LaneResident {
    private let channel: ares_channel
    private let sockets: LaneSockets
    private let settings: DNSResolver.Settings
    private var watched: [ares_socket_t: ResolverSocket] = [:]
    private(set) var deadline: Instant?
    private var underWay = 0
    private var isClosed = false

    /// One question that c-ares carries around.
    private final class Pending {
        let worker: DNSWorker
        let question: DNSQuestion
        let completion: @Sendable (DNSAnswer) -> Void

        init(_ worker: DNSWorker, _ question: DNSQuestion, _ completion: @escaping @Sendable (DNSAnswer) -> Void) {
            (self.worker, self.question, self.completion) = (worker, question, completion)
        }
    }

    // The library counts its users; it is not to go while any resolver lives.
    private static let isReady = ares_library_init(ARES_LIB_INIT_ALL) == ccares_success

    init?(_ settings: DNSResolver.Settings, sockets: LaneSockets) {
        guard Self.isReady else { return nil }
        var options = ares_options()
        options.timeout = Int32(clamping: settings.timeout.wholeMilliseconds)
        options.tries = Int32(clamping: settings.tries)
        var channel: ares_channel?
        let mask = ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB | (settings.searchDomains == nil ? 0 : ARES_OPT_DOMAINS)
        let box = SocketBox()
        options.sock_state_cb = { data, socket, readable, writable in
            guard let data else { return }
            Unmanaged<SocketBox>.fromOpaque(data).takeUnretainedValue().worker?.watch(socket, readable != 0, writable != 0)
        }
        options.sock_state_cb_data = Unmanaged.passUnretained(box).toOpaque()
        var domains: [UnsafeMutablePointer<CChar>?] = (settings.searchDomains ?? []).map { strdup($0) }
        defer { for domain in domains { free(domain) } }
        let status = domains.withUnsafeMutableBufferPointer { list in
            (options.domains, options.ndomains) = (list.baseAddress, Int32(list.count))
            return ares_init_options(&channel, &options, mask)
        }
        guard status == ccares_success, let channel else { return nil }
        (self.channel, self.sockets, self.settings, self.box) = (channel, sockets, settings, box)
        box.worker = self
        let list = settings.servers.map(\.description).joined(separator: ",")
        guard list.isEmpty || ares_set_servers_ports_csv(channel, list) == ccares_success else {
            close()
            return nil
        }
    }

    /// The object that c-ares holds instead of us, who are made after it.
    private final class SocketBox { weak var worker: DNSWorker? }
    private let box: SocketBox

    func close() {
        guard !isClosed else { return }
        isClosed = true
        deadline = nil
        ares_destroy(channel)
    }

    func ask(_ question: DNSQuestion, _ completion: @escaping @Sendable (DNSAnswer) -> Void, at now: Instant) {
        guard !isClosed, underWay < settings.maximumQuestions else { return completion(DNSAnswer(.failed)) }
        if let known = DNSAnswer(local: question, hostsFile: settings.hostsFile) { return completion(known) }
        underWay += 1
        let pending = Unmanaged.passRetained(Pending(self, question, completion)).toOpaque()
        let query = question.isSearched ? ares_search : ares_query
        query(
            channel, question.name.description, 1, question.type,
            { argument, status, _, bytes, count in
                guard let argument else { return }
                let pending = Unmanaged<Pending>.fromOpaque(argument).takeRetainedValue()
                let answer = DNSWorker.answer(to: pending.question, status, bytes, count)
                pending.worker.underWay -= 1
                pending.completion(answer)
            }, pending)
        setDeadline(at: now)
    }

    // MARK: Sockets and time

    /// c-ares tells what it waits for, and at last that it is about to close the socket.
    private func watch(_ descriptor: ares_socket_t, _ readable: Bool, _ writable: Bool) {
        let events: Poller.Events = readable ? (writable ? [.readable, .writable] : .readable) : (writable ? .writable : [])
        if let socket = watched[descriptor] {
            if events.isEmpty { forget(descriptor, socket) } else { try? sockets.change(descriptor, socket.token, to: events) }
        } else if !events.isEmpty {
            let socket = ResolverSocket(descriptor, of: self)
            guard let token = try? sockets.watch(descriptor, for: events, socket) else { return }
            socket.token = token
            watched[descriptor] = socket
        }
    }

    private func forget(_ descriptor: ares_socket_t, _ socket: ResolverSocket) {
        watched[descriptor] = nil
        sockets.forget(descriptor, socket.token)
    }

    func ready(_ descriptor: ares_socket_t, _ events: Poller.Events, at now: Instant) {
        let isOver = !events.isDisjoint(with: [.hungUp, .failed])
        process(
            readable: isOver || events.contains(.readable) ? descriptor : ARES_SOCKET_BAD,
            writable: events.contains(.writable) ? descriptor : ARES_SOCKET_BAD,
            at: now)
    }

    func advance(to now: Instant) {
        guard let deadline, deadline <= now else { return }
        process(readable: ARES_SOCKET_BAD, writable: ARES_SOCKET_BAD, at: now)
    }

    private func process(readable: ares_socket_t, writable: ares_socket_t, at now: Instant) {
        guard !isClosed else { return }
        ares_process_fd(channel, readable, writable)
        setDeadline(at: now)
    }

    private func setDeadline(at now: Instant) {
        deadline = nil
        guard !isClosed, underWay > 0 else { return }
        var limit = timeval(tv_sec: 1, tv_usec: 0), due = timeval()
        guard let next = ares_timeout(channel, &limit, &due) else { return }
        deadline = now + .milliseconds(max(1, next.pointee.tv_sec * 1_000 + next.pointee.tv_usec / 1_000))
    }
}

/// A socket of c-ares, which owns and closes it.
private final class ResolverSocket: LaneSocket {
    private let descriptor: ares_socket_t
    private unowned let worker: DNSWorker
    /// Given when the poller has it.
    var token: SocketToken!

    init(_ descriptor: ares_socket_t, of worker: DNSWorker) { (self.descriptor, self.worker) = (descriptor, worker) }

    func ready(_ events: Poller.Events, at now: Instant) { worker.ready(descriptor, events, at: now) }
}

// The answers that come back.
extension DNSWorker {
    private static func answer(to question: DNSQuestion, _ status: Int32, _ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int32)
        -> DNSAnswer
    {
        if status == ccares_no_data || status == ccares_not_found { return DNSAnswer(.nothing) }
        guard status == ccares_success, let bytes else { return DNSAnswer(.failed) }
        let (records, seconds) = parse(question, bytes, count)
        return records.isEmpty ? DNSAnswer(.nothing) : DNSAnswer(.found, records: records, timeToLive: .seconds(Int64(seconds)))
    }

    /// The records of the kind that was asked for, at most 64, and the smallest time to live of the whole answer.
    private static func parse(_ question: DNSQuestion, _ bytes: UnsafeMutablePointer<UInt8>, _ count: Int32) -> ([DNSRecord], UInt32) {
        let seconds = DNSTimeToLive.smallest(in: UnsafeBufferPointer(start: bytes, count: Int(count)))
        switch question {
        case .a: return (addresses(bytes, count), seconds)
        case .aaaa: return (longAddresses(bytes, count), seconds)
        case .srv: return (services(bytes, count), seconds)
        case .naptr: return (pointers(bytes, count), seconds)
        }
    }

    private static func addresses(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int32) -> [DNSRecord] {
        var found = [ares_addrttl](repeating: ares_addrttl(), count: 64), number: Int32 = 64
        guard ares_parse_a_reply(bytes, count, nil, &found, &number) == ccares_success else { return [] }
        return found.prefix(Int(max(number, 0))).map { .address(IPAddress(v4: UInt32(bigEndian: $0.ipaddr.s_addr))) }
    }

    private static func longAddresses(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int32) -> [DNSRecord] {
        var found = [ares_addr6ttl](repeating: ares_addr6ttl(), count: 64), number: Int32 = 64
        guard ares_parse_aaaa_reply(bytes, count, nil, &found, &number) == ccares_success else { return [] }
        return found.prefix(Int(max(number, 0))).map { entry in
            withUnsafeBytes(of: entry.ip6addr) { raw in
                let high = UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: 0, as: UInt64.self))
                return .address(IPAddress(v6High: high, low: UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self))))
            }
        }
    }

    private static func services(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int32) -> [DNSRecord] {
        var first: UnsafeMutablePointer<ares_srv_reply>?
        guard ares_parse_srv_reply(bytes, count, &first) == ccares_success else { return [] }
        defer { ares_free_data(first) }
        var records: [DNSRecord] = []
        var next = first
        while let record = next?.pointee, records.count < 64 {
            records.append(.srv(priority: record.priority, weight: record.weight, port: record.port, target: name(record.host)))
            next = record.next
        }
        return records
    }

    private static func pointers(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int32) -> [DNSRecord] {
        var first: UnsafeMutablePointer<ares_naptr_reply>?
        guard ares_parse_naptr_reply(bytes, count, &first) == ccares_success else { return [] }
        defer { ares_free_data(first) }
        var records: [DNSRecord] = []
        var next = first
        while let record = next?.pointee, records.count < 64 {
            records.append(
                .naptr(
                    order: record.order, preference: record.preference, flags: text(record.flags), service: text(record.service),
                    replacement: name(record.replacement)))
            next = record.next
        }
        return records
    }

    private static func text(_ bytes: UnsafePointer<UInt8>?) -> Text { bytes.map { Text(String(cString: $0)) } ?? .empty }
    private static func text(_ bytes: UnsafeMutablePointer<UInt8>?) -> Text { text(bytes.map { UnsafePointer($0) }) }

    /// Without the root's dot.
    private static func name(_ characters: UnsafeMutablePointer<CChar>?) -> Text {
        guard let characters else { return .empty }
        let text = Text(String(cString: characters))
        return text.bytes.last == UInt8(ascii: ".") ? Text(text.bytes.dropLast()) : text
    }
}

extension DNSQuestion {
    var name: Text {
        switch self {
        case .naptr(let name), .srv(let name), .a(let name), .aaaa(let name): name
        }
    }

    /// A name of this place. One with a dot is a whole name: under a search domain it would be found wherever that has a wildcard.
    fileprivate var isSearched: Bool {
        switch self {
        case .a(let name), .aaaa(let name): !name.bytes.contains(UInt8(ascii: "."))
        case .srv, .naptr: false
        }
    }

    /// RFC 1035 §3.2.2, RFC 3596, RFC 2782, RFC 3403.
    fileprivate var type: Int32 {
        switch self {
        case .a: 1
        case .aaaa: 28
        case .srv: 33
        case .naptr: 35
        }
    }
}
