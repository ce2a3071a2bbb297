import Primitives
import UserAgent

/// Something that lives in virtual time: a gateway, a phone.
protocol Inhabitant: AnyObject {
    /// When it next has something to do by itself.
    var deadline: Instant? { get }
    func advance(to now: Instant)
    func receive(_ bytes: [UInt8], over flow: Flow, at now: Instant)
    /// A connection is gone, or could not be opened.
    func failed(_ flow: Flow, at now: Instant)
    /// A datagram found nobody; this is how it begins.
    func portUnreachable(_ beginning: [UInt8], at now: Instant)
}

extension Inhabitant {
    func portUnreachable(_ beginning: [UInt8], at now: Instant) {}
}

/// Virtual time and everybody in it, on one thread: nothing happens but what is due, and time jumps from one thing to the next.
final class World {
    private(set) var now: Instant
    private var agenda = Agenda()
    private var inhabitants: [any Inhabitant] = []
    /// Called after everything that happened.
    var afterEach: () -> Void = {}

    init(at now: Instant) { self.now = now }

    func add(_ inhabitant: any Inhabitant) { inhabitants.append(inhabitant) }

    func remove(_ inhabitant: any Inhabitant) { inhabitants.removeAll { $0 === inhabitant } }

    func removeAll() {
        inhabitants = []
        agenda = Agenda()
    }

    func after(_ delay: Duration, _ work: @escaping () -> Void) { agenda.add(at: now + delay, work) }

    /// Things that wait to happen by themselves: datagrams on their way and steps of scripts.
    var pending: Int { agenda.count }

    /// Does the next thing, unless it is later than the limit. False when nothing was done; the time is the limit's then.
    func step(until limit: Instant) -> Bool {
        let alarm = inhabitants.compactMap { inhabitant in inhabitant.deadline.map { (due: $0, inhabitant: inhabitant) } }.min {
            $0.due < $1.due
        }
        let next = [alarm?.due, agenda.deadline].compactMap(\.self).min()
        guard let due = next, due <= limit else {
            if limit != .distantFuture { now = max(now, limit) }
            return false
        }
        now = max(now, due)
        if let work = agenda.popDue(at: now) { work() } else { alarm?.inhabitant.advance(to: now) }
        afterEach()
        return true
    }
}
