import CallJournal
import Dispatch
import Foundation
import Primitives
import Runtime
import Synchronization

/// A notice for a person about a webhook. None repeats while a state lasts.
public enum WebhookNotice: Sendable {
    /// An event was not taken, after others that were.
    case failing(webhook: String, error: String)
    case recovered(webhook: String)
    /// The first event that is given up since one was taken.
    case givenUp(webhook: String, event: EventPosition)
    /// Events of the journal are missing for it.
    case gap(webhook: String, EventPosition)
    /// The receiver answered 410.
    case gone(webhook: String)
    /// The journal or the file of its position cannot be used.
    case stuck(webhook: String, JournalFileError)
}

/// Sends one webhook's events: from the journal, by the schedule, over the client. Lives on a lane of its own, which waits for the disk.
final class WebhookSender: LaneResident {
    /// The pause between two looks at a journal that has nothing new.
    private static let pollPause = Duration.milliseconds(100), retryPause = Duration.seconds(1), savePause = Duration.seconds(1)
    /// Pieces of the journal in one turn.
    private static let piecesATurn = 4

    private var settings: WebhookSettings
    private let reader: WebhookReader
    private let file: WebhookPositionFile
    private let client: any WebhookClient
    private let notice: @Sendable (WebhookNotice) -> Void
    private let shown: WebhookStatusBoard
    private var status: WebhookStatus
    private var schedule = WebhookSchedule()
    /// Events that were read and are not taken.
    private var pending: [EventPosition: WebhookPosition.Pending] = [:]
    private var nextRead: Instant? = .zero
    private var nextSave: Instant?
    private var saved: WebhookPosition?
    private var hasGivenUp = false
    /// When this began: seconds since 1970.
    private let begun = Date().timeIntervalSince1970
    /// Posts the answer of an event to the lane.
    private let answer: @Sendable (EventPosition, WebhookAnswer) -> Void

    init(
        _ settings: WebhookSettings, journal: String, folder: String, client: any WebhookClient, shown: WebhookStatusBoard,
        notice: @escaping @Sendable (WebhookNotice) -> Void, on lane: Lane<WebhookSender>
    ) {
        (self.settings, self.client, self.notice, self.shown) = (settings, client, notice, shown)
        file = WebhookPositionFile(folder: folder, name: settings.name)
        saved = file.read()
        reader = WebhookReader(journal: journal, after: saved, settings.filter)
        status = WebhookStatus(settings)
        answer = { [weak lane] position, answer in lane?.post { sender, now in sender.finish(position, answer, at: now) } }
        if saved == nil, file.isThere { stick(JournalFileError(operation: "read", path: file.path, code: EINVAL)) }
        for gap in saved?.pending ?? [] { restore(gap) }
        save()
        shown.set(status)
    }

    var deadline: Instant? { [nextRead, nextSave, schedule.deadline].compactMap(\.self).min() }

    func advance(to now: Instant) { work(at: now) }

    private func work(at now: Instant) {
        if let due = nextRead, due <= now { read(at: now) }
        send(at: now)
        if let due = nextSave, due <= now { save() }
        status.waiting = pending.count
        shown.set(status)
    }

    // MARK: Reading

    private func read(at now: Instant) {
        do throws(JournalFileError) {
            var hasMore = true
            for _ in 0..<Self.piecesATurn where hasMore && schedule.hasRoom { hasMore = try reader.read { take($0, at: now) } }
            nextRead = schedule.hasRoom ? (hasMore ? now : now + Self.pollPause) : nil
            if status.state == .stuck { status.state = .delivering }
        } catch {
            stick(error)
            nextRead = now + Self.retryPause
        }
        changed(at: now)
    }

    private func take(_ event: WebhookReader.Event, at now: Instant) {
        let end = event.end ?? Int64(max(begun, Double(event.wall) / 1e9)) + Self.patience
        pending[event.position] = WebhookPosition.Pending(
            id: event.position.description, wall: event.wall, prev: event.previous?.description, end: end,
            json: event.isGap ? String(decoding: event.json, as: UTF8.self) : nil)
        if event.isGap {
            status.gapCount += 1
            notice(.gap(webhook: settings.name, event.position))
        }
        add(event.position, event.subject, event.json, end: end, at: now)
    }

    private static let patience = WebhookSchedule.Limits().patience.wholeMilliseconds / 1_000

    private func add(_ position: EventPosition, _ subject: WebhookSchedule.Subject, _ json: [UInt8], end: Int64, at now: Instant) {
        let left = Double(end) - Date().timeIntervalSince1970
        schedule.add(.init(position: position, subject: subject, json: json, end: now + .milliseconds(Int64(max(0, left) * 1_000))))
    }

