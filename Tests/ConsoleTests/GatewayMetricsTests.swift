import Foundation
import Media
import Primitives
import Streaming
import Testing
import UserAgent

@testable import CallJournal
@testable import Console
@testable import Gateway
@testable import Runtime

@Suite struct GatewayMetricsTests {
    private static func metrics(_ adapt: (inout GatewayFigures) -> Void = { _ in }) throws -> Exposition {
        var figures = GatewayFigures.idle
        adapt(&figures)
        let usage = ProcessResources.Usage(user: .milliseconds(1_500), system: .milliseconds(250), peakMemory: 4_096)
        return try Exposition(PrometheusText(figures, usage: usage).text)
    }

    @Test func `what is there now is told by kind, each from where it is counted`() throws {
        let read = try Self.metrics {
            ($0.now.legs, $0.now.bridges, $0.now.calls, $0.now.timers) = (1, 2, 3, 4)
            ($0.now.agent.sessions, $0.now.agent.clientTransactions, $0.now.agent.serverTransactions) = (5, 6, 7)
            ($0.now.agent.originals, $0.now.agent.registrations, $0.now.agent.timers) = (8, 9, 10)
            ($0.now.media.legs, $0.now.media.started, $0.now.media.sockets, $0.now.media.timers) = (11, 12, 13, 14)
            ($0.registrar.users, $0.registrar.contacts, $0.registrar.silent, $0.registrar.nonces) = (15, 16, 17, 18)
            ($0.transports.connections, $0.watchedSources, $0.questions) = (19, 20, 21)
            $0.now.agent.subscriptions = 22
        }
        let kinds = [
            "legs", "bridges", "calls", "gateway-timers", "dialogs", "client-transactions", "server-transactions", "requests",
            "trunk-registrations", "signalling-timers", "media-legs", "media-running", "media-sockets", "media-timers", "registered-users",
            "registered-contacts", "silent-contacts", "nonces", "connections", "watched-sources", "name-questions",
            "subscriptions",
        ]
        for (number, kind) in kinds.enumerated() {
            #expect(read.values["hookswitch_resources_open{kind=\"\(kind)\"}"] == Double(number + 1), "\(kind)")
        }
        #expect(read.values.keys.count { $0.hasPrefix("hookswitch_resources_open") } == kinds.count, "and there is no other kind")
    }

    @Test func `what the kernel relays is told, and why it came back`() throws {
        let read = try Self.metrics {
            ($0.now.media.relayed.armed, $0.now.media.relayed.packets) = (1, 2)
            ($0.now.media.relayed.takenForPacket, $0.now.media.relayed.takenForChange, $0.now.media.relayed.takenForStop) = (3, 4, 5)
            ($0.now.media.relayed.dropped.overRate, $0.now.media.relayed.dropped.noMemory) = (6, 7)
        }
        let names = [
            "directions", "packets_total", "taken_total{cause=\"packet\"}", "taken_total{cause=\"change\"}", "taken_total{cause=\"stop\"}",
            "dropped_total{cause=\"over-rate\"}", "dropped_total{cause=\"no-memory\"}",
        ]
        for (number, name) in names.enumerated() {
            #expect(read.values["hookswitch_kernel_relay_\(name)"] == Double(number + 1), "\(name)")
        }
    }

    @Test func `ports are told by state`() throws {
        let ports = try Self.metrics { figures in
            (figures.now.media.ports.free, figures.now.media.ports.reserved, figures.now.media.ports.open) = (1, 2, 3)
            (figures.now.media.ports.quarantined, figures.now.media.ports.taken) = (4, 5)
        }
        for (number, state) in ["free", "reserved", "open", "quarantined", "taken"].enumerated() {
            #expect(ports.values["hookswitch_media_ports{state=\"\(state)\"}"] == Double(number + 1), "\(state)")
        }
    }

    @Test(arguments: [false, true]) func `a gateway that drains says so`(isDraining: Bool) throws {
        #expect(try Self.metrics { $0.isDraining = isDraining }.values["hookswitch_draining"] == (isDraining ? 1 : 0))
    }

    @Test func `queues are told, with what became of their calls`() throws {
        let read = try Self.metrics { $0.queues = QueueTotals(waiting: 1, answered: 2, abandoned: 3, overflowed: 4) }.values
        #expect(read["hookswitch_queue_callers"] == 1)
        for (number, outcome) in ["answered", "abandoned", "overflowed"].enumerated() {
            #expect(read["hookswitch_queue_calls_total{outcome=\"\(outcome)\"}"] == Double(number + 2), "\(outcome)")
        }
    }

