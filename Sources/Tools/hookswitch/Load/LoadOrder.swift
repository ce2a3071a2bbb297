import Console
import Foundation
import Primitives
import RTP
import Runtime
import SDP
import SIP
import UserAgent
import Workbench

/// A load that was asked for, with everything checked.
struct LoadOrder {
    var plan: LoadPlan
    var settings: LivePhoneSettings
    var slo: ServiceLevel?
    var findsKnee: Bool
    var targetJournal: String?
    var targetProcess: Int?
    /// Whether the kernel is asked for the gateway's sockets.
    var isWitnessed = false
    var outputs: LoadOutputs
    /// An earlier report, to be compared with.
    var baseline: EarlierReport?
    /// The address at which metrics are told.
    var metrics: SocketAddress?
    /// The address at which a browser sees the run.
    var web: SocketAddress?
    /// For the report.
    var targetText: String
    /// The machines that make the calls; nil: this one.
    var agents: [AgentLink]?
    /// For the echo that a calibration calls; nil: none.
    var echoPorts: ClosedRange<UInt16>?
}

extension LoadOptions {
    /// - Parameter share: the part of the load that this machine makes, as an agent; nil: it makes all, or the agents do.
    /// - Throws: a `Failure` in one line: 2 for what was typed, 3 for files and ports.
    func order(of share: LoadShare? = nil) throws -> LoadOrder {
        let outputs = try LoadOutputs(
            json: results.json, csv: results.csv, junit: results.junit, html: results.html, stream: results.stream, bundle: results.bundle)
        let links = try agents.links()
        if calibrate { return try calibrationOrder(outputs) }
        let baseline = try earlierReport()
        let metrics = try address(results.metrics, "--metrics", example: 9465), web = try address(results.web, "--web", example: 8090)
        let place = try place()
        var plan = try plan(to: place)
        // Of several agents each makes one.
        if dryRun { plan.calls = share?.count ?? links?.count ?? 1 }
        let level = try slo.map(Self.level)
        try checkTogether(plan, level)
        if let links { _ = try part(0, of: links.count, plan) }
        if let share { plan = try part(share.index, of: share.count, plan) }
        let settings = try links == nil ? settings(place, &plan) : agentsSettings(place)
        return LoadOrder(
            plan: plan, settings: settings, slo: level, findsKnee: findKnee, targetJournal: targetJournal, targetProcess: targetPid,
            isWitnessed: witness, outputs: outputs, baseline: baseline, metrics: metrics, web: web,
            targetText: plan.target.map { "\($0)" } ?? "\(place.server), \(plan.accounts.count) accounts", agents: links)
    }

    private func plan(to place: CallTarget) throws -> LoadPlan {
        var plan = LoadPlan()
        plan.accounts = try accountList()
        plan.target = place.uri.user == nil ? nil : place.uri
        if plan.target == nil, plan.accounts.isEmpty {
            throw Failure.usage(
                "'\(target ?? scenarioTarget ?? "")' names nobody to call: write sip:9196@ADDRESS, or add --accounts FIRST..LAST")
        }
        if plan.target == nil, plan.accounts.count < 2 {
            throw Failure.usage("--accounts needs two lines or more: the first half calls the second")
        }
        plan.playsBothEnds = bothEnds || plan.target == nil
        if bothEnds, plan.accounts.isEmpty, phone.local == nil {
            throw Failure.usage("--both-ends needs --local ADDRESS:PORT, or --accounts: where do the calls come back to?")
        }
        try shape(&plan)
        plan.connectionRate = try connectionRate(place.transport, accounts: plan.accounts.count)
        return plan
    }

    private func checkTogether(_ plan: LoadPlan, _ level: ServiceLevel?) throws {
        if plan.mix.percent[.busy] ?? 0 > 0, !plan.playsBothEnds {
            throw Failure.usage("--mix busy=… needs the other end to be the tool's: add --accounts, or --both-ends")
        }
        if findKnee, pace.rate != nil {
            throw Failure.usage("--find-knee and --rate exclude each other: the rate is raised by --ramp (10:1000:10:10 without one)")
        }
        if findKnee, dryRun { throw Failure.usage("--dry-run and --find-knee exclude each other: one call has no knee") }
        if findKnee, level == nil { throw Failure.usage("--find-knee needs --slo: what must hold?") }
        if witness, targetJournal == nil { throw Failure.usage("--witness needs --target-journal: what are the sockets held against?") }
    }

