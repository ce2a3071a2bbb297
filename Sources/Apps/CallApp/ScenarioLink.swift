import CallJournal
import Calls
import Foundation
import Primitives
import Runtime
import Synchronization
import UserAgent

/// The connection of an app's line to `hookswitch app`, which has started the app. The line registers with the scripted far end there, and
/// its journal goes there too.
final class ScenarioLink: JournalSink {
    private struct State {
        /// UUIDs of calls in the journal, by the app's own.
        var names: [UUID: UUID] = [:]
        /// The payload of the push that comes with the next INVITE.
        var push: String?
    }

    private static let isTaken = Mutex(false)
    private let socket: LineSocket
    private let state = Mutex(State())

    /// nil where nobody has started the app so. The first line of the process has the connection.
    static func open() throws(LiveAppError) -> ScenarioLink? {
        guard let path = ProcessInfo.processInfo.environment[AppLink.variable], !path.isEmpty else { return nil }
        let isFirst = isTaken.withLock { isTaken in
            defer { isTaken = true }
            return !isTaken
        }
        guard isFirst else { return nil }
        do throws(SocketError) { return ScenarioLink(try LineSocket(connecting: path)) } catch { throw .socket(error) }
    }

    private init(_ socket: LineSocket) { self.socket = socket }

    /// The settings with the server and the ports of the scenario. Waits for the first order.
    func settings(_ settings: LiveAppSettings) throws(LiveAppError) -> LiveAppSettings {
        guard let line = socket.readLine(), case .setUp(let number, let server, let lowest, let highest) = AppLink.order(line) else {
            throw .noScenario
        }
        guard let address = SocketAddress(server, defaultPort: 5060), lowest < highest else { throw .noAddress(server) }
        var settings = settings
        (settings.number, settings.server, settings.transport, settings.domain) = (Text(number), address, .udp, nil)
        settings.mediaPorts = lowest...highest
        return settings
    }

    func accept(_ lines: [UInt8]) { socket.write(lines) }

    func tell(_ kind: AppLink.Note.Kind, _ text: String = "", call: UUID? = nil, at time: Instant = MonotonicClock.now) {
        let call = call.map { call in state.withLock { $0.names[call] ?? call } }
        socket.write(AppLink.line(.init(kind, text, call: call, time: time.nanoseconds)))
    }

    func expectPush(_ payload: String) {
        state.withLock { $0.push = payload }
        tell(.expectsPush)
    }

    /// - Returns: the push that wakes the app for a call.
    func heard(_ event: AppLineEvent) -> String? {
        switch event {
        case .incoming: return state.withLock { $0.push.take() }
        case .adopted(let first, let own): state.withLock { $0.names[own] = first }
        case .firstSent(let call, let time): tell(.sendsSound, call: call, at: time)
        case .firstReceived(let call, let time): tell(.hearsSound, call: call, at: time)
        default: break
        }
        return nil
    }

    /// Passes on each order, on the main queue; ends the process where the command goes.
    func begin(_ each: @escaping @Sendable (AppLink.Order?) -> Void) {
        Thread.detachNewThread { [socket] in
            socket.read { line in
                let order = AppLink.order(line)
                DispatchQueue.main.async { each(order) }
            }
            exit(3)
        }
    }
}

/// Hands a journal to two places.
final class JournalSinks: JournalSink {
    private let sinks: [any JournalSink]
    init(_ sinks: [any JournalSink]) { self.sinks = sinks }
    func accept(_ lines: [UInt8]) { for sink in sinks { sink.accept(lines) } }
    func accept(_ lines: [UInt8], through mark: JournalMark) { for sink in sinks { sink.accept(lines, through: mark) } }
}