    @Test func `streams are told, with why they ended and what their programs did wrong`() throws {
        let before = try Self.metrics().values
        #expect(StreamEnd.allCases.allSatisfy { before["hookswitch_streams_ended_total{cause=\"\($0.rawValue)\"}"] == 0 })
        let read = try Self.metrics {
            ($0.streams.open, $0.streams.ends) = (1, [.hangUp: 2])
            ($0.streams.counts.malformed, $0.streams.counts.unknown, $0.streams.counts.underruns) = (3, 4, 5)
            ($0.streams.counts.marks, $0.streams.counts.unsent) = (6, 7)
            ($0.streams.counts.overflow, $0.streams.counts.missing) = (8, 9)
        }.values
        #expect(read["hookswitch_streams"] == 1 && read["hookswitch_streams_ended_total{cause=\"hang-up\"}"] == 2)
        for (number, kind) in ["malformed", "unknown", "underrun", "mark", "unsent"].enumerated() {
            #expect(read["hookswitch_stream_faults_total{kind=\"\(kind)\"}"] == Double(number + 3), "\(kind)")
        }
        #expect(read["hookswitch_stream_overflow_bytes_total"] == 8 && read["hookswitch_stream_silence_milliseconds_total"] == 9)
    }

    @Test func `every end of a call is there from the start, and no other`() throws {
        let before = try Self.metrics().values.filter { $0.key.hasPrefix("hookswitch_calls_ended_total") }
        #expect(before.count == 11 && before.values.allSatisfy { $0 == 0 })
        let after = try Self.metrics { $0.ends = ["remoteEnded": 7, "made-up": 9] }.values
        #expect(after["hookswitch_calls_ended_total{reason=\"remoteEnded\"}"] == 7)
        #expect(after.keys.count { $0.hasPrefix("hookswitch_calls_ended_total") } == 11)
    }

    @Test func `refusals, events and violations are counted by their names`() throws {
        let read = try Self.metrics {
            $0.refusals = [("ports", 3), ("source", 4)]
            $0.events = [(.mediaOpened, 5)]
            $0.violations = 6
        }.values
        #expect(read["hookswitch_refused_total{cause=\"ports\"}"] == 3 && read["hookswitch_refused_total{cause=\"source\"}"] == 4)
        #expect(read["hookswitch_events_total{kind=\"media.opened\"}"] == 5 && read["hookswitch_violations_total"] == 6)
    }

    @Test func `guessers are told with the user and the source`() throws {
        let read = try Self.metrics {
            $0.throttled = [(user: "10\"01", source: IPAddress("2001:db8::")!, count: 12), (user: "", source: .loopback, count: 13)]
        }.values
        #expect(read["hookswitch_wrong_passwords{user=\"10\"01\",source=\"2001:db8::\"}"] == 12)
        #expect(read["hookswitch_wrong_passwords{user=\"\",source=\"127.0.0.1\"}"] == 13)
    }

    @Test func `media of closed legs is told in packets, frames and seconds`() throws {
        let read = try Self.metrics {
            ($0.media.packetsSent, $0.media.packetsReceived, $0.media.packetsLost) = (1, 2, 3)
            ($0.media.lateFrames, $0.media.concealed, $0.media.oneWayLegs) = (4, 5_500, 6)
            ($0.media.refused.notStarted, $0.media.refused.stranger, $0.media.refused.malformed) = (11, 12, 13)
            ($0.media.refused.payloadType, $0.media.refused.outOfSequence, $0.media.refused.noReceiver) = (14, 15, 16)
            ($0.media.refused.forged, $0.media.refused.replayed, $0.media.refused.checks) = (17, 18, 19)
            ($0.media.refused.sendFailed, $0.media.refused.overRate) = (20, 21)
        }.values
        for (number, fate) in ["sent", "received", "lost"].enumerated() {
            #expect(read["hookswitch_rtp_packets_total{fate=\"\(fate)\"}"] == Double(number + 1), "\(fate)")
        }
        let causes = [
            "not-started", "stranger", "malformed", "payload-type", "out-of-sequence", "no-receiver", "forged", "replayed", "checks",
            "send-failed", "over-rate",
        ]
        for (number, cause) in causes.enumerated() {
            #expect(read["hookswitch_rtp_refused_total{cause=\"\(cause)\"}"] == Double(number + 11), "\(cause)")
        }
        #expect(read["hookswitch_late_frames_total"] == 4 && read["hookswitch_one_way_legs_total"] == 6)
        #expect(read["hookswitch_concealed_seconds_total"] == 5.5)
    }

