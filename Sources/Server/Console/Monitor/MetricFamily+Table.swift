import Gateway
import Media
import Primitives
import Runtime
import UserAgent

/// All figures of a gateway. Labels have a bounded number of values: causes, reasons and kinds that are written down here. Numbers and
/// names are in one family alone, twenty at most, those whose passwords are being tried; and there are twenty webhooks at most.
extension MetricFamily {
    public static let all: [MetricFamily] = now + calls + streams + media + sockets + journal + trace + service + api + process

    private static let now: [MetricFamily] = [
        labelled("hookswitch_resources_open", .gauge, "Open resources at the moment, by kind.", by: "kind", resources),
        labelled(
            "hookswitch_media_ports", .gauge, "Port numbers of the media range, by state.", by: "state",
            [
                ("free", { $0.now.media.ports.free }), ("reserved", { $0.now.media.ports.reserved }), ("open", { $0.now.media.ports.open }),
                ("quarantined", { $0.now.media.ports.quarantined }), ("taken", { $0.now.media.ports.taken }),
            ]),
        single(
            "hookswitch_trunk_leases", .gauge,
            "Trunks that this gateway registers and checks, of those that gateways with one database share."
        ) { $0.figures.heldTrunks },
        single("hookswitch_draining", .gauge, "1 when no new call is taken.") { $0.figures.isDraining ? 1 : 0 },
    ]

    private static let resources: [Figure] = [
        ("legs", { $0.now.legs }), ("bridges", { $0.now.bridges }), ("calls", { $0.now.calls }), ("gateway-timers", { $0.now.timers }),
        ("dialogs", { $0.now.agent.sessions }), ("client-transactions", { $0.now.agent.clientTransactions }),
        ("server-transactions", { $0.now.agent.serverTransactions }), ("requests", { $0.now.agent.originals }),
        ("subscriptions", { $0.now.agent.subscriptions }),
        ("trunk-registrations", { $0.now.agent.registrations }), ("signalling-timers", { $0.now.agent.timers }),
        ("media-legs", { $0.now.media.legs }), ("media-running", { $0.now.media.started }), ("media-sockets", { $0.now.media.sockets }),
        ("media-timers", { $0.now.media.timers }), ("connections", { $0.transports.connections }),
        ("registered-users", { $0.registrar.users }), ("registered-contacts", { $0.registrar.contacts }),
        ("silent-contacts", { $0.registrar.silent }), ("nonces", { $0.registrar.nonces }), ("watched-sources", { $0.watchedSources }),
        ("name-questions", { $0.questions }),
    ]

    /// Answers by status. Statuses beside those that are named go by their class.
    private static func answered(
        _ name: String, _ help: String, _ named: [Int], _ counts: @escaping @Sendable (GatewayFigures) -> [Int: UInt64]
    )
        -> MetricFamily
    {
        let names = named.map(String.init) + (2...6).map { "\($0)xx" }
        return counted(name, help, by: "status", names.map { .init(name: $0) }) { figures in
            var sums: [String: UInt64] = [:]
            for (status, count) in counts(figures) { sums[named.contains(status) ? "\(status)" : "\(status / 100)xx", default: 0] += count }
            return names.map { ($0, sums[$0] ?? 0) }
        }
    }

    private static let calls: [MetricFamily] = [
        answered(
            "hookswitch_answers_total", "Final answers to INVITEs from outside, by status.",
            [200, 401, 403, 404, 408, 480, 482, 484, 486, 487, 488, 500, 503, 600, 603, 607, 608]
        ) { $0.answers.byStatus },
        single("hookswitch_setup_seconds", .histogram, "Time from an INVITE from outside to its 200, ringing included.") {
            $0.figures.answers.setup
        },
        answered(
            "hookswitch_registrations_total", "Answers to REGISTER requests, by status; 401 asks for the password.",
            [200, 401, 403, 423, 503]
        ) { $0.registrations },
        counted("hookswitch_calls_ended_total", "Calls that ended, by how.", by: "reason", reasons.map { .init(name: $0) }) { figures in
            reasons.map { ($0, figures.ends[$0] ?? 0) }
        },
        counted("hookswitch_refused_total", "Requests and calls that were refused, by cause.", by: "cause", causes) {
            figures in
            figures.refusals.map { ($0.cause, $0.count) }
        },
        MetricFamily(
            name: "hookswitch_wrong_passwords", kind: .gauge,
            help: "Wrong passwords of this minute, where they are too many: a user that is none of ours is empty.",
            labels: [Label(name: "user"), Label(name: "source")]
        ) { source in
            source.figures.throttled.map { Sample(labels: [$0.user.description, $0.source.description], value: $0.count) }
        },
        counted(
            "hookswitch_events_total", "Events of the journal, by kind.", by: "kind",
            JournalEvent.Kind.allCases.map { .init(name: $0.rawValue) }
        ) { figures in figures.events.map { ($0.kind.rawValue, $0.count) } },
        single("hookswitch_queue_callers", .gauge, "Callers that wait in queues.") { $0.figures.queues.waiting },
        counted(
            "hookswitch_queue_calls_total", "Calls to queues, by what became of them.", by: "outcome",
            [
                .init(name: "answered", meaning: "a member took the call"), .init(name: "abandoned", meaning: "the caller hung up"),
                .init(name: "overflowed", meaning: "the queue was full, or the caller waited too long"),
            ]
        ) { figures in
            let totals = figures.queues
            return [("answered", totals.answered), ("abandoned", totals.abandoned), ("overflowed", totals.overflowed)]
        },
        single("hookswitch_violations_total", .counter, "Broken rules of the contract.") { $0.figures.violations },
    ]

