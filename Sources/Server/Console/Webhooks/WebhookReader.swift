import CallJournal
import Foundation
import Primitives

/// Reads the events of one webhook's stream from the journal's files, from a position on and over rotations.
///
/// A position lacks the earlier events of calls that were up: they are read again, and handed over only where the position names them.
/// Confined to the lane of its webhook; blocks for the disk.
final class WebhookReader {
    /// An event of the stream.
    struct Event {
        let position: EventPosition
        let subject: WebhookSchedule.Subject
        let json: [UInt8]
        /// When it happened: nanoseconds since 1970.
        let wall: UInt64
        /// The event before it in the stream.
        let previous: EventPosition?
        /// When it is given up, where that is known from before: seconds since 1970.
        var end: Int64?
        /// It tells that events of the journal are missing.
        var isGap = false
    }

    /// A number of the journal and its time: the name of an event where the run is not known.
    private struct Key: Hashable { let sequence: UInt64, wall: UInt64 }

    private enum Search {
        /// The event that was read last is looked for, from a hint or from the oldest file on.
        case last(isFromOldest: Bool)
        /// It is not there any more: what happened later is new.
        case later
    }

    /// Journal bytes of which a new webhook has read what was up.
    private static let tailLength = 8 << 20
    private static let marksApart = 65_536, mostMarks = 4_096

    private let path: String
    private var follower: JournalFollower?
    private var runs = JournalRuns()
    private var view = CallsView()
    /// When the calls began that are up.
    private var open: [CallUUID: UInt64] = [:]
    /// The last event of the journal that was read.
    private var last: (position: EventPosition, wall: UInt64)?
    private var previous: EventPosition?
    private var search: Search?
    /// Events were lost behind the last one, or some that are wanted are not there: the next event is told of together with that.
    private var isGapDue = false
    /// Runs that were read.
    private var seen: Set<String> = []
    /// Events before the last one that are wanted once more.
    private var wanted: [Key: WebhookPosition.Pending] = [:]
    /// Places where reading could begin again, by the time of their first event.
    private var marks: [(wall: UInt64, file: UInt64, offset: Int)] = []
    var filter: EventFilter

    /// - Parameter position: nil: behind what stands in the journal now.
    init(journal path: String, after position: WebhookPosition?, _ filter: EventFilter) {
        (self.path, self.filter) = (path, filter)
        guard let position = position ?? Self.end(of: path), let after = EventPosition(position.after) else { return }
        last = (after, position.wall)
        previous = position.prev.flatMap { EventPosition($0) }
        for pending in position.pending where pending.json == nil {
            guard let id = EventPosition(pending.id) else { continue }
            wanted[Key(sequence: id.sequence, wall: pending.wall)] = pending
        }
        search = .last(isFromOldest: false)
        follower = Self.follower(path, position)
        if follower == nil { search = .last(isFromOldest: true) }
    }

    private static func end(of path: String) -> WebhookPosition? {
        var runs = JournalRuns()
        let tail = JournalReader.tail(of: path, bytes: tailLength)
        if let start = tail.start { runs.note(start) }
        for event in tail.events { runs.note(event) }
        guard let last = tail.events.last, let first = tail.events.first else { return nil }
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return WebhookPosition(
            after: runs.current.position(last.sequence), wall: last.wall, from: first.wall, file: UInt64(status.st_ino),
            offset: JournalReader.lineStart(in: path, before: max(0, Int(status.st_size) - tailLength)))
    }

    /// At the hint of a position; nil where the file is not there any more.
    private static func follower(_ path: String, _ position: WebhookPosition) -> JournalFollower? {
        guard let file = position.file, let offset = position.offset else { return nil }
        for name in files(of: path) {
            var status = stat()
            guard stat(name, &status) == 0, UInt64(status.st_ino) == file, Int(status.st_size) >= offset else { continue }
            return try? JournalFollower(path: path, from: name, offset: offset)
        }
        return nil
    }