    /// Each value by itself, without ports and files.
    func checkValues() throws {
        var plan = LoadPlan()
        try shape(&plan)
        _ = try slo.map(Self.level)
        _ = try connectRate.map(Self.rate)
        try phone.checkValues()
        if accounts != nil { _ = try accountList() }
    }

    // MARK: Whom

    private func place() throws -> CallTarget {
        guard let target = target ?? scenarioTarget else { throw Failure.usage("whom to call? 'hookswitch load sip:9196@ADDRESS'") }
        let server = try phone.serverAddress()
        if server != nil, accounts != nil, SocketAddress(target, defaultPort: 5060) != nil {
            throw Failure.usage("--server and a target that is a server exclude each other")
        }
        return try CallTarget(target, server: server, transport: try phone.wantedTransport())
    }

    private func accountList() throws -> [LoadAccount] {
        guard let accounts else {
            if phone.password != nil, phone.from == nil {
                throw Failure.usage("--password needs --accounts or --from: whose password is it?")
            }
            return []
        }
        if phone.from != nil { throw Failure.usage("--from and --accounts exclude each other: accounts call as themselves") }
        let parts =
            accounts.components(separatedBy: "..").count == 2
            ? accounts.components(separatedBy: "..") : accounts.components(separatedBy: "-")
        guard parts.count == 2, parts[0].count <= parts[1].count, let first = UInt64(parts[0]), let last = UInt64(parts[1]), first <= last,
            last - first < 100_000
        else {
            throw Failure.usage("--accounts takes lines as 1001..1100, got '\(accounts)'")
        }
        return (first...last).map { number in
            let bare = "\(number)", user = String(repeating: "0", count: max(0, parts[0].count - bare.count)) + bare
            let secret = phone.password.map { Text($0.replacingOccurrences(of: "{}", with: user)) }
            return LoadAccount(user: Text(user), credentials: secret.map { Credentials(username: Text(user), password: $0) })
        }
    }

    // MARK: How many, how long

    func shape(_ plan: inout LoadPlan) throws {
        plan.arrivals = try arrivals()
        plan.calls = try pace.calls.map { try Bounded.whole($0, option: "--calls", of: "a number of calls", in: 1...10_000_000) }
        plan.duration = try pace.duration.map { try Bounded.seconds($0, option: "--duration", in: 0.1...604_800) }
        if pace.calls == nil, pace.duration == nil, pace.ramp == nil { plan.duration = .seconds(60) }
        plan.settling = try pace.settle.map { try Bounded.seconds($0, option: "--settle", in: 0...3_600) }
        plan.hold = try callDuration()
        plan.mix = try callMix(mix)
        plan.keys = try digits()
        plan.listening = try listening()
        plan.steps = try steps.map { text in
            do { return try CallSteps.parse(text) } catch let failure as Failure { throw Failure.usage("--steps: \(failure.message)") }
        }
        if dryRun { plan.calls = 1 }
        plan.timeout = try Bounded.seconds(timeout, option: "--timeout", in: 1...3_600)
        plan.answersAfter = .milliseconds(try Bounded.whole(answerAfter, option: "--answer-after", of: "milliseconds", in: 0...600_000))
        plan.seed = seed ?? UInt64.random(in: 1...9_999_999)
        plan.expects = try ExpectedSound(option: expect)
        plan.concurrent =
            try pace.concurrent.map { try Bounded.whole($0, option: "--concurrent", of: "a number of calls", in: 1...20_000) }
            ?? plan.expectedConcurrency
    }

    private func arrivals() throws -> ArrivalPlan {
        if pace.rate != nil, pace.ramp != nil { throw Failure.usage("--rate and --ramp exclude each other") }
        if let rate = pace.rate {
            guard (0.001...10_000).contains(rate) else {
                throw Failure.usage("--rate takes calls a second from 0.001 to 10000, got \(Bounded.short(rate))")
            }
            return ArrivalPlan(rate: rate, isPoisson: pace.poisson)
        }
        guard let text = pace.ramp ?? (findKnee ? "10:1000:10:10" : nil) else { return ArrivalPlan(rate: 10, isPoisson: pace.poisson) }
        let parts = text.split(separator: ":").map { Double($0) }, numbers = parts.compactMap(\.self)
        guard parts.count == 4, numbers.count == 4, numbers.allSatisfy(\.isFinite), numbers[0] > 0, numbers[1] >= numbers[0],
            numbers[2] > 0, numbers[3] >= 1, numbers[1] <= 10_000, numbers[3] <= 86_400
        else {
            throw Failure.usage("--ramp takes FROM:TO:STEP:EVERY as 10:100:10:30 (calls a second, and seconds), got '\(text)'")
        }
        let most = ArrivalPlan.mostSteps
        guard (numbers[1] - numbers[0]) / numbers[2] < Double(most) else {
            throw Failure.usage("--ramp makes more than \(most) steps: '\(text)'")
        }
        return ArrivalPlan(
            from: numbers[0], to: numbers[1], by: numbers[2], every: .nanoseconds(Int64(numbers[3] * 1e9)), isPoisson: pace.poisson)
    }

