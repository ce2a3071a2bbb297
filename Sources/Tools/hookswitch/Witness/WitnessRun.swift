import Dispatch
import Foundation
import Gateway
import Primitives
import Runtime
import Synchronization

struct WitnessOrder {
    var journal: String
    /// Nil: those that the journal names.
    var ports: ClosedRange<UInt16>?
    /// Nil: sockets of every process count.
    var process: Int32?
    var pause = Duration.milliseconds(20)
    /// Nil: until the gateway or a person ends it.
    var duration: Duration?
    /// Whether packets are watched, too. Nil: where the kernel lets it.
    var packets: Bool?

    init(journal: String) { self.journal = journal }
}

/// Follows a journal, and asks the kernel for sockets and for the packets that left, in turn.
struct WitnessRun: ~Copyable {
    /// The part of a core that samples and journal may cost, the processor time that they may have in advance, and the longest time without
    /// them for all that.
    private static let share = 0.015, advance = Duration.milliseconds(250), longestPause = Duration.milliseconds(500)
    /// The time between two looks at whether the gateway is there.
    private static let lookTime = Duration.milliseconds(200)

    private let order: WitnessOrder
    private let reporter: ProgressReporter
    private var follower: JournalFollower
    private var witness: KernelWitness
    private var sockets: SocketDiagnosis
    private var window: PacketWindow?
    private let ports: ClosedRange<UInt16>
    private var owners: SocketOwners?
    private var disagreements = 0
    private let stop = StopWish()
    private var looked = Instant.zero, isRunning = true

    /// It watches when this returns.
    /// - Throws: exit code 3 where there is no journal of a gateway that runs, or the kernel may not be asked.
    static func begin(_ order: WitnessOrder, reporter: ProgressReporter) throws -> WitnessRun {
        var run = try WitnessRun(order, reporter: reporter)
        // Calls that are over are read before the first sample: nothing of them is kept.
        try run.readJournal()
        try run.takeSample()
        return run
    }

    private init(_ order: WitnessOrder, reporter: ProgressReporter) throws {
        let file = JournalReader.fileOfLastRun(order.journal)
        let owners = try order.process.map(SocketOwners.init), follower = try Self.follower(order.journal, from: file)
        guard JournalReader.isBeingWritten(order.journal) else {
            throw Failure.cannotRun("\(order.journal): no gateway writes it: the witness runs beside a gateway, on its machine")
        }
        let ports = try order.ports ?? Self.ports(of: order.journal, from: file), sockets = try Self.diagnosis()
        let window = try Self.window(ports, order.packets)
        (self.order, self.reporter, self.owners, self.ports) = (order, reporter, owners, ports)
        self.follower = follower
        self.sockets = sockets
        self.window = window
        witness = KernelWitness(ports: ports)
    }

    private static func follower(
        _ path: String, from file: String, kinds: Set<JournalEvent.Kind> = KernelWitness.kinds
    ) throws -> JournalFollower {
        do { return try JournalFollower(path: path, from: file, offset: 0, kinds: kinds) } catch { throw Failure.cannotRun("\(error)") }
    }

    private static func diagnosis() throws -> SocketDiagnosis {
        do { return try SocketDiagnosis() } catch { throw Failure.cannotRun("\(error)") }
    }

    private static func window(_ ports: ClosedRange<UInt16>, _ isWanted: Bool?) throws -> PacketWindow? {
        guard isWanted ?? true else { return nil }
        do { return try PacketWindow(ports: ports) } catch {
            if isWanted == true { throw Failure.cannotRun("--packets: \(error)") }
            return nil
        }
    }

    /// The ports that the last run of a journal names. A gateway that has just begun is waited for: it writes that a moment later.
    private static func ports(of journal: String, from file: String) throws -> ClosedRange<UInt16> {
        var follower = try follower(journal, from: file, kinds: [.gatewayStarted]), last: JournalEvent.Details?
        let end = MonotonicClock.now + KernelWitness.grace
        while last == nil, MonotonicClock.now < end {
            do { try follower.poll { if $0.kind == .gatewayStarted { last = $0.details } } } catch { throw Failure.cannotRun("\(error)") }
            if last == nil { usleep(10_000) }
        }
        guard let ports = last?.text(.ports).flatMap({ MediaPorts.range($0.description) }) else {
            throw Failure.usage("\(journal) does not say which ports media has: add --ports")
        }
        return ports
    }

    /// Ends it from another thread.
    var ender: @Sendable () -> Void { { [stop] in stop.tell() } }

    /// Watches on this thread.
    /// - Parameter tell: called with each disagreement, at once.
    mutating func perform(tell: (WitnessFinding) throws -> Void) throws -> WitnessReport {
        reporter.say("watching the ports \(ports.lowerBound)-\(ports.upperBound) beside \(order.journal)")
        let began = MonotonicClock.now, processor = ThreadClock.now
        var budget = (left: Self.advance, spent: processor, at: began)
        while goesOn(since: began) {
            try takeSample()
            try judge(tell)
            let spent = ThreadClock.now, now = MonotonicClock.now
            budget = (min(Self.advance, budget.left + (now - budget.at).times(Self.share) - (spent - budget.spent)), spent, now)
            stop.wait(max(order.pause, min(Self.longestPause, (.zero - budget.left).times(1 / Self.share))))
        }
        try settle(tell)
        return report(seconds: MonotonicClock.now - began, processor: ThreadClock.now - processor)
    }