    /// Every end there is, so that a reason is there from the start.
    private static let reasons = [
        "remoteEnded", "unanswered", "failed", "answeredElsewhere", "declinedElsewhere", "action", "endTimedOut", "startFailed",
        "startTimedOut", "answerFailed", "reset",
    ]

    /// As the gateway counts them.
    private static let causes: [Label.Value] = [
        .init(name: "legs", meaning: "more legs than `limits.legs`"),
        .init(name: "call-rate", meaning: "more calls in a second than `limits.calls-per-second`"),
        .init(name: "source", meaning: "more requests of one source in a second than `limits.requests-per-source`"),
        .init(name: "backlog", meaning: "messages lay unread for longer than `limits.backlog`"),
        .init(name: "ports", meaning: "no media port was left"),
        .init(name: "port-taken", meaning: "another program had the media port"),
        .init(name: "stranger", meaning: "nobody that we know, under `access.silent`"),
        .init(name: "questions", meaning: "too many queries to DNS at a time"),
        .init(name: "wakes", meaning: "too many calls that wait for sleeping devices"),
        .init(name: "wrong-password", meaning: "a password was wrong"),
        .init(name: "throttled", meaning: "wrong passwords above `access.guesses-per-user` or `access.guesses-per-source`"),
        .init(name: "users", meaning: "more registered users than there is room for"),
        .init(name: "contacts", meaning: "more contacts of one user than there is room for"),
        .init(name: "unreadable", meaning: "no SIP message"),
        .init(name: "malformed", meaning: "a SIP request that breaks the rules of its form"),
        .init(name: "transactions", meaning: "more transactions than there is room for"),
        .init(name: "sessions", meaning: "more dialogs than there is room for"),
        .init(name: "forks", meaning: "more early dialogs of one call than there is room for"),
        .init(name: "subscriptions", meaning: "more subscriptions than there is room for"),
    ]