    @Test func `connections and datagrams are told by what became of them`() throws {
        let read = try Self.metrics {
            ($0.transports.accepted, $0.transports.opened, $0.transports.refused) = (1, 2, 3)
            ($0.transports.malformed, $0.transports.handshakesFailed, $0.transports.failed) = (4, 5, 6)
            ($0.transports.datagrams.received, $0.transports.datagrams.sent, $0.transports.datagrams.oversized) = (11, 12, 13)
            ($0.transports.datagrams.congested, $0.transports.datagrams.sendFailures) = (14, 15)
            ($0.transports.datagrams.receiveFailures, $0.transports.datagrams.portUnreachable) = (16, 17)
        }.values
        for (number, event) in ["accepted", "opened", "refused", "malformed", "handshake-failed", "failed"].enumerated() {
            #expect(read["hookswitch_connections_total{event=\"\(event)\"}"] == Double(number + 1), "\(event)")
        }
        let events = ["received", "sent", "oversized", "congested", "send-failed", "receive-failed", "undelivered"]
        for (number, event) in events.enumerated() {
            #expect(read["hookswitch_datagrams_total{event=\"\(event)\"}"] == Double(number + 11), "\(event)")
        }
    }

    @Test func `a journal has figures, and none has none`() throws {
        var counts = JournalFile.Counts()
        (counts.writtenBytes, counts.lostBytes, counts.waitingBytes, counts.failures) = (1, 2, 3, 4)
        let read = try Self.metrics { $0.journal = counts }.values
        #expect(read["hookswitch_journal_bytes_total{fate=\"written\"}"] == 1 && read["hookswitch_journal_bytes_total{fate=\"lost\"}"] == 2)
        #expect(read["hookswitch_journal_waiting_bytes"] == 3 && read["hookswitch_journal_failures_total"] == 4)
        #expect(try Self.metrics().types.keys.allSatisfy { !$0.contains("journal") })
    }

    @Test func `the process has its processor time in seconds and its memory in bytes`() throws {
        let read = try Self.metrics().values
        #expect(read["process_cpu_seconds_total"] == 1.75 && read["hookswitch_peak_memory_bytes"] == 4_096)
    }

    @Test func `webhooks and the hook have figures, and none have none`() throws {
        var status = WebhookStatus(WebhookSettings(name: "crm", url: try #require(URL(string: "http://x/")), secrets: []))
        (status.deliveredCount, status.givenUpCount, status.gapCount, status.waiting) = (5, 2, 1, 7)
        status.failures = [.timeout: 3]
        status.oldest = 1_000_000_000
        var waits = FixedHistogram([0.1, 1])
        waits.add(0.5)
        let text = PrometheusText(.idle, service: ServiceFigures(webhooks: [status], hookWait: waits)).text
        let read = try Exposition(text).values
        #expect(read["hookswitch_webhook_events_taken_total{webhook=\"crm\"}"] == 5)
        #expect(
            read["hookswitch_webhook_events_given_up_total{webhook=\"crm\"}"] == 2
                && read["hookswitch_webhook_gaps_total{webhook=\"crm\"}"] == 1)
        #expect(read["hookswitch_webhook_events_waiting{webhook=\"crm\"}"] == 7)
        #expect(read["hookswitch_webhook_oldest_seconds{webhook=\"crm\"}"].map { $0 > 1_000_000 } == true)
        #expect(read["hookswitch_webhook_failures_total{webhook=\"crm\",cause=\"timeout\"}"] == 3)
        #expect(read["hookswitch_webhook_failures_total{webhook=\"crm\",cause=\"5xx\"}"] == 0)
        #expect(
            read["hookswitch_hook_wait_seconds_bucket{le=\"0.1\"}"] == 0 && read["hookswitch_hook_wait_seconds_bucket{le=\"1.0\"}"] == 1)
        #expect(!PrometheusText(.idle).text.contains("hook_") && !PrometheusText(.idle).text.contains("webhook"))
    }

    @Test func `only counters are named totals`() throws {
        let types = try Self.metrics { $0.journal = .init() }.types
        #expect(types.count == 37)
        for (name, type) in types { #expect(name.hasSuffix("_total") == (type == "counter"), "\(name)") }
    }
}
