import Dispatch
import Foundation
import Gateway
import Media
import Primitives
import SDP
import Workbench

struct DemoSettings: Sendable {
    var codecs = Codec.usual
    /// The time for which 1002 lets it ring.
    var answersAfter = Duration.milliseconds(300)
    /// The time for which both speak.
    var duration = Duration.seconds(3)
    /// The speech of 1001 and 1002: two voices. Silence here is an unplugged microphone.
    var caller = DemoSettings.voice(1001)
    var callee = DemoSettings.voice(1002)

    static func voice(_ seed: UInt64) -> MediaSource {
        .samples(SpeechLikeSignal.samples(seed: seed, seconds: 10), sampleRate: SpeechLikeSignal.sampleRate, loops: true)
    }
}

/// Two telephones, bridged by a gateway: everything real, on loopback, in one process.
struct DemoRun {
    private let settings: DemoSettings
    private let reporter: ProgressReporter

    init(_ settings: DemoSettings, reporter: ProgressReporter) { (self.settings, self.reporter) = (settings, reporter) }

    /// SIGINT, SIGTERM, SIGHUP and a reader of the output that goes end it early, and leave nothing either.
    ///
    /// - Throws: exit code 3, when it could not even begin. What was begun is ended all the same, in order: the telephones, then the
    ///   gateway.
    func perform() throws -> DemoReport {
        let phones = DemoPhones(), signals = HangupSignals(reporter)
        signals.whenAsked { phones.stop() }
        defer { withExtendedLifetime(signals) {} }
        return try performed(phones)
    }

    private func performed(_ phones: DemoPhones) throws -> DemoReport {
        let gateway = try DemoGateway()
        reporter.say("a gateway listens at udp \(gateway.address), with the lines 1001 and 1002")
        var (report, caller, callee) = (DemoReport(), CallRecord?.none, CallRecord?.none), order = WitnessOrder(journal: gateway.journal)
        order.process = getpid()
        let witness = Result { try WitnessWatch(order) }
        do {
            (caller, callee) = try call(over: gateway, phones, &report)
        } catch let failure as Failure { report.failures.append(failure.message) }
        if phones.areStopped { report.failures.append("the demo was stopped") }
        report.leftovers = gateway.leftovers()
        report.judge(caller, callee)
        try? witness.get().stop()
        let journal = Result { try gateway.stop() }
        report.judge(Result { try witness.get().finish() })
        report.judge(try journal.get())
        return report
    }

    private func call(over gateway: DemoGateway, _ phones: DemoPhones, _ report: inout DemoReport) throws -> (CallRecord?, CallRecord?) {
        let callee = try DemoPhone.callee(gateway, settings, source: settings.callee, reporter)
        defer { callee.close() }
        phones.add(callee)
        guard callee.waitUntilRegistered() else {
            report.failures.append("1002: \(callee.failure ?? "no answer to its registration")")
            return (nil, nil)
        }
        reporter.say("1002 Bob is registered")
        let caller = try DemoPhone.caller(gateway, settings, source: settings.caller, reporter)
        defer { caller.close() }
        phones.add(caller)
        if !caller.waitUntilOver(settings.duration + .seconds(20)) { report.failures.append("1001: the call does not end") }
        if let failure = caller.failure { report.failures.append("1001: \(failure)") }
        callee.stop()
        if !callee.waitUntilOver(.seconds(5)) { report.failures.append("1002: does not end") }
        return (caller.record, callee.record)
    }
}
