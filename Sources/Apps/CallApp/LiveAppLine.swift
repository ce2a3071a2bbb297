import Audio
import CallJournal
import CallKit
import Calls
import Dispatch
import Foundation
import Media
import Primitives
import PushKit
import RTP
import Runtime
import SDP
import UserAgent

import struct CallJournal.WallClock

/// The settings of an app's line on this machine.
public struct LiveAppSettings: Sendable {
    /// The user part of its address of record.
    public var number: Text
    /// For challenges; nil gives up at the first one.
    public var password: Text?
    /// The address at which the server takes SIP.
    public var server: SocketAddress
    /// UDP or TCP; there is no certificate for TLS.
    public var transport = Transport.udp
    /// The domain of the address of record; nil: the server's address.
    public var domain: Text?
    /// The name that the called are shown.
    public var displayName: Text?
    /// In order of preference.
    public var codecs = Codec.usual
    /// The sound of the app's user: a tone, samples, `.echo` for what the other side says, `.silence` for nothing at all.
    public var microphone = MediaSource.tone(Tone(440))
    /// Whether sound begins by itself in `didActivate`: an app that never touches a media library hears and is heard. False where the app
    /// calls `startAudio`, and what it calls decides.
    public var startsAudio = true
    /// Each call takes two of them.
    public var mediaPorts: ClosedRange<UInt16> = 23_000...23_999
    /// nil: the journal is audited and not written.
    public var journalFile: String?
    /// Dials in the app, as its user does on its own screen. Called on the main queue, for `user dials` of a scenario (`hookswitch app`);
    /// nil: the telephone itself requests the CXStartCallAction, of which the app hears in `perform` first.
    public var dial: (@Sendable (String) -> Void)?
    /// Changes to the line's own settings.
    public var adjust: @Sendable (inout AppLineSettings) -> Void = { _ in }

    /// A line without a password, over UDP.
    public init(number: Text, server: SocketAddress) { (self.number, self.server) = (number, server) }

    /// Has the app's user say a file over and over: WAV, or Opus in Ogg.
    public mutating func play(file path: String) throws(LiveAppError) {
        guard let data = FileManager.default.contents(atPath: path) else { throw .microphone(path: path, nil) }
        do throws(SoundFileError) {
            let sound = try WAV(parsingSoundFile: Array(data))
            microphone = .samples(sound.samples, sampleRate: sound.sampleRate, loops: true)
        } catch { throw .microphone(path: path, error) }
    }

    /// As a person writes it: `1001`, its password, and an address as `127.0.0.1:5060` or `[::1]`.
    public init(number: String, password: String? = nil, server: String) throws(LiveAppError) {
        guard let address = SocketAddress(server, defaultPort: 5060), address.port != 0, !address.address.isAny else {
            throw .noAddress(server)
        }
        self.init(number: Text(number), server: address)
        self.password = password.map { Text($0) }
    }
}

/// Why a line could not be set up. The description is one sentence for a person.
public enum LiveAppError: Error, CustomStringConvertible {
    /// A server is named by its address.
    case noAddress(String)
    /// This machine has no way to the server.
    case noRoute(SocketAddress)
    /// The telephone activates the audio session of an outgoing call before there is anybody to hear.
    case audioTooEarly
    /// The SIP socket could not be bound.
    case socket(SocketError)
    /// The threads of media could not be begun.
    case media(PollerError)
    /// The file that the user is to say is no sound.
    case microphone(path: String, SoundFileError?)
    /// The journal's file cannot be used.
    case journal(path: String, JournalFileError)
    /// `HOOKSWITCH_APP` names a socket, and nobody there says which scenario it is.
    case noScenario

    public var description: String {
        switch self {
        case .noAddress(let text): "'\(text)' is no address of a server as 127.0.0.1:5060 or [::1]"
        case .noRoute(let server): "this machine has no way to \(server)"
        case .audioTooEarly:
            "the telephone is not a network's: say CallSystem.configureShared(.app) before anything else of CallKit is used"
        case .socket(let error): error.description
        case .media(let error): "media: \(error)"
        case .microphone(let path, let error): "the sound \(path): " + (error?.description ?? "it cannot be read")
        case .journal(let path, let error): "the journal \(path): \(error)"
        case .noScenario: "HOOKSWITCH_APP is set, and no 'hookswitch app' is there"
        }
    }
}

/// An app's line on real sockets. It lives on the main queue, as the app's calls do, so that what the network does and what the app does
/// have one order; media has a lane of its own. The main queue must be served, by `RunLoop.main.run()`:
/// `dispatchMain()` would do so on another thread than the main one, and no `Timer` would fire.
///
/// Safe from any thread: calls from elsewhere wait for the main queue.
public final class LiveAppLine: Sendable {
    private typealias Host = SignallingHost<AppLine>

    private let lane: Lane<Host>
    private let journalFile: JournalFile?
    /// The telephone that the app's CallKit belongs to.
    public let system: CallSystem
    /// The address at which it takes SIP.
    public let address: SocketAddress

