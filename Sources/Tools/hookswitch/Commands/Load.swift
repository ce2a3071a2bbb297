import ArgumentParser
import Foundation
import Workbench

struct Load: ExplainedCommand {
    static let exits: KeyValuePairs<ExitStatus, String> = [
        .good: "good",
        .bad: "failed, or something was left behind",
        .cannotRun:
            "not measured: the run could not be made, is not valid, a term was not measured, it was stopped before a call was over, or was ended at once by a second signal, without a report",
    ]

    static let configuration = CommandConfiguration(
        abstract: "Put many calls on a SIP system, measure both ends, and say whether the figures can be believed.",
        discussion: """
            Calls TARGET at a rate, with sound that names the call and its direction, and judges what comes back. With --accounts the tool registers \
            lines of the target and plays both ends: the first half of them calls the second. SIGINT ends early, and still reports; calls that nobody had \
            answered by then are counted as cut off, and blamed on nobody.

            What comes back has to go on to the end of the call; what does not is lost, in loss, MOS and the verdict, and the report says when it \
            stopped. With --expect prompt a target may end what it plays.

            The report opens with whether the run is valid: when the tool was late itself it says so, and blames nobody; when calls were kept \
            back (--concurrent) the rate was not kept, and the run is not valid. A figure that was not measured is absent, and so is a percentile of \
            too few values: p5 and p95 need 20, p99 needs 100. One verdict ends it. \(ExitStatus.sentence(exits))

            Service levels (--slo) are terms as setup_p95<200ms, mos_p5>=4.0, failed<0.1%, joined by commas. Metrics, each with _pN, _mean, _min or \
            _max: setup, ring, answer, media, end, invite_transit, answer_transit, bye_transit, delay, jitter, loss, rtt, mos, r. Of delay, jitter, loss, \
            mos and r the worse direction of each call counts; loss_out is of what callers send, loss_in of what they hear, and so with the others. \
            Shares of the calls: failed, refused, one_way, silent, cross_talk, encrypted, ser, seer, isa, scr. Calls that are not good fail the run \
            unless a term says how many may be so.

            While it runs: one line on a terminal; --stream has a line of JSON a second, --metrics the figures for Prometheus, --web a page with the \
            report's charts.

            With --calibrate the tool calls an echo of its own, and tells up to how many calls at a time it sends within a millisecond of the time on this \
            machine. Every report has that number, as far as the run has gone.

            Examples:
              hookswitch load sip:9196@127.0.0.1 --rate 10 --calls 100 --talk-time 5 --expect echo
              hookswitch load 127.0.0.1 --accounts 1001..1008 --password 'secret-{}' --rate 2 --calls 40 --mix hold=10,dtmf=20,cancel=5
              hookswitch load 10.0.0.5 --transport tls --ca ca.pem --srtp dtls --accounts 1001..1100 --password 'secret-{}' --rate 5 --calls 200
              hookswitch load --calibrate --concurrent 1500
              hookswitch load sip:9196@10.0.0.5 --find-knee --ramp 10:200:10:15 --talk-time 20 --slo 'setup_p95<200ms,failed<0.1%' --html load.html
            """)

    @OptionGroup var options: LoadOptions

    func run() throws {
        let order = try options.order()
        let reporter = ProgressReporter(.standardError)
        let report = try LoadRun(order, reporter: reporter).perform()
        reporter.finish()
        try Delivery.all([
            { if !order.outputs.printsToStandardOutput { try StandardOutput.print(LoadText.lines(report).joined(separator: "\n")) } },
            { try order.outputs.write(report) },
        ])
        if report.exitCode != 0 { throw ExitCode(report.exitCode) }
    }
}