    /// The youngest first.
    private static func files(of path: String) -> [String] {
        [path] + (1...).lazy.map { "\(path).\($0)" }.prefix { access($0, F_OK) == 0 }
    }

    /// Hands over the events of the next piece of the journal. False at its end.
    func read(_ take: (Event) -> Void) throws(JournalFileError) -> Bool {
        if follower == nil {
            guard let oldest = Self.files(of: path).last(where: { access($0, F_OK) == 0 }) else { return false }
            (runs, view, open, marks) = (JournalRuns(), CallsView(), [:], [])
            follower = try JournalFollower(path: path, from: oldest, offset: 0)
        }
        let place = follower?.place
        var first: UInt64?
        let hasMore = try follower?.pollPiece { event in
            if first == nil { first = event.wall }
            note(event, take)
        }
        if let place, let first { mark(first, place) }
        if hasMore == false, let search {
            widen(search)
            return self.search != nil
        }
        return hasMore ?? false
    }

    /// The last event was not found: from the oldest file on, and then without it.
    private func widen(_ search: Search) {
        switch search {
        case .last(false): self.search = .last(isFromOldest: true)
        case .last(true): (self.search, isGapDue) = (.later, true)
        case .later: return self.search = nil
        }
        follower = nil
    }

    private func mark(_ wall: UInt64, _ place: (file: UInt64, offset: Int)) {
        if let last = marks.last, last.file == place.file, place.offset - last.offset < Self.marksApart { return }
        marks.append((wall, place.file, place.offset))
        if marks.count > Self.mostMarks { marks = marks.enumerated().filter { $0.offset % 2 == 0 }.map(\.element) }
    }

    // MARK: Events

    private func note(_ event: JournalEvent, _ take: (Event) -> Void) {
        if search == nil, isReadAgain(event) { search = .last(isFromOldest: true) }
        runs.note(event)
        if event.kind == .gatewayStarted { seen.insert(runs.current.label) }
        let type = view.note(event)
        noteCall(event)
        if search != nil, !isNew(event) {
            if let type, let pending = wanted.removeValue(forKey: Key(sequence: event.sequence, wall: event.wall)) {
                take(again(event, type, pending))
            }
            if search == nil { isGapDue = !wanted.isEmpty }
            return
        }
        let position = EventPosition(run: runs.current.label, sequence: event.sequence)
        tellGap(before: event, position, take)
        (search, isGapDue, wanted) = (nil, false, [:])
        last = (position, event.wall)
        guard let type else { return }
        let told = publicEvent(event, type, run: position.run)
        guard filter.takes(told) else { return }
        take(make(told, event, previous))
        previous = position
    }

    /// A file that was cut short is read from its beginning again.
    private func isReadAgain(_ event: JournalEvent) -> Bool {
        guard let last, event.wall < last.wall || event.wall == last.wall && event.sequence <= last.position.sequence else { return false }
        guard event.kind == .gatewayStarted else { return event.sequence <= last.position.sequence }
        let run = event.details.text(.run)?.description ?? ""
        return run.hasPrefix(last.position.run) || seen.contains { run.hasPrefix($0) }
    }

    /// Whether it comes behind the last event that was read; ends the search for that one with itself.
    private func isNew(_ event: JournalEvent) -> Bool {
        guard let last else { return true }
        if event.sequence == last.position.sequence, event.wall == last.wall {
            // The run may have begun in a file that is not there.
            runs.note(JournalEvent(sequence: 1, time: .zero, kind: .gatewayStarted, details: [.run: .init(Text(last.position.run))]))
            runs.note(event)
            search = nil
            return false
        }
        guard case .later = search else { return false }
        return event.wall > last.wall
    }

    private func noteCall(_ event: JournalEvent) {
        if event.kind == .gatewayStarted { open = [:] }
        guard let call = event.call else { return }
        switch event.kind {
        case .reportIncoming, .performStart: open[call] = open[call] ?? event.wall
        case .reportIncomingRefused, .callEnded: open[call] = nil
        default: break
        }
    }

