import CCAres
import Dispatch
import Glibc
public import Primitives

/// Asks the name system, on a queue of its own: nobody who asks ever waits.
///
/// c-ares speaks the protocol, Dispatch watches its sockets and its timeouts. Bounded: a question takes seconds at most, and so many may be under way.
/// Thread-safe.
public final class DNSResolver: Sendable {
    public struct Settings: Hashable, Sendable {
        /// The servers that are asked; empty: those of the system's `resolv.conf`.
        public var servers: [SocketAddress] = []
        /// What has addresses of names before any server is asked; read for each question.
        public var hostsFile = "/etc/hosts"
        /// Where an address of a name without a dot is looked for; nil: where the system's `resolv.conf` says.
        public var searchDomains: [String]?
        /// How long a server has for its first answer, and how often all of them are asked.
        public var timeout: Duration = .seconds(2)
        public var tries = 2
        /// Questions under way; one more fails at once.
        public var maximumQuestions = 1_000

        public init() {}
    }

    private let queue = DispatchQueue(label: "names")
    private let worker: Confinement

    /// Nil when c-ares cannot start: no memory, or servers that are none.
    public init?(_ settings: Settings = Settings()) {
        guard let worker = DNSWorker(settings, queue: queue) else { return nil }
        self.worker = Confinement(worker: worker)
    }

    deinit {
        let worker = worker
        queue.async { worker.worker.close() }
    }

    /// - Parameter completion: called once, on the resolver's own queue.
    public func ask(_ question: DNSQuestion, completion: @escaping @Sendable (DNSAnswer) -> Void) {
        let worker = worker
        queue.async { worker.worker.ask(question, completion) }
    }

    /// The worker is touched on the queue alone.
    private struct Confinement: @unchecked Sendable { let worker: DNSWorker }
}

/// c-ares and its sockets. Lives on one queue.
private final class DNSWorker {
    private let channel: ares_channel
    private let queue: DispatchQueue
    private let settings: DNSResolver.Settings
    private var sockets: [ares_socket_t: Watch] = [:]
    private var timer: (any DispatchSourceTimer)?
    private var underWay = 0
    private var isClosed = false

    /// The sources of a socket. They watch a copy of it: c-ares closes its own at once, and Dispatch may look a moment longer.
    private struct Watch {
        let copy: SharedDescriptor
        var reader: (any DispatchSourceRead)?
        var writer: (any DispatchSourceWrite)?

        func cancel() {
            reader?.cancel()
            writer?.cancel()
        }
    }

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

    init?(_ settings: DNSResolver.Settings, queue: DispatchQueue) {
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
        (self.channel, self.queue, self.settings, self.box) = (channel, queue, settings, box)
        box.worker = self
        let list = settings.servers.map(\.description).joined(separator: ",")
        guard list.isEmpty || ares_set_servers_ports_csv(channel, list) == ccares_success else {
            close()
            return nil
        }
    }

    /// What c-ares holds instead of us, who are made after it.
    private final class SocketBox { weak var worker: DNSWorker? }
    private let box: SocketBox

    func close() {
        guard !isClosed else { return }
        isClosed = true
        ares_destroy(channel)
        timer?.cancel()
        for watch in sockets.values { watch.cancel() }
        sockets = [:]
    }

    func ask(_ question: DNSQuestion, _ completion: @escaping @Sendable (DNSAnswer) -> Void) {
        guard !isClosed, underWay < settings.maximumQuestions else { return completion(DNSAnswer(.failed)) }
        if let known = DNSAnswer(local: question, hostsFile: settings.hostsFile) { return completion(known) }
        underWay += 1
        let pending = Unmanaged.passRetained(Pending(self, question, completion)).toOpaque()
        let query = question.isSearched ? ares_search : ares_query
        query(channel, question.name.description, 1, question.type, { argument, status, _, bytes, count in
            guard let argument else { return }
            let pending = Unmanaged<Pending>.fromOpaque(argument).takeRetainedValue()
            let answer = DNSWorker.answer(to: pending.question, status, bytes, count)
            pending.worker.underWay -= 1
            pending.completion(answer)
        }, pending)
        setTimer()
    }

    // MARK: Sockets and time

    private func watch(_ socket: ares_socket_t, _ readable: Bool, _ writable: Bool) {
        var watch = sockets.removeValue(forKey: socket) ?? Watch(copy: SharedDescriptor(FileDescriptorOwner(dup(socket))))
        guard readable || writable, watch.copy.raw >= 0 else { return watch.cancel() }
        let keep: @Sendable () -> Void = { [copy = watch.copy] in withExtendedLifetime(copy) {} }
        if readable, watch.reader == nil {
            let source = DispatchSource.makeReadSource(fileDescriptor: watch.copy.raw, queue: queue)
            source.setEventHandler(handler: handler(socket, ARES_SOCKET_BAD))
            source.setCancelHandler(handler: keep)
            source.activate()
            watch.reader = source
        }
        if writable, watch.writer == nil {
            let source = DispatchSource.makeWriteSource(fileDescriptor: watch.copy.raw, queue: queue)
            source.setEventHandler(handler: handler(ARES_SOCKET_BAD, socket))
            source.setCancelHandler(handler: keep)
            source.activate()
            watch.writer = source
        } else if !writable {
            watch.writer?.cancel()
            watch.writer = nil
        }
        sockets[socket] = watch
    }

    private func handler(_ readable: ares_socket_t, _ writable: ares_socket_t) -> @Sendable () -> Void {
        let worker = Confined(self, to: queue)
        return { worker.open()?.process(readable, writable) }
    }

    private func process(_ readable: ares_socket_t, _ writable: ares_socket_t) {
        guard !isClosed else { return }
        ares_process_fd(channel, readable, writable)
        setTimer()
    }

    private func setTimer() {
        timer?.cancel()
        timer = nil
        guard !isClosed, underWay > 0 else { return }
        var limit = timeval(tv_sec: 1, tv_usec: 0), due = timeval()
        guard let next = ares_timeout(channel, &limit, &due) else { return }
        let source = DispatchSource.makeTimerSource(queue: queue)
        source.schedule(deadline: .now() + .milliseconds(max(1, next.pointee.tv_sec * 1_000 + next.pointee.tv_usec / 1_000)))
        source.setEventHandler(handler: handler(ARES_SOCKET_BAD, ARES_SOCKET_BAD))
        source.activate()
        timer = source
    }
}

// What comes back.
extension DNSWorker {
    private static func answer(to question: DNSQuestion, _ status: Int32, _ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int32) -> DNSAnswer {
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
                    order: record.order, preference: record.preference, flags: text(record.flags), service: text(record.service), replacement: name(record.replacement)))
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
