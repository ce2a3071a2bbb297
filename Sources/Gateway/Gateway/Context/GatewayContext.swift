import CallKit
import Foundation
import Primitives

/// Settings, time, journal, randomness and timers: all parts of the gateway have them in common.
///
/// It decides nothing. Lives on the signalling lane.
final class GatewayContext {
    private(set) var configuration: GatewayConfiguration
    let journal: Journal
    /// Keeps what survives a restart; nil: nothing does.
    let store: (any LineStore)?
    /// The store has the rows of dialogs, for other gateways.
    let sharesCalls: Bool
    /// Of gateways that share the store, one at a time registers a trunk.
    let leasesTrunks: Bool
    let turn: EventTime
    let timers: GatewayTimers
    var random: any RandomNumberGenerator
    /// The clock of the lines' CallKit systems.
    private let clock: InlineHost

    init(
        _ configuration: GatewayConfiguration, journal: Journal, store: (any LineStore)?, random: any RandomNumberGenerator, epoch: Date,
        at now: Instant
    ) {
        (self.configuration, self.journal, self.store, self.random) = (configuration, journal, store, random)
        (sharesCalls, leasesTrunks) = (store?.sharesCalls ?? false, store?.leasesTrunks ?? false)
        turn = EventTime(journal, at: now)
        let timers = GatewayTimers(turn, at: now)
        self.timers = timers
        clock = InlineHost(now: now, epoch: epoch) { system, _ in timers.note(system) }
    }

    /// The time of the input that is worked off.
    var now: Instant { turn.now }

    /// The wall clock, as the lines' systems have it.
    var date: Date { clock.date(at: now) }

    /// The next input is worked off.
    func enter(_ now: Instant) { clock.now = turn.begin(at: now) }

    func randomNumber() -> UInt64 { random.next() }

    /// Version 4 (RFC 9562 §5.4).
    func randomUUID() -> UUID {
        let high = random.next(), low = random.next()
        return CallUUID(high: high & ~0xF000 | 0x4000, low: low & ~(3 << 62) | 2 << 62).uuid
    }

    /// Other lines and limits; all else stays as it is.
    func adopt(_ lines: [LineConfiguration], _ limits: GatewayConfiguration.Limits) {
        (configuration.lines, configuration.limits) = (lines, limits)
    }

    /// The address that peers outside are told from now on.
    func advertise(_ address: IPAddress) { configuration.advertise.address = address }

    /// The CallKit systems of the configured lines, and of those beside them.
    func makeLines(_ configurations: [LineConfiguration], kept: KeptState, directories: CallDirectories?) -> [Line] {
        configurations.enumerated().map { makeLine($1, index: $0, kept: kept[$1.number.description], directories: directories) }
    }

    func makeLine(_ line: LineConfiguration, index: Int, kept: LineRecord, directories: CallDirectories?) -> Line {
        let clock = clock
        let features = LineFeatures(line, statuses: configuration.refusals, recents: configuration.limits.recents, kept: kept) {
            clock.date(at: clock.now)
        }
        return Line(line, index: index, features: features, directories: directories, clock: clock, journal: journal, at: now)
    }
}
