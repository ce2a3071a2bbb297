import Foundation
import Media
import Primitives
import RTP
import Runtime
import SIP
import Streaming
import UserAgent

/// Decides what becomes of the streams of calls: they open after the answer and close before the end, and a program's wishes are done.
///
/// Lives on the signalling lane.
final class CallStreams {
    private let context: GatewayContext
    private let table: CallTable
    private let router: Router
    private let dialling: Dialling
    /// nil: there are no streams.
    private let plane: (any StreamPlane)?
    private var legs: [UInt64: UUID] = [:]
    private var last: UInt64 = 0
    private let tally = StreamTally()

    init(_ context: GatewayContext, _ table: CallTable, _ router: Router, _ dialling: Dialling, _ plane: (any StreamPlane)?) {
        (self.context, self.table, self.router, self.dialling, self.plane) = (context, table, router, dialling, plane)
    }

    var totals: StreamTotals { tally.totals }

    /// The call is answered: its program is called.
    func open(_ leg: Leg) {
        guard leg.state == .connected, leg.sound.stream == nil, let application = leg.application as? StreamApplication else { return }
        guard let plane else { return fallBack(leg, .unreachable) }
        begin(
            StreamOrder(settings: application.settings, call: StreamCall(leg), port: application.port, answered: context.now), of: leg,
            over: plane)
    }

    @discardableResult
    private func begin(_ order: StreamOrder, of leg: Leg, over plane: any StreamPlane) -> UInt64 {
        last += 1
        legs[last] = leg.uuid
        leg.sound.stream = LegStream(order, as: last, over: plane, leg.scribe, tally, at: context.now)
        leg.updateStream()
        leg.context.leg(leg, did: .dialogMoved)
        return last
    }

    /// Connects a call that is up with a program, or lets the program in that the call waits for.
    ///
    /// - Returns: the stream, whose connection follows where the program is at the control interface.
    func attach(_ attachment: StreamAttachment, to call: UUID) throws(StreamRefusal) -> UInt64 {
        guard let plane, let leg = table.leg(call), leg.state == .connected, leg.call.agreed != nil else { throw .noCall }
        if let stream = leg.sound.stream, !stream.isOver {
            guard attachment.place == nil, attachment.tap == nil, let application = leg.application as? StreamApplication else {
                throw .hasStream
            }
            guard attachment.format.map({ $0 == application.settings.format }) ?? true else { throw .otherFormat }
            guard stream.claim() else { throw .hasStream }
            return stream.id
        }
        let settings = StreamSettings(place: attachment.place, format: attachment.format ?? .twilio, headers: attachment.headers)
        guard let tap = attachment.tap else { return try give(leg, to: settings, over: plane) }
        guard leg.line.configuration.mayBeTapped else { throw .mayNotBeTapped }
        let port = StreamPort(sampleRate: settings.format.encoding.sampleRate, hearsBoth: tap != .in)
        let order = StreamOrder(settings: settings, call: StreamCall(leg), tap: tap, port: port, answered: context.now)
        return claimed(begin(order, of: leg, over: plane), leg)
    }

    /// The program takes the place of the line's application.
    private func give(_ leg: Leg, to settings: StreamSettings, over plane: any StreamPlane) throws(StreamRefusal) -> UInt64 {
        guard leg.bridge == nil, leg.application != nil, !(leg.application is QueueApplication) else { throw .isNotAlone }
        let application = StreamApplication(settings)
        context.timers.arm(.application, of: leg, after: nil)
        leg.application = application
        let order = StreamOrder(settings: settings, call: StreamCall(leg), port: application.port, answered: context.now)
        return claimed(begin(order, of: leg, over: plane), leg)
    }

    /// The connection of who asked follows: nobody else is let in.
    private func claimed(_ id: UInt64, _ leg: Leg) -> UInt64 {
        _ = leg.sound.stream?.claim()
        return id
    }

    /// The connection of a program that was attached.
    func connect(_ connection: ReleasedConnection, to id: UInt64) {
        guard let stream = legs[id].flatMap(table.leg)?.sound.stream, stream.id == id, !stream.isOver else {
            return connection.connection.close()
        }
        stream.connect(over: connection)
    }

    /// Ends the stream of a call: one that listened leaves the call as it is. False: it has none.
    func detach(from call: UUID) -> Bool {
        guard let leg = table.leg(call), let stream = leg.sound.stream, !stream.isOver else { return false }
        stream.close(.detached, at: context.now)
        legs[stream.id] = nil
        left(leg, stream, .detached)
        return true
    }

    /// Its program is gone: a call that it spoke in goes another way, and one that it listened to goes on.
    private func left(_ leg: Leg, _ stream: LegStream, _ end: StreamEnd) { stream.isTap ? leg.renewPlan() : fallBack(leg, end) }

    func heard(_ digit: DTMFDigit, by leg: Leg) { leg.sound.stream?.press(digit.character) }

    func receive(_ event: StreamEvent, of id: UInt64) {
        guard let leg = legs[id].flatMap(table.leg), leg.state == .connected, let stream = leg.sound.stream, stream.id == id else {
            return legs[id] = nil
        }
        switch event {
        case .digits(let digits): _ = leg.performKeys(digits)
        case .transfer(let number):
            stream.close(.transferred, at: context.now)
            handOn(leg, to: Text(number))
        case .ended(let end, let counts):
            stream.ended(end, counts, at: context.now)
            left(leg, stream, end)
        }
        if stream.isOver { legs[id] = nil }
    }

    /// The program is not there any more, or wants the end.
    private func fallBack(_ leg: Leg, _ end: StreamEnd) {
        guard end.isFailure, let application = leg.application as? StreamApplication else { return leg.requestEnd(.normalClearing) }
        switch application.settings.fallback {
        case .hangUp: leg.requestEnd(.failed)
        case .announcement(let sound):
            leg.application = PlaybackApplication(sound, loops: false)
            leg.renewPlan()
        case .transfer(let number): handOn(leg, to: number)
        }
    }

    /// The call goes on with this number, as if its caller had dialled it. It ends where nobody has the number, or nobody takes the call.
    private func handOn(_ leg: Leg, to number: Text) {
        let own = context.configuration.domain
        guard leg.bridge == nil, let line = table.lines.line(for: number, host: own), table.hasRoom,
            let target = router.toOurselves(number, at: line.configuration.domain ?? own, from: leg.party)
        else { return leg.requestEnd(.subscriberAbsent) }
        leg.application = nil
        leg.bridge = leg.uuid
        table.open(Bridge(caller: leg.uuid))
        leg.renewPlan()
        dialling.call(target, for: leg)
        table.tell(leg.bridge, .dialled)
    }
}

extension StreamCall {
    /// A call as a program is told of it. Of the INVITE it hears fields `X-…` alone: at most 32, and 4,000 bytes.
    fileprivate init(_ leg: Leg) {
        var room = 4_000
        let fields = leg.session?.request.headers.fields(atMost: 32) { $0.hasPrefix("x-") } ?? []
        let headers = fields.compactMap { name, value -> StreamHeader? in
            room -= value.count
            return room < 0 ? nil : StreamHeader("\(name.text)", "\(value.printable)")
        }
        let caller = leg.party.isPrivate ? "" : leg.party.user?.description ?? ""
        let dialled = leg.origin.flatMap { $0.dialled.isEmpty ? nil : $0.dialled } ?? leg.line.configuration.number
        self.init(call: leg.uuid.uuidString, caller: caller, called: dialled.description, headers: headers)
    }
}