    private func callDuration() throws -> HoldTime {
        let option = talkTime == nil && hold != nil ? "--hold" : "--talk-time", text = talkTime ?? hold ?? "10"
        let parts = text.split(separator: ":"), value = parts.last.flatMap { Double($0) }
        guard let value, parts.count == 1 || (parts.count == 2 && "exponential".hasPrefix(parts[0])) else {
            throw Failure.usage("\(option) takes seconds as 10, or exponential:10, got '\(text)'")
        }
        let time = try Bounded.seconds(value, option: option, in: 0.1...86_400)
        return parts.count == 2 ? .exponential(time) : .fixed(time)
    }

    private func callMix(_ text: String?) throws -> CallMix {
        let kinds = CallKind.allCases.filter { $0 != .plain }.map(\.rawValue)
        var percent: [CallKind: Double] = [:]
        for part in (text ?? "").split(separator: ",") {
            let pair = part.split(separator: "=", omittingEmptySubsequences: false), name = String(pair.first ?? "")
            guard let kind = CallKind(rawValue: name), kind != .plain else {
                throw Failure.usage(
                    "--mix knows no '\(name)'\(SpellingSuggestion.hint(for: name, among: kinds)); there are \(kinds.joined(separator: ", "))"
                )
            }
            guard pair.count == 2, let value = Double(pair[1].filter { $0 != "%" }), (0...100).contains(value) else {
                throw Failure.usage("--mix takes percentages as \(name)=5, got '\(part)'")
            }
            guard percent.updateValue(value, forKey: kind) == nil else {
                throw Failure.usage("--mix names '\(name)' twice: '\(text ?? "")'")
            }
        }
        if text != nil, percent.isEmpty { throw Failure.usage("--mix takes percentages as hold=5,dtmf=10, got '\(text ?? "")'") }
        guard percent.values.reduce(0, +) <= 100 else { throw Failure.usage("--mix makes more than 100 %: '\(text ?? "")'") }
        return CallMix(percent)
    }

    private func digits() throws -> [DTMFDigit] {
        let digits = keys.compactMap(DTMFDigit.init)
        guard (1...32).contains(digits.count), digits.count == keys.count else {
            throw Failure.usage("--keys takes up to 32 keys of 0-9, *, # and A-D, got '\(keys)'")
        }
        return digits
    }

    private func listening() throws -> Listening {
        guard let listen else { return .upTo(64) }
        guard listen.hasSuffix("%"), let value = Double(listen.dropLast()), (0...100).contains(value) else {
            throw Failure.usage("--listen takes a share as 10%, got '\(listen)'")
        }
        return .share(value / 100)
    }

    private static func level(_ text: String) throws -> ServiceLevel {
        do throws(ServiceLevel.ParseError) { return try ServiceLevel(parsing: text) } catch {
            switch error {
            case .empty: throw Failure.usage("--slo takes terms as setup_p95<200ms,failed<0.1%, got '\(text)'")
            case .noComparison(let term): throw Failure.usage("--slo: '\(term)' compares nothing; write <, <=, > or >=")
            case .unknownName(let name, let term):
                throw Failure.usage(
                    "--slo: '\(term)': there is no '\(name)'\(SpellingSuggestion.hint(for: name, among: ServiceLevel.names))")
            case .noStatistic(let name, let term):
                throw Failure.usage("--slo: '\(term)': say which: \(name)_p95, \(name)_mean, \(name)_min or \(name)_max")
            case .badStatistic(let name, let term): throw Failure.usage("--slo: '\(term)': '\(name)' is none of p0 to p100, mean, min, max")
            case .badLimit(let limit, let unit, let term):
                throw Failure.usage("--slo: '\(term)': '\(limit)' is no limit\(unit.isEmpty ? "" : " in \(unit)")")
            }
        }
    }

    // MARK: Beside the run

    /// - Throws: 3 for a file that cannot be read, 2 for one that is no report.
    private func earlierReport() throws -> EarlierReport? {
        guard let path = try results.baseline?.named(by: "--baseline") else { return nil }
        guard let data = FileManager.default.contents(atPath: path) else { throw Failure.cannotRun("\(path) cannot be read") }
        guard let report = try? JSONDecoder().decode(EarlierReport.self, from: data) else {
            throw Failure.usage("--baseline: '\(path)' is no report of 'hookswitch load --json FILE'")
        }
        return report
    }