    private mutating func goesOn(since began: Instant) -> Bool {
        let now = MonotonicClock.now
        if now - looked >= Self.lookTime { (looked, isRunning) = (now, JournalReader.isBeingWritten(order.journal)) }
        return isRunning && !witness.isOver && !stop.isTold && order.duration.map { now - began < $0 } ?? true
    }

    /// Reads on until the journal has told of all samples, or its gateway is gone: what was open then was not closed by it.
    private mutating func settle(_ tell: (WitnessFinding) throws -> Void) throws {
        let end = MonotonicClock.now + KernelWitness.grace + .milliseconds(500)
        while isRunning, witness.isWaiting, MonotonicClock.now < end {
            try judge(tell)
            usleep(10_000)
            isRunning = JournalReader.isBeingWritten(order.journal)
        }
        try judge(tell)
    }

    private mutating func readJournal() throws {
        var witness = witness
        do { try follower.poll { witness.note($0, readAt: MonotonicClock.now) } } catch { throw Failure.cannotRun("\(error)") }
        self.witness = witness
        if let port = witness.strayPort {
            throw Failure.usage("the journal has port \(port), which is none of \(ports.lowerBound)-\(ports.upperBound): see --ports")
        }
    }

    private mutating func takeSample() throws {
        let packets = window?.take() ?? [], begin = MonotonicClock.now, wall = WallClock.now
        do {
            let found = try sockets.udpSockets(on: ports).map { KernelSample.Socket(port: $0.address.port, inode: $0.inode) }
            witness.note(KernelSample(begin: begin, end: MonotonicClock.now, wall: wall, sockets: found, packets: packets))
        } catch { throw Failure.cannotRun("\(error)") }
    }

    private mutating func judge(_ tell: (WitnessFinding) throws -> Void) throws {
        let read = MonotonicClock.now
        try readJournal()
        let hadCall = witness.tally.calls > 0
        for found in witness.judge(readAt: read) where owners?.mayBeTheirs(found) ?? true {
            disagreements += 1
            try tell(WitnessFinding(found))
        }
        if !hadCall, witness.tally.calls > 0 { reporter.say("the first call was seen") }
    }

    private func report(seconds: Duration, processor: Duration) -> WitnessReport {
        let tally = witness.tally, missed = window?.missed
        let verdict: WitnessReport.Verdict = disagreements > 0 ? .disagree : tally.calls == 0 || tally.samples == 0 ? .nothingSeen : .agree
        return WitnessReport(
            verdict: verdict, disagreements: disagreements, samples: tally.samples, calls: tally.calls,
            callsWithMedia: tally.callsWithMedia, missedCalls: tally.missedCalls, sockets: tally.sockets,
            packets: missed.map { _ in tally.packets }, missedPackets: missed ?? 0, unjudgedSockets: tally.unjudgedSockets,
            foreignSockets: owners?.foreign ?? 0, unattributedSockets: owners?.unknown ?? 0,
            gaps: tally.gaps, seconds: Double(seconds.wholeMilliseconds) / 1_000,
            cpuMillisecondsPerSecond: Double(processor.wholeNanoseconds) / Double(max(1, seconds.wholeNanoseconds)) * 1_000)
    }

    /// A wish that ends a wait.
    private final class StopWish: Sendable {
        private let told = Atomic(false), bell = DispatchSemaphore(value: 0)

        var isTold: Bool { told.load(ordering: .relaxed) }

        func tell() {
            told.store(true, ordering: .relaxed)
            bell.signal()
        }

        func wait(_ duration: Duration) { _ = bell.wait(timeout: .now() + .nanoseconds(Int(duration.wholeNanoseconds))) }
    }
}

extension Duration {
    fileprivate func times(_ factor: Double) -> Duration { .nanoseconds(Int64(Double(wholeNanoseconds) * factor)) }
}

/// Tells the sockets of a process from those of others.
struct SocketOwners {
    private let process: Int32
    /// Sockets of others, and sockets that were gone before they could be told apart; those that packets left from, too.
    private(set) var foreign = 0, unknown = 0

    /// - Throws: exit code 3 where there is no such process, it may not be looked at, or it has another network.
    init(_ process: Int32) throws {
        self.process = process
        guard ProcessSockets.inodes(of: process) != nil, let shares = ProcessSockets.sharesNetwork(with: process) else {
            throw Failure.cannotRun("--pid \(process): there is no such process, or it may not be looked at")
        }
        guard shares else {
            throw Failure.cannotRun("--pid \(process): the process has a network of its own: run the witness there, as with docker exec")
        }
    }

    /// False for a socket of another process, for one that nobody has any more, and for packets from such a one; it is counted.
    mutating func mayBeTheirs(_ found: KernelDisagreement) -> Bool {
        switch found.kernel {
        case .noSocket: return true
        case .socket(let inode): return isTheirs([inode], isThere: Self.sockets(on: found.port).contains(inode))
        case .packet:
            // A port that a call has is the gateway's.
            if found.call != nil { return true }
            let sockets = Self.sockets(on: found.port)
            return isTheirs(sockets, isThere: !sockets.isEmpty)
        }
    }

    private mutating func isTheirs(_ sockets: [UInt64], isThere: Bool) -> Bool {
        if let own = ProcessSockets.inodes(of: process), !own.isDisjoint(with: sockets) { return true }
        if isThere { foreign += 1 } else { unknown += 1 }
        return false
    }

    private static func sockets(on port: UInt16) -> [UInt64] {
        do {
            var sockets = try SocketDiagnosis()
            return try sockets.udpSockets(on: port...port).map(\.inode)
        } catch { return [] }
    }
}
