import Foundation
import Media
import Primitives
import RTP
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

    init(_ context: GatewayContext, _ table: CallTable, _ router: Router, _ dialling: Dialling, _ plane: (any StreamPlane)?) {
        (self.context, self.table, self.router, self.dialling, self.plane) = (context, table, router, dialling, plane)
    }

    /// The call is answered: its program is called.
    func open(_ leg: Leg) {
        guard leg.state == .connected, leg.sound.stream == nil, let application = leg.application as? StreamApplication else { return }
        guard let plane else { return fallBack(leg, .unreachable) }
        last += 1
        legs[last] = leg.uuid
        let order = StreamOrder(
            settings: application.settings, call: StreamCall(leg), port: application.port, answered: context.now)
        leg.sound.stream = LegStream(order, as: last, over: plane, leg.scribe, at: context.now)
        leg.updateStream()
    }

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
            fallBack(leg, end)
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