    private static let media: [MetricFamily] = [
        labelled(
            "hookswitch_rtp_packets_total", .counter, "RTP packets of legs that are closed.", by: "fate",
            [("sent", { $0.media.packetsSent }), ("received", { $0.media.packetsReceived }), ("lost", { $0.media.packetsLost })]),
        counted(
            "hookswitch_rtp_refused_total", "Datagrams of legs that are closed that did not get through, by cause.", by: "cause",
            MediaTotals().refused.byCause.map { .init(name: $0.cause) }
        ) { figures in figures.media.refused.byCause.map { ($0.cause, $0.count) } },
        single("hookswitch_kernel_relay_directions", .gauge, "Directions of bridged calls that the kernel relays at the moment.") {
            $0.figures.now.media.relayed.armed
        },
        single("hookswitch_kernel_relay_packets_total", .counter, "RTP packets that the kernel relayed, as far as it was asked.") {
            $0.figures.now.media.relayed.packets
        },
        labelled(
            "hookswitch_kernel_relay_dropped_total", .counter, "RTP packets that the kernel dropped, as far as it was asked, by cause.",
            by: "cause",
            [
                ("over-rate", { $0.now.media.relayed.dropped.overRate }), ("no-memory", { $0.now.media.relayed.dropped.noMemory }),
            ]),
        labelled(
            "hookswitch_kernel_relay_taken_total", .counter,
            "Directions that came back from the kernel, by cause: a packet that it leaves alone, a change of the bridge, its end.",
            by: "cause",
            [
                ("packet", { $0.now.media.relayed.takenForPacket }), ("change", { $0.now.media.relayed.takenForChange }),
                ("stop", { $0.now.media.relayed.takenForStop }),
            ]),
        single("hookswitch_late_frames_total", .counter, "Frames made here that left 20 ms or more too late.") {
            $0.figures.media.lateFrames
        },
        single("hookswitch_concealed_seconds_total", .counter, "Sound made up in place of lost and late packets.") {
            Double($0.figures.media.concealed) / 1_000
        },
        labelled(
            "hookswitch_rtp_loss_ratio", .histogram, "Share of RTP packets that were lost, of each leg that is closed, by direction.",
            by: "direction", [("received", { $0.media.received.loss }), ("sent", { $0.media.sent.loss })]),
        labelled(
            "hookswitch_rtp_jitter_seconds", .histogram, "Interarrival jitter as it was last, of each leg that is closed, by direction.",
            by: "direction", [("received", { $0.media.received.jitter }), ("sent", { $0.media.sent.jitter })]),
        labelled(
            "hookswitch_mos", .histogram, "MOS of conversation (ITU-T G.107) of each leg that is closed, by direction.", by: "direction",
            [("received", { $0.media.received.score }), ("sent", { $0.media.sent.score })]),
        single("hookswitch_one_way_legs_total", .counter, "Legs of which only one direction was heard.") { $0.figures.media.oneWayLegs },
    ]

    private static let sockets: [MetricFamily] = [
        labelled(
            "hookswitch_connections_total", .counter, "SIP connections, by what became of them.", by: "event",
            [
                ("accepted", { $0.transports.accepted }), ("opened", { $0.transports.opened }), ("refused", { $0.transports.refused }),
                ("malformed", { $0.transports.malformed }), ("handshake-failed", { $0.transports.handshakesFailed }),
                ("failed", { $0.transports.failed }),
            ]),
        labelled(
            "hookswitch_datagrams_total", .counter, "SIP datagrams, by what became of them.", by: "event",
            [
                ("received", { $0.transports.datagrams.received }), ("sent", { $0.transports.datagrams.sent }),
                ("oversized", { $0.transports.datagrams.oversized }), ("congested", { $0.transports.datagrams.congested }),
                ("send-failed", { $0.transports.datagrams.sendFailures }),
                ("receive-failed", { $0.transports.datagrams.receiveFailures }),
                ("undelivered", { $0.transports.datagrams.portUnreachable }),
            ]),
    ]

    private static let journal: [MetricFamily] = [
        labelled(
            "hookswitch_journal_bytes_total", .counter, "Bytes of the journal, by fate.", by: "fate",
            [("written", { $0.journal?.writtenBytes }), ("lost", { $0.journal?.lostBytes })]),
        single("hookswitch_journal_waiting_bytes", .gauge, "Bytes of the journal that wait for the disk.") {
            $0.figures.journal?.waitingBytes
        },
        single("hookswitch_journal_failures_total", .counter, "Writes of the journal that failed.") { $0.figures.journal?.failures },
    ]

    private static let trace: [MetricFamily] = [
        labelled(
            "hookswitch_trace_messages_total", .counter,
            "SIP messages of the trace, by fate; in the file with the RTP that `trace.rtp` asks for.", by: "fate",
            [
                ("written", { $0.trace?.passed[.file] }), ("not-written", { $0.trace?.dropped[.file] }),
                ("sent", { $0.trace?.passed[.hep] }), ("not-sent", { $0.trace?.dropped[.hep] }),
            ])
    ]

    private static let process: [MetricFamily] = [
        MetricFamily(
            name: "hookswitch_build_info", kind: .gauge,
            help: "1, with the version of the program, and the name of this gateway among others.",
            labels: [
                Label(name: "version", meaning: "as `--version` says it"),
                Label(name: "node", meaning: "the setting `node`, or the machine's name; empty without either"),
            ]
        ) { source in source.figures.version.map { [Sample(labels: [$0.description, source.service.node], value: 1)] } },
        single("process_cpu_seconds_total", .counter, "Processor time.") { ($0.usage.user + $0.usage.system) / .seconds(1) },
        single("hookswitch_peak_memory_bytes", .gauge, "The largest resident size so far.") { $0.usage.peakMemory },
    ]
}