    /// Binds its SIP socket, and registers. To be called on the main queue. In an app that `hookswitch app` has started the scenario says
    /// with whom.
    ///
    /// - Parameters:
    ///   - settings: the server, the line and the files.
    ///   - system: the telephone that the app's provider is registered with; its configuration is `.app`, or activates as that does.
    ///   - onEvent: called on the main queue, inside of the turn in which it happened.
    public init(_ settings: LiveAppSettings, system: CallSystem, onEvent: @escaping @Sendable (AppLineEvent) -> Void) throws(LiveAppError) {
        guard system.configuration.activation == .afterConnected else { throw .audioTooEarly }
        let link = try ScenarioLink.open(), settings = try link?.settings(settings) ?? settings
        guard let host = LocalAddresses.used(towards: settings.server.address) else { throw .noRoute(settings.server) }
        let file = try Self.openJournal(settings.journalFile)
        journalFile = file
        self.system = system
        lane = try Lane(on: .main) { lane, now throws(LiveAppError) in
            let media = try Self.media(settings, lane)
            let transports: Transports
            do throws(SocketError) {
                transports = try Transports(.init(listeners: [.init(settings.transport, SocketAddress(host, port: 0))]), on: lane)
            } catch { throw .socket(error) }
            return SignallingHost(transports: transports) { transports in
                let sinks = [file as (any JournalSink)?, link].compactMap(\.self)
                let line = Self.line(settings, host, transports, media, system, sinks.isEmpty ? nil : JournalSinks(sinks), at: now)
                line.onEvent = onEvent
                line.scribe.isHere = { MainQueue.isCurrent }
                line.scribe.comeSoon = { [weak lane] in lane?.post { host, now in host.endpoint.advance(to: now) } }
                return line
            }
        }
        address =
            lane.enter { host, _ in host.transports.listeners.first?.address ?? SocketAddress(.anyV4, port: 0) }
            ?? SocketAddress(.anyV4, port: 0)
        if let link { followScenario(link, settings, onEvent) }
        perform((), { line, now in line.register(at: now) })
    }

    private func followScenario(_ link: ScenarioLink, _ settings: LiveAppSettings, _ onEvent: @escaping @Sendable (AppLineEvent) -> Void) {
        let user = ScenarioUser(self, link, dial: settings.dial)
        perform(()) { line, _ in
            line.onEvent = { event in
                let push = link.heard(event)
                if let push, case .incoming(let call, let caller) = event {
                    user.push(push, ["call": call.uuidString, "caller": caller.handle, "name": caller.name ?? caller.handle])
                }
                onEvent(event)
            }
        }
        user.begin()
    }

    /// Does something with the line, on the main queue, and waits for it.
    @discardableResult
    func perform<Value: Sendable>(_ otherwise: Value, _ work: @Sendable (AppLine, Instant) -> Value) -> Value {
        if MainQueue.isCurrent { return lane.enter { host, now in work(host.endpoint, now) } ?? otherwise }
        return lane.sync { host, now in work(host.endpoint, now) } ?? otherwise
    }

    /// Counts of everything that is there; nil once the line is closed.
    public var counts: AppLine.Counts? { perform(nil) { line, now in line.counts(at: now) } }
    /// Steps that were asked for and that the contract forbade.
    public var refusals: Int { perform(0) { line, _ in line.refusals } }
    /// Whether the server knows where we are.
    public var isRegistered: Bool { perform(false) { line, _ in line.isRegistered } }

    /// The app could not be launched: calls that wait, and all to come, are answered 503.
    public func launchFailed() { perform(()) { line, now in line.launchFailed(at: now) } }

    /// The recents hear of every call from now on; nil: nobody does. They live on the main queue, as the line does.
    @MainActor public func fill(_ recents: AppRecents?) {
        nonisolated(unsafe) let recents = recents
        lane.enter { host, _ in host.endpoint.recents = recents }
    }

    /// Wakes the app as a push does, and writes down where it does not report a call for it; see `VoIPPush`.
    public func deliver(
        _ push: PKPushPayload, mustReport: Bool = true, limit: Duration = .seconds(7),
        completion: @escaping @Sendable (VoIPPush.Outcome) -> Void
    ) {
        VoIPPush.deliver(push, system: system, mustReport: mustReport, limit: limit) { outcome in
            if outcome == .unreported { self.perform(()) { line, now in line.pushUnreported(at: now) } }
            completion(outcome)
        }
    }

    /// Takes no further call and gives up the registration; `.unregistered` follows.
    public func leave() { perform(()) { line, now in line.leave(at: now) } }

    /// Writes the journal's end, waits until it is on the disk, and lets everything go. Violations found in the whole run.
    @discardableResult
    public func close() -> Int {
        let violations = perform(0) { line, now in line.finish(at: now) }
        if MainQueue.isCurrent { lane.leave() } else { lane.close() }
        journalFile?.synchronize()
        return violations
    }

