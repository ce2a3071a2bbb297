import Foundation
import Primitives
import Runtime

/// One run: inputs in rounds over the surfaces, looks at the server meanwhile, and what is left of it all in the end.
final class Campaign {
    private let options: Options
    private let server: ServerProcess
    private let prober: Prober
    private let log = InputLog()
    private let context: AttackContext
    private let progress: Progress
    private let deadline: Instant?
    private var attacks: [Surface: any Attack] = [:]
    private var counts: [Surface: Int] = [:]
    /// The longest that an OPTIONS took, and behind which input.
    private var slowest = (delay: Duration.zero, input: "none")
    private var isAttacking = true

    /// Inputs of a run without limits.
    private static let usual = 1_000_000

    init(_ options: Options, _ server: ServerProcess) throws {
        (self.options, self.server) = (options, server)
        prober = try Prober(server)
        let corpus = try Corpus(folder: options.corpus), calls = try CallKeeper(server: server.addresses.sip, seed: options.seed)
        context = AttackContext(addresses: server.addresses, corpus: corpus, calls: calls, log: log, seed: options.seed)
        deadline = options.seconds.map { MonotonicClock.now + .seconds($0) }
        progress = Progress(total: options.seconds == nil ? options.inputs ?? Self.usual : nil)
    }

    /// - Throws: `Broken`, for the first thing that is wrong.
    func run() throws -> Summary {
        do { return try attackAndSettle() } catch let broken as Broken {
            server.kill()
            throw Broken(Failure(broken, options, log, inputs: done, isAttacking: isAttacking).text)
        }
    }

    private func attackAndSettle() throws -> Summary {
        let began = MonotonicClock.now
        try prober.check()
        let witness = try Witness(server: server.addresses.sip), settling = Settling(server, prober, before: try prober.resources())
        while !isOver { try round(witness) }
        let attacked = MonotonicClock.now - began
        leave()
        let memory = try settling.await { try look(witness) }
        let sound = try witness.finish()
        try server.stop()
        progress.say("reading the journal")
        return Summary(
            counts: counts, attacked: attacked, calls: context.calls.made, slowest: slowest, sound: sound, memory: memory,
            journal: try server.audit())
    }

    private var done: Int { counts.values.reduce(0, +) }

    /// The most inputs; there is no bound where the time is one.
    private var limit: Int { options.inputs ?? (deadline == nil ? Self.usual : .max) }

    private var isOver: Bool { done >= limit || deadline.map { MonotonicClock.now >= $0 } ?? false }

    /// All surfaces, each with its share, or the one that is wanted.
    private func round(_ witness: Witness) throws {
        if let surface = options.surface { return try attack(surface, count: Surface.roundSize, witness) }
        for surface in Surface.allCases where !isOver { try attack(surface, count: surface.share, witness) }
    }

    private func attack(_ surface: Surface, count: Int, _ witness: Witness) throws {
        (log.surface, log.number) = (surface, options.from + counts[surface, default: 0])
        let attack = try attacks[surface] ?? context.attack(on: surface), count = min(count, limit - done)
        attacks[surface] = attack
        try attack.prepare()
        for number in 1...count {
            try send(surface, attack)
            guard number % options.every == 0 || number == count else { continue }
            try look(witness)
            try attack.listen()
            if isOver { break }
        }
        progress.note(surface, done: done)
    }

    private func send(_ surface: Surface, _ attack: any Attack) throws {
        log.number = options.from + counts[surface, default: 0]
        var random = SeededRandom(seed: options.seed, surface, input: log.number)
        try attack.send(&random)
        counts[surface, default: 0] += 1
    }

    private func look(_ witness: Witness) throws {
        let delay = try prober.check()
        if delay > slowest.delay { slowest = (delay, "\(log.surface.rawValue) \(log.number)") }
        try witness.check()
    }

    /// Ends what can be ended.
    private func leave() {
        isAttacking = false
        for attack in attacks.values { attack.finish() }
        context.calls.hangUp()
        progress.say("waiting until all transactions are over")
    }
}
