import CallKit
import Foundation
import Media
import Primitives
import Runtime
import SIP
import UserAgent

extension Gateway {
    /// Requests a transaction of a line's system, as its controller does. Its actions are performed, or wait for the network, when this
    /// returns: what becomes of each is in the journal (`action.fulfilled`, `action.failed`, `action.timeout`).
    ///
    /// - Returns: the transaction, accepted.
    public func request(_ order: TransactionOrder, at now: Instant) throws(TransactionOrderError) -> TransactionReceipt {
        enter(now)
        defer { settle() }
        return try Transactions(table, ringing.originations).request(order, isDraining: isDraining)
    }

    /// The configured lines, in their order.
    func lineSummaries(at now: Instant) -> [LineSummary] {
        enter(now)
        return lines.filter { $0.configuration.number != LineServices.serviceLine.number }.map { line in
            let number = line.configuration.number
            return LineSummary(
                number: number, name: line.configuration.name, kind: .init(line.configuration.endpoint),
                isDoNotDisturbOn: line.features.isDoNotDisturbOn,
                devices: registrar.contacts(of: number, at: now).map { contact in
                    LineSummary.Device(
                        contact: contact.uri.text, agent: contact.userAgent, expires: Int((contact.expiry - now).wholeMilliseconds / 1_000))
                }, blocked: line.features.blocked.sorted())
        }
    }

    /// The trunks, in the order of their lines.
    func trunkSummaries(at now: Instant) -> [TrunkSummary] {
        trunks.all.map { trunk in
            let line = table.lines.line(numbered: trunk.line)?.configuration
            return TrunkSummary(
                line: trunk.line, name: line?.name, registration: trunk.registrationState,
                registrationStatus: trunk.registrationStatus,
                servers: trunk.pool.members.map { member in
                    .init(
                        name: member.name, address: member.server.address, transport: member.server.transport,
                        isDown: trunk.pool.isDown(member, at: now))
                }, isWatched: trunk.configuration.health != nil, isHeld: trunk.isHeld, node: trunk.lease.map { Text($0.node) },
                calls: table.legs.values.count { $0.trunk === trunk && $0.state == .connected }, maximumCalls: line?.maximumCalls ?? 0)
        }
    }

    /// The queues, in the order of their lines.
    func queueSummaries(at now: Instant) -> [QueueSummary] {
        enter(now)
        return applications.queues.summaries()
    }

    /// The mailboxes, in the order of their lines.
    func mailboxSummaries(at now: Instant) -> [MailboxSummary] {
        enter(now)
        return recorder.mailboxes.summaries()
    }

    /// Marks a message as heard, or as new. False when there is none of this name.
    func setHeard(_ isHeard: Bool, message id: UUID, ofLine number: Text, at now: Instant) -> Bool {
        enter(now)
        return recorder.mailboxes.setHeard(isHeard, id, ofLine: number)
    }

    /// Removes a message with its file. False when there is none of this name.
    func removeMessage(_ id: UUID, ofLine number: Text, at now: Instant) -> Bool {
        enter(now)
        return recorder.mailboxes.remove(id, ofLine: number)
    }

    /// The media of calls that are up, until now.
    func mediaStatistics(of calls: [UUID], at now: Instant) -> [UUID: MediaStatistics] {
        var found: [UUID: MediaStatistics] = [:]
        for call in calls {
            guard let leg = table.leg(call), let statistics = try? leg.media.statistics(at: now) else { continue }
            found[call] = statistics
        }
        return found
    }

    /// Takes the registration of a device away. False where there is none with this Contact.
    func unregister(_ contact: Text, ofLine number: Text, at now: Instant) -> Bool {
        enter(now)
        defer { settle() }
        guard let found = registrar.contacts(of: number, at: now).first(where: { $0.uri.text == contact }) else { return false }
        registrar.drop(found.uri, of: number, registered: now)
        log.expired(number, contacts: registrar.contacts(of: number, at: now).count)
        return true
    }

    /// Connects a call that is up with a program, or lets the program in that the call waits for.
    func attach(_ attachment: StreamAttachment, to call: UUID, at now: Instant) throws(StreamRefusal) -> UInt64 {
        enter(now)
        defer { settle() }
        return try applications.streams.attach(attachment, to: call)
    }

    /// False: the call has no stream.
    func detachStream(from call: UUID, at now: Instant) -> Bool {
        enter(now)
        defer { settle() }
        return applications.streams.detach(from: call)
    }

    func connect(_ connection: ReleasedConnection, toStream id: UInt64, at now: Instant) {
        enter(now)
        defer { settle() }
        applications.streams.connect(connection, to: id)
    }
}

// Any thread. Each returns at once; `then` is called on the signalling lane, and never once the server has stopped.
extension GatewayServer {
    /// As ``Gateway/request(_:at:)``.
    public func request(_ order: TransactionOrder, then: @escaping @Sendable (Result<TransactionReceipt, TransactionOrderError>) -> Void) {
        lane.post { host, now in
            do throws(TransactionOrderError) {
                then(.success(try host.endpoint.request(order, at: now)))
            } catch { then(.failure(error)) }
        }
    }

    /// The configured lines, in their order.
    public func lineSummaries(then: @escaping @Sendable ([LineSummary]) -> Void) {
        lane.post { host, now in then(host.endpoint.lineSummaries(at: now)) }
    }

    /// The calls of lines, the newest first; nothing of lines that there are not.
    public func recents(ofLines numbers: Set<Text>, then: @escaping @Sendable ([Text: [RecentCall]]) -> Void) {
        lane.post { host, _ in
            var recents: [Text: [RecentCall]] = [:]
            for number in numbers { recents[number] = host.endpoint.recents(ofLine: number) }
            then(recents)
        }
    }

    /// False when there is no such line.
    public func setDoNotDisturb(_ isOn: Bool, ofLine number: Text, then: @escaping @Sendable (Bool) -> Void) {
        lane.post { host, now in then(host.endpoint.setDoNotDisturb(isOn, ofLine: number, at: now)) }
    }

    /// False when there is no such line.
    public func setBlocked(_ isBlocked: Bool, caller: CXHandle, ofLine number: Text, then: @escaping @Sendable (Bool) -> Void) {
        lane.post { host, now in then(host.endpoint.setBlocked(isBlocked, caller: caller, ofLine: number, at: now)) }
    }

    /// Asks the far end of a call to call somebody else (REFER). False when there is no such call that is connected, or another transfer is
    /// under way.
    public func refer(_ call: UUID, to target: URI, then: @escaping @Sendable (Bool) -> Void) {
        lane.post { host, now in then(host.endpoint.refer(call, to: target, at: now)) }
    }

    /// Connects a call that is up with a program, or lets the program in that the call waits for. `then` is told the stream, whose
    /// connection is to follow where the program is at the control interface.
    public func attachStream(
        _ attachment: StreamAttachment, to call: UUID, then: @escaping @Sendable (Result<UInt64, StreamRefusal>) -> Void
    ) {
        lane.post { host, now in
            do throws(StreamRefusal) {
                then(.success(try host.endpoint.attach(attachment, to: call, at: now)))
            } catch { then(.failure(error)) }
        }
    }

    /// The connection of a program; it closes where the stream is over.
    public func connect(_ connection: ReleasedConnection, toStream id: UInt64) {
        lane.post { host, now in host.endpoint.connect(connection, toStream: id, at: now) }
    }

    /// Ends the stream of a call. False where it has none.
    public func detachStream(from call: UUID, then: @escaping @Sendable (Bool) -> Void) {
        lane.post { host, now in then(host.endpoint.detachStream(from: call, at: now)) }
    }
}
