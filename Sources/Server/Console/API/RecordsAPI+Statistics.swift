import CallJournal
import Foundation
import Gateway
import HTTP
import Media
import Primitives
import RTP

/// The media of one leg as `/v1/calls/{id}/statistics` shows it. Figures that nobody measured are left out.
struct LegStatisticsBody: Encodable, Sendable {
    /// One direction.
    struct Stream: Encodable, Sendable {
        var packets: Int64
        var lost: Int64?, expected: Int64?
        var lossPercent: Double?
        /// Milliseconds.
        var jitter: Double?
        var mos: Double?
        /// `heard`, `packets`, `paused`, `silent`, `nothing`.
        var heard: String?
    }

    var call: String
    var line: String
    var direction: String?
    var isUp: Bool
    var codec: String?
    var transport: String?, remote: String?, callID: String?
    /// Milliseconds.
    var roundTrip: Double?
    /// From the far end, and to it. Absent: no media was opened.
    var incoming: Stream?, outgoing: Stream?
    var recording: Bool
}

/// The statistics of calls that were asked for last: the journal and the media engine are asked a few times a second, whoever asks.
struct StatisticsCache {
    static let lifetime = Duration.milliseconds(300), most = 100

    struct Entry {
        let at: Instant
        let legs: [LegStatisticsBody]
    }

    private var entries: [CallUUID: Entry] = [:]

    func legs(of call: CallUUID, at now: Instant) -> [LegStatisticsBody]? {
        entries[call].flatMap { now < $0.at + Self.lifetime ? $0.legs : nil }
    }

    mutating func keep(_ legs: [LegStatisticsBody], of call: CallUUID, at now: Instant) {
        if entries.count >= Self.most { entries = entries.filter { now < $0.value.at + Self.lifetime } }
        if entries.count < Self.most { entries[call] = Entry(at: now, legs: legs) }
    }
}

extension RecordsAPI {
    struct Statistics: Encodable {
        var call: String
        var legs: [LegStatisticsBody]
    }

    func tellStatistics(_ ask: HTTPAsk, _ responder: HTTPResponder) throws(Problem) -> HTTPReply? {
        let id = try api.uuid("id", in: ask), call = CallUUID(id), grant = ask.grant
        if let state = api.hub.view.calls[call], !grant.covers(state.line) { throw .notFound("there is no call \(id)") }
        if let legs = statistics.legs(of: call, at: ask.now) { return Self.reply(call, legs, grant) }
        guard let archive = journal else { throw .noJournal }
        guard jobs.hasRoom else { throw .busy }
        let later = api.park(responder), isKnown = api.hub.view.calls[call] != nil, post = api.post, gateway = api.gateway
        // All legs, whoever asks: what is kept serves everybody, and each is shown those of its lines.
        jobs.perform {
            switch Self.story(of: call, isKnown: isKnown, nil, archive) {
            case .failure(let problem): later { responder, now in responder.reply(problem.reply, at: now) }
            case .success(let story):
                let legs = story.record.legs.map(LegStatisticsBody.init), up = legs.filter(\.isUp).compactMap { UUID(uuidString: $0.call) }
                let finish: @Sendable ([UUID: MediaStatistics]) -> Void = { figures in
                    let whole = legs.map { $0.adding(UUID(uuidString: $0.call).flatMap { figures[$0] }) }
                    post { api, now in api.records.statistics.keep(whole, of: call, at: now) }
                    later { responder, now in responder.reply(Self.reply(call, whole, grant), at: now) }
                }
                guard let gateway, !up.isEmpty else { return finish([:]) }
                gateway.mediaStatistics(of: up, then: finish)
            }
        }
        return nil
    }

    /// A token for some lines sees their legs.
    private static func reply(_ call: CallUUID, _ legs: [LegStatisticsBody], _ grant: AccessGrant) -> HTTPReply {
        guard legs.contains(where: { $0.call == call.description && grant.covers(Text($0.line)) }) else {
            return Problem.notFound("there is no call \(call)").reply
        }
        return JSONBody.reply(.ok, Statistics(call: call.description, legs: legs.filter { grant.covers(Text($0.line)) }))
    }
}

extension LegStatisticsBody {
    init(_ leg: LegRecord) {
        let sound = leg.sound
        (call, line, direction, isUp) = (leg.call.description, leg.line.description, leg.direction?.rawValue, !leg.isOver)
        (codec, recording) = (leg.codec?.description, leg.recording != nil)
        (transport, remote, callID) = (leg.transport?.description, leg.remote?.description, leg.callID?.description)
        roundTrip = sound.roundTrip.map { Double($0) / 1_000 }
        guard sound.wasRunning else { return }
        incoming = Stream(packets: sound.received, sound.incomingQuality, sound.incoming?.rawValue)
        outgoing = Stream(packets: sound.sent, sound.outgoingQuality, sound.outgoing?.rawValue)
    }

    /// With what the media engine has counted until now.
    func adding(_ figures: MediaStatistics?) -> Self {
        guard let figures else { return self }
        var leg = self
        let quality = LegQuality(figures)
        leg.roundTrip = quality.roundTrip.map { Double($0) / 1_000 }
        leg.incoming = Stream(packets: figures.receiving.packets, quality.receiving, figures.incoming?.sound.rawValue)
        leg.outgoing = Stream(packets: figures.sending.packets, quality.sending, figures.outgoing?.sound.rawValue)
        return leg
    }
}

extension LegStatisticsBody.Stream {
    fileprivate init(packets: Int64, _ quality: LegSound.Quality, _ heard: String?) {
        self.init(packets: packets, lost: quality.lost, expected: quality.expected, heard: heard)
        (lossPercent, jitter) = (quality.loss.map { Double($0) / 100 }, quality.jitter.map { Double($0) / 1_000 })
        mos = quality.mos.map { Double($0) / 100 }
    }

    fileprivate init(packets: UInt64, _ quality: LegQuality.Direction, _ heard: String?) {
        self.init(packets: Int64(packets), lost: quality.lost.map { Int64($0) }, expected: quality.expected.map { Int64($0) }, heard: heard)
        (lossPercent, jitter) = (quality.loss.map { Double($0) / 100 }, quality.jitter.map { Double($0) / 1_000 })
        mos = quality.score.map { Double($0) / 100 }
    }
}