    private static func openJournal(_ path: String?) throws(LiveAppError) -> JournalFile? {
        guard let path else { return nil }
        do throws(JournalFileError) { return try JournalFile(path: path) { _ in } } catch { throw .journal(path: path, error) }
    }

    private static func media(_ settings: LiveAppSettings, _ lane: Lane<Host>) throws(LiveAppError) -> MediaLanes {
        let media = MediaSettings(ports: settings.mediaPorts, quarantine: .seconds(1), lanes: 1, batch: .immediate)
        do throws(PollerError) {
            return try MediaLanes(settings: media, random: SystemRandom()) { [weak lane] leg, event in
                lane?.post { host, now in host.endpoint.receive(event, of: leg, at: now) }
            }
        } catch { throw .media(error) }
    }

    private static func line(
        _ settings: LiveAppSettings, _ host: IPAddress, _ transports: Transports, _ media: MediaLanes, _ system: CallSystem,
        _ sink: (any JournalSink)?, at now: Instant
    ) -> AppLine {
        let local = transports.listeners.first?.address ?? SocketAddress(host, port: 0)
        let flow = Flow(transport: settings.transport, local: local, remote: settings.server)
        var line = AppLineSettings(
            number: settings.number, domain: settings.domain ?? Text("\(settings.server.address)"), flow: flow, mediaAddress: host)
        line.displayName = settings.displayName
        line.credentials = settings.password.map { Credentials(username: settings.number, password: $0) }
        (line.codecs, line.microphone, line.startsAudio) = (settings.codecs, settings.microphone, settings.startsAudio)
        settings.adjust(&line)
        let clock = WallClock(instant: now, unixNanoseconds: UInt64(Date().timeIntervalSince1970 * 1e9))
        let journal = Journal(lane: "main", clock: clock, sink: sink)
        let environment = AppLine.Environment(
            system: system, network: transports, media: media, random: SystemRandom(), hash: OpenSSLDigest.sip, journal: journal)
        return AppLine(line, environment, at: now)
    }
}

/// The calls of `AppLine`, from wherever the app is.
extension LiveAppLine {
    /// 180 leaves: `AppLine.ring`.
    @discardableResult
    public func ring(_ call: UUID) -> Bool { perform(false) { $0.ring(call, at: $1) } }
    /// INVITE leaves: `AppLine.start`.
    public func start(_ call: UUID, to handle: String) -> Bool { perform(false) { $0.start(call, to: handle, at: $1) } }
    /// Sockets are bound, and 200 leaves: `AppLine.answer`.
    public func answer(_ call: UUID) -> Bool { perform(false) { $0.answer(call, at: $1) } }
    /// BYE, CANCEL or a refusal leaves: `AppLine.end`.
    @discardableResult
    public func end(_ call: UUID) -> Bool { perform(false) { $0.end(call, at: $1) } }
    /// Everything is silent: `AppLine.reset`.
    public func reset() { perform(()) { $0.reset(at: $1) } }
    /// A re-INVITE leaves: `AppLine.setHeld`. The completion is told on the line's queue.
    public func setHeld(_ call: UUID, _ isHeld: Bool, completion: @escaping @Sendable (Bool) -> Void = { _ in }) {
        perform(()) { $0.setHeld(call, isHeld, at: $1, completion: completion) }
    }
    /// Silence is sent: `AppLine.setMuted`.
    @discardableResult
    public func setMuted(_ call: UUID, _ isMuted: Bool) -> Bool { perform(false) { $0.setMuted(call, isMuted, at: $1) } }
    /// Keys are queued: `AppLine.play`.
    public func play(_ digits: String, on call: UUID) -> Bool { perform(false) { $0.play(digits, on: call, at: $1) } }
    /// Calls are bridged or mixed: `AppLine.group`.
    public func group(_ call: UUID, with other: UUID?) -> Bool { perform(false) { $0.group(call, with: other, at: $1) } }
    /// Codecs are decided: `AppLine.configAudio`.
    public func configAudio() -> Bool { perform(false) { $0.configAudio(at: $1) } }
    /// Packets flow: `AppLine.startAudio`.
    @discardableResult
    public func startAudio() -> Bool { perform(false) { $0.startAudio(at: $1) } }
    /// No packet leaves any more: `AppLine.stopAudio`.
    public func stopAudio() { perform(()) { $0.stopAudio(at: $1) } }
    /// The app is done with the audio unit: `AppLine.releaseAudio`.
    @discardableResult
    public func releaseAudio() -> Bool { perform(false) { $0.releaseAudio(at: $1) } }
    /// REFER: `AppLine.transfer`.
    @discardableResult
    public func transfer(_ call: UUID, to handle: String, replacing other: UUID? = nil) -> Bool {
        perform(false) { $0.transfer(call, to: handle, replacing: other, at: $1) }
    }
    /// Gives the figures that a call's media has measured: `AppLine.statistics`.
    public func statistics(of call: UUID) -> CallMediaStatistics? { perform(nil) { $0.statistics(of: call, at: $1) } }
}

/// Whether the main queue is running this.
private enum MainQueue {
    private static let key: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) ?? false }
}