    private func publicEvent(_ event: JournalEvent, _ type: EventType, run: String) -> PublicEvent {
        var told = PublicEvent(event, type, run: run)
        if type == .callEnded, let call = event.call.flatMap({ view.calls[$0] }) { told.add(call) }
        return told
    }

    private func make(_ told: PublicEvent, _ event: JournalEvent, _ previous: EventPosition?) -> Event {
        Event(
            position: told.position, subject: event.call.map { .call($0) } ?? .line(told.line), json: told.encoded().json(after: previous),
            wall: event.wall, previous: previous)
    }

    private func again(_ event: JournalEvent, _ type: EventType, _ pending: WebhookPosition.Pending) -> Event {
        let run = EventPosition(pending.id)?.run ?? runs.current.label
        var made = make(publicEvent(event, type, run: run), event, pending.prev.flatMap { EventPosition($0) })
        made.end = pending.end
        return made
    }

    /// Events between the last one and this are missing: the journal could not write them, or its file is gone.
    private func tellGap(before event: JournalEvent, _ position: EventPosition, _ take: (Event) -> Void) {
        guard let last else { return }
        let follows = position.run == last.position.run && position.sequence == last.position.sequence + 1
        let isWhole = follows ? wanted.isEmpty : event.kind == .gatewayStarted && !isGapDue
        guard !isWhole || event.kind == .journalLost else { return }
        let id = EventPosition(run: position.run + "gap", sequence: position.sequence)
        take(
            Event(
                position: id, subject: .line(.empty), json: WebhookGap.json(id, last.position, position, previous, event.wall),
                wall: event.wall, previous: previous, isGap: true))
        previous = id
    }

    // MARK: Positions

    /// Its progress; nil before the first event.
    ///
    /// - Parameter pending: those that were handed over and are not taken yet.
    func position(_ pending: [WebhookPosition.Pending]) -> WebhookPosition? {
        guard let last else { return nil }
        let pending = pending + wanted.values
        var from = last.wall
        for wall in pending.lazy.filter({ $0.json == nil }).map(\.wall) { from = min(from, wall) }
        for wall in open.values { from = min(from, wall) }
        // Others of the same time may stand before it.
        if let index = marks.lastIndex(where: { $0.wall < from }), index > 0 { marks.removeFirst(index) }
        let mark = marks.first { $0.wall < from }
        return WebhookPosition(
            after: last.position.description, wall: last.wall, from: from, file: mark?.file, offset: mark?.offset,
            prev: previous?.description, pending: pending.sorted { ($0.wall, $0.id) < ($1.wall, $1.id) })
    }

    /// Events are looked for that were read before.
    var isSearching: Bool { search != nil }
}

/// The event that tells a webhook's receiver that others are missing.
enum WebhookGap {
    static let type = "webhook.gap"

    /// - Parameters:
    ///   - after: the last event of the journal before the gap.
    ///   - next: the first one behind it.
    static func json(
        _ id: EventPosition, _ after: EventPosition, _ next: EventPosition, _ previous: EventPosition?, _ wall: UInt64
    ) -> [UInt8] {
        WebhookEvent.json(id, type, previous, wall) { json in
            json.member("after", after.description)
            json.member("next", next.description)
        }
    }
}

/// A CloudEvent of a webhook's own, which is none of the journal's.
enum WebhookEvent {
    static func json(
        _ id: EventPosition, _ type: String, _ previous: EventPosition?, _ wall: UInt64, _ data: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { json in
            json.member("specversion", "1.0")
            json.member("id", id.description)
            json.member("source", "/hookswitch/webhooks")
            json.member("type", type)
            json.member("time", Timestamp(wall).description)
            json.member("prev", previous?.description)
            json.member("data") { json in json.object(data) }
        }
        return writer.bytes
    }
}