    private func address(_ text: String?, _ option: String, example: UInt16) throws -> SocketAddress? {
        guard let text else { return nil }
        guard let address = SocketAddress(text, defaultPort: 0), address.port != 0 else {
            throw Failure.usage("\(option) takes an address and a port as 127.0.0.1:\(example), got '\(text)'")
        }
        try SocketAddress.refuseBothReadings(of: text, option: option)
        return address
    }

    // MARK: From where

    /// Makes the settings of the telephones. Without `--concurrent` the plan gets no more calls at a time than there are ports for.
    func settings(_ place: CallTarget, _ plan: inout LoadPlan) throws -> LivePhoneSettings {
        let caller = try phone.caller()
        var settings = try phone.settings(
            user: caller?.user ?? "hookswitch", server: place.server, transport: place.transport, host: place.uri.host, codecs: "pcmu",
            isCalled: bothEnds && plan.accounts.isEmpty)
        settings.domain = caller?.domain ?? (plan.accounts.isEmpty ? nil : place.uri.host)
        if let caller, let password = phone.password { settings.credentials = .init(username: caller.user, password: Text(password)) }
        settings.isPunctual = true
        settings.mediaPorts = try mediaPorts(&plan, place.server.address.family)
        try provideConnections(&settings, plan)
        settings.mediaLanes = plan.concurrent > 200 ? min(4, MachineReading.cores) : 1
        return settings
    }

    private func mediaPorts(_ plan: inout LoadPlan, _ family: IPAddress.Family) throws -> ClosedRange<UInt16> {
        let given = try phone.portRange()
        if pace.concurrent == nil { plan.concurrent = min(plan.concurrent, LoadPorts.mostCalls(plan, in: given)) }
        if let given { return given }
        while true {
            do { return try LoadPorts.block(for: plan, family) } catch let failure as Failure {
                guard pace.concurrent == nil, plan.concurrent > 100 else { throw failure }
                plan.concurrent = max(100, plan.concurrent / 2)
            }
        }
    }
}

/// Media ports for a load, and descriptors for their sockets.
enum LoadPorts {
    static let most = 40_000

    /// A free run: a pair for each end that can be up, and for those that rest after a call; below the kernel's own where it fits.
    static func block(for plan: LoadPlan, _ family: IPAddress.Family) throws -> ClosedRange<UInt16> {
        let count = min(2 * ends(plan) * (plan.concurrent + resting(plan) + 8), most)
        try provideDescriptors(for: count)
        if let block = FreePorts.block(of: count, family, inOneOf: candidates) { return block }
        throw Failure.cannotRun(
            "no \(count) UDP ports in a row are free; name some with --ports, or make fewer calls at a time (--concurrent)")
    }

    /// As many calls at a time as there are ports for, with room for those that rest.
    static func mostCalls(_ plan: LoadPlan, in range: ClosedRange<UInt16>?) -> Int {
        let calls = range.map { $0.count / (2 * ends(plan)) } ?? most / (2 * ends(plan)) - 8
        // If each call has its own port, none has to wait for one that rests.
        if let all = plan.calls, all <= calls { return calls }
        // No more rest than three for each that may be up, however high the rate is.
        return max(1, calls / 4, calls - resting(plan))
    }

    private static func ends(_ plan: LoadPlan) -> Int { plan.playsBothEnds ? 2 : 1 }
    /// Calls whose ports rest, at the highest rate.
    private static func resting(_ plan: LoadPlan) -> Int {
        Int(3 * min(plan.arrivals.steps.map(\.rate).max() ?? 1, Double(plan.concurrent)))
    }

    /// Above the kernel's own, where hardly anybody is; else below it, where a gateway on this machine may have its own; else anywhere.
    private static var candidates: [ClosedRange<UInt16>] {
        let kernel = EphemeralPortRange.current ?? 32_768...60_999, below = max(kernel.lowerBound, 1) - 1
        return [min(kernel.upperBound, 65_534) + 1...65_535, min(10_000, below)...below, 10_000...65_535]
    }

    private static func provideDescriptors(for sockets: Int) throws {
        let limit = ProcessResources.raiseDescriptorLimit()
        guard limit == 0 || limit >= sockets + 64 else {
            throw Failure.cannotRun("\(sockets) media sockets need more descriptors than the limit of \(limit) (ulimit -n)")
        }
    }
}