    /// A gap of before, which was not told yet.
    private func restore(_ gap: WebhookPosition.Pending) {
        guard let json = gap.json, let position = EventPosition(gap.id) else { return }
        pending[position] = gap
        add(position, .line(.empty), Array(json.utf8), end: gap.end, at: MonotonicClock.now)
    }

    // MARK: Sending

    private func send(at now: Instant) {
        while let item = schedule.next(at: now) {
            let request = WebhookRequest(
                settings, id: item.position.description, content: item.json, timestamp: Int64(Date().timeIntervalSince1970))
            client.post(request) { [answer] in answer(item.position, $0) }
        }
    }

    private func finish(_ position: EventPosition, _ answer: WebhookAnswer, at now: Instant) {
        let isGivenUp = schedule.finish(position, answer.outcome(at: Date()), at: now, jitter: .random(in: 0...1))
        if let failure = answer.failure { fail(failure) } else { succeed(position) }
        if isGivenUp { giveUp(position) }
        if answer.failure == nil || isGivenUp { pending[position] = nil }
        if nextRead == nil, schedule.hasRoom { nextRead = now }
        changed(at: now)
        work(at: now)
    }

    private func succeed(_ position: EventPosition) {
        if status.state == .retrying { notice(.recovered(webhook: settings.name)) }
        (status.state, status.error, status.delivered, hasGivenUp) = (.delivering, nil, position, false)
        status.deliveredCount += 1
    }

    private func fail(_ failure: (cause: WebhookStatus.Cause, text: String)) {
        status.failures[failure.cause, default: 0] += 1
        status.error = failure.text
        if schedule.isGone {
            if status.state != .gone { notice(.gone(webhook: settings.name)) }
            status.state = .gone
        } else {
            if status.state == .delivering { notice(.failing(webhook: settings.name, error: failure.text)) }
            status.state = .retrying
        }
    }

    private func giveUp(_ position: EventPosition) {
        status.givenUpCount += 1
        if !hasGivenUp { notice(.givenUp(webhook: settings.name, event: position)) }
        hasGivenUp = true
    }

    // MARK: The position

    private func changed(at now: Instant) { if nextSave == nil { nextSave = now + Self.savePause } }

    /// Writes where it is, where that has changed.
    private func save() {
        nextSave = nil
        status.oldest = pending.values.lazy.map(\.wall).min()
        // The event that is looked for still stands in the file of before.
        guard !reader.isSearching, let position = reader.position(Array(pending.values)), position != saved else { return }
        do throws(JournalFileError) {
            try file.write(position)
            saved = position
        } catch {
            stick(error)
            nextSave = MonotonicClock.now + Self.retryPause
        }
    }

    private func stick(_ error: JournalFileError) {
        if status.state != .stuck { notice(.stuck(webhook: settings.name, error)) }
        (status.state, status.error) = (.stuck, error.description)
    }

    // MARK: Changes

    /// Goes on with other settings; a receiver that was gone is asked again.
    func use(_ settings: WebhookSettings, at now: Instant) {
        self.settings = settings
        (reader.filter, status.url, status.lines) = (settings.filter, settings.shownURL, settings.lines)
        if status.state == .gone { status.state = .retrying }
        schedule.begin(at: now)
        nextRead = now
        work(at: now)
    }

    /// All that can be told now is told: the journal is read to its end, and nothing is on its way.
    func isDone(at now: Instant) -> Bool {
        if nextRead != nil { nextRead = now }
        work(at: now)
        return !schedule.isBusy && nextRead != now
    }

    func end() { save() }

    /// A request of its own, signed as the others are.
    func ping(at now: Instant, then: @escaping @Sendable (WebhookAnswer) -> Void) {
        let wall = Date().timeIntervalSince1970
        let id = EventPosition(run: "ping", sequence: UInt64(wall * 1_000))
        let json = WebhookEvent.json(id, "webhook.ping", nil, UInt64(wall * 1e9)) { $0.member("webhook", settings.name) }
        client.post(WebhookRequest(settings, id: id.description, content: json, timestamp: Int64(wall)), then: then)
    }
}

extension WebhookSettings {
    fileprivate var filter: EventFilter { EventFilter(types: types, lines: lines) }
}

/// The states of webhooks, for other threads.
final class WebhookStatusBoard: Sendable {
    private let state = Mutex<[String: WebhookStatus]>([:])

    func set(_ status: WebhookStatus) { state.withLock { $0[status.name] = status } }
    func remove(_ name: String) { state.withLock { $0[name] = nil } }
    var all: [WebhookStatus] { state.withLock { $0.values.sorted { $0.name < $1.name } } }
}
