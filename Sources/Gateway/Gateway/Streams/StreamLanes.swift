import Dispatch
import Media
import Primitives
import Runtime
import Streaming

/// The streams of a server, spread over lanes of their own: JSON, Base64 and WebSockets are no work for a media lane.
///
/// Any thread; `report` is called on those lanes, and only posts onwards.
public final class StreamLanes: StreamPlane {
    private let lanes: [Lane<StreamHost>]

    /// - Parameters:
    ///   - count: of the lanes.
    ///   - trust: whose certificates the programs of `wss` addresses may show.
    ///   - report: called on a lane of streams with what a program does.
    public init(
        lanes count: Int, trusting trust: TLSContexts, report: @escaping @Sendable (_ id: UInt64, _ event: StreamEvent) -> Void
    ) {
        lanes = (0..<count).map { number in
            Lane(label: "streams-\(number)", hasPoller: true) { lane, now in StreamHost(lane, trust, at: now, report: report) }
        }
    }

    deinit { for lane in lanes { lane.close() } }

    private func lane(of id: UInt64) -> Lane<StreamHost> { lanes[Int(id % UInt64(lanes.count))] }

    public func open(_ order: StreamOrder, as id: UInt64) {
        let lane = lane(of: id)
        guard let place = order.settings.place else { return lane.post { host, now in host.open(order, as: id, at: now) } }
        if let address = IPAddress(place.host) {
            return lane.post { host, now in
                host.open(order, as: id, at: now)
                host.connect(id, to: [SocketAddress(address, port: place.port)], at: now)
            }
        }
        lane.post { host, now in host.open(order, as: id, at: now) }
        DispatchQueue.global().async { [weak lane] in
            let addresses = SystemNames.addresses(of: place.host, port: place.port)
            lane?.post { host, now in host.connect(id, to: addresses, at: now) }
        }
    }

    public func connect(_ id: UInt64, over connection: ReleasedConnection) {
        lane(of: id).post { host, now in host.connect(id, over: connection, at: now) }
    }

    public func press(_ digit: Character, on id: UInt64) { lane(of: id).post { host, now in host.streams[id]?.press(digit, at: now) } }

    public func hold(_ isHeld: Bool, _ id: UInt64) { lane(of: id).post { host, now in host.streams[id]?.hold(isHeld, at: now) } }

    public func close(_ id: UInt64, _ end: StreamEnd) -> StreamSession.Counts? {
        lane(of: id).sync { host, now in host.streams[id]?.close(end, at: now) } ?? nil
    }
}

/// The resident of a lane of streams: looks after them every few milliseconds, as long as there are any.
final class StreamHost: LaneResident {
    /// The interval at which sound is passed on: what comes waits half of it for its program.
    private static let interval = Duration.milliseconds(5)

    private unowned let lane: Lane<StreamHost>
    private let trust: TLSContexts
    private let report: @Sendable (UInt64, StreamEvent) -> Void
    fileprivate var streams: [UInt64: ProgramStream] = [:]
    private var next: Instant

    init(
        _ lane: Lane<StreamHost>, _ trust: TLSContexts, at now: Instant, report: @escaping @Sendable (UInt64, StreamEvent) -> Void
    ) {
        (self.lane, self.trust, self.report, next) = (lane, trust, report, now)
    }

    var deadline: Instant? { streams.isEmpty ? nil : next }

    func advance(to now: Instant) {
        guard next <= now else { return }
        next = now + Self.interval
        for (id, stream) in streams {
            stream.advance(to: now)
            if stream.isGone { streams[id] = nil }
        }
    }

    fileprivate func open(_ order: StreamOrder, as id: UInt64, at now: Instant) {
        let report = report
        guard let stream = try? ProgramStream(order, at: now, report: { report(id, $0) }) else {
            return report(id, .ended(.unreachable, StreamSession.Counts()))
        }
        streams[id] = stream
        next = min(next, now + Self.interval)
    }

    fileprivate func connect(_ id: UInt64, to addresses: [SocketAddress], at now: Instant) {
        streams[id]?.connect(to: addresses, trusting: trust, on: lane, at: now)
    }

    fileprivate func connect(_ id: UInt64, over connection: ReleasedConnection, at now: Instant) {
        guard let stream = streams[id] else { return connection.connection.close() }
        stream.connect(over: connection, on: lane, at: now)
    }
}
