import Foundation
import HookswitchClient

/// The state of a gateway for `hookswitch top`: a snapshot, and what the events behind it changed.
struct TopState {
    private let gateway: String
    private var server: HookswitchClient.Server?
    private var calls: [UUID: HookswitchClient.Call] = [:]
    private var quality: [UUID: TopFrame.Quality] = [:]
    private var registrations: Int?
    private var trouble: String?
    private var connected = RateWindow(), refused = RateWindow()
    private var means = QualityMeans()
    /// Calls that began, of which events tell too little.
    private(set) var wanted: Set<UUID> = []
    /// Devices came or went.
    private(set) var areLinesStale = false
    /// Another run began: nothing of before holds.
    private(set) var isStale = false

    init(gateway: String) { self.gateway = gateway }

    mutating func begin(
        _ server: HookswitchClient.Server, _ snapshot: HookswitchClient.Snapshot, _ lines: [HookswitchClient.Line], at now: Date
    ) {
        (self.server, trouble, wanted, isStale, areLinesStale) = (server, nil, [], false, false)
        calls = snapshot.calls.reduce(into: [:]) { $0[$1.id] = $1 }
        quality = quality.filter { calls[$0.key] != nil }
        take(lines)
        connected.begin(at: now)
        refused.begin(at: now)
    }

    mutating func take(_ lines: [HookswitchClient.Line]) {
        (registrations, areLinesStale) = (lines.map(\.devices.count).reduce(0, +), false)
    }

    /// Takes a call as the gateway tells it now; nil: it does not know it any more.
    mutating func take(_ call: HookswitchClient.Call?, of id: UUID) {
        wanted.remove(id)
        if let call, call.state != .ended { calls[id] = call } else { forget(id) }
    }

    /// The gateway is away, or there again (nil).
    mutating func note(trouble: String?) { self.trouble = trouble }

    mutating func note(_ event: HookswitchClient.Event, at now: Date) {
        switch event.type {
        case "server.started", "node.gap", "node.back": isStale = true
        case "call.refused", "call.filtered": refused.note(at: now)
        case "line.registered", "line.unregistered", "server.reloaded": areLinesStale = true
        default: if let call = event.call { note(event, of: call, at: now) }
        }
    }

    private mutating func note(_ event: HookswitchClient.Event, of id: UUID, at now: Date) {
        switch event.type {
        case "call.incoming", "call.started": if calls[id] == nil { wanted.insert(id) }
        case "call.connecting": calls[id]?.state = .connecting
        case "call.connected":
            connected.note(at: now)
            calls[id]?.state = .connected
            calls[id]?.connected = event.time
        case "call.held": calls[id]?.isOnHold = true
        case "call.resumed": calls[id]?.isOnHold = false
        case "call.muted": calls[id]?.isMuted = true
        case "call.unmuted": calls[id]?.isMuted = false
        case "call.remote-hold": calls[id]?.isHeldByRemote = event.data["on"]?.number == 1 || event.data["on"] == .flag(true)
        case "media.stopped": note(media: event, of: id)
        case "call.ended": forget(id)
        default: break
        }
    }

    private mutating func note(media event: HookswitchClient.Event, of id: UUID) {
        let measured = TopFrame.Quality(
            loss: event.data["loss"]?.number.map { $0 / 10_000 }, jitter: event.data["jitter"]?.number.map { $0 / 1_000_000 },
            mos: event.data["mos"]?.number.map { $0 / 100 })
        means.note(measured)
        guard calls[id] != nil else { return }
        quality[id] = measured
        var media = calls[id]?.media ?? .init(received: 0, sent: 0)
        (media.incoming, media.outgoing) = (event.data["incoming"]?.text, event.data["outgoing"]?.text)
        calls[id]?.media = media
    }

    private mutating func forget(_ id: UUID) { (calls[id], quality[id]) = (nil, nil) }

    func frame(at now: Date) -> TopFrame {
        TopFrame(
            gateway: gateway, trouble: trouble, version: server?.version ?? "", run: server?.run,
            uptime: server?.started.map { Self.seconds(from: $0, to: now) }, calls: calls.count,
            connectedPerSecond: connected.perSecond(at: now), refusedPerSecond: refused.perSecond(at: now), registrations: registrations,
            measured: means.count, quality: means.mean,
            rows: calls.values.map { row($0, now) }.sorted { ($1.age, $0.id.uuidString) < ($0.age, $1.id.uuidString) })
    }

    private func row(_ call: HookswitchClient.Call, _ now: Date) -> TopFrame.Row {
        TopFrame.Row(
            id: call.id, line: call.line, direction: call.direction.rawValue, state: call.state.rawValue,
            from: call.from ?? (call.isOutgoing ? call.line : call.handle), to: call.to ?? (call.isOutgoing ? call.handle : call.line),
            age: Self.seconds(from: call.began, to: now), connected: call.connected.map { Self.seconds(from: $0, to: now) },
            isOnHold: call.isOnHold, isMuted: call.isMuted, isHeldByRemote: call.isHeldByRemote, incoming: call.media?.incoming,
            outgoing: call.media?.outgoing, quality: quality[call.id] ?? .init())
    }

    /// The clocks of two machines differ: nothing is in the future.
    private static func seconds(from start: Date, to now: Date) -> Int { max(0, Int(now.timeIntervalSince(start))) }
}

/// Counts events over the last ten seconds.
struct RateWindow {
    private static let length = 10
    /// Counts of seconds, the last ten of those in which something was counted.
    private var seconds: [(number: Int, count: Int)] = []
    private var begun: Date?

    /// - Parameter now: only what comes from here on is known.
    mutating func begin(at now: Date) { if begun == nil { begun = now } }

    mutating func note(at now: Date) {
        let number = Int(now.timeIntervalSince1970)
        if let last = seconds.indices.last, seconds[last].number >= number { seconds[last].count += 1 } else { seconds.append((number, 1)) }
        seconds.removeAll { $0.number <= number - Self.length }
    }

    /// nil: too little time has passed to tell.
    func perSecond(at now: Date) -> Double? {
        guard let begun, now.timeIntervalSince(begun) >= 1 else { return nil }
        let number = Int(now.timeIntervalSince1970), count = seconds.filter { $0.number > number - Self.length }.map(\.count).reduce(0, +)
        return Double(count) / min(Double(Self.length), now.timeIntervalSince(begun))
    }
}

/// Means of loss, jitter and MOS over all legs of which they were measured.
struct QualityMeans {
    private struct Mean {
        var sum = 0.0, count = 0
        mutating func add(_ value: Double?) { if let value { (sum, count) = (sum + value, count + 1) } }
        var value: Double? { count == 0 ? nil : sum / Double(count) }
    }

    private var loss = Mean(), jitter = Mean(), mos = Mean()
    /// Legs of which something was measured.
    private(set) var count = 0

    mutating func note(_ quality: TopFrame.Quality) {
        if quality != .init() { count += 1 }
        loss.add(quality.loss)
        jitter.add(quality.jitter)
        mos.add(quality.mos)
    }

    var mean: TopFrame.Quality { .init(loss: loss.value, jitter: jitter.value, mos: mos.value) }
}
