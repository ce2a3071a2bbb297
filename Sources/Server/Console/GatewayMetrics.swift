import Gateway
import Media
import Primitives
import Runtime
import UserAgent

extension PrometheusText {
    /// All figures of a gateway. Labels have a bounded number of values: causes, reasons and kinds that are written down here. A number or
    /// a name is in one
    /// family alone, and there are twenty of them at most: those whose passwords are being tried.
    public init(_ figures: GatewayFigures, usage: ProcessResources.Usage = ProcessResources.usage) {
        self.init()
        addNow(figures)
        addCalls(figures)
        addMedia(figures.media)
        addTransports(figures.transports)
        addJournal(figures)
        add("process_cpu_seconds_total", .counter, "Processor time.", (usage.user + usage.system) / .seconds(1))
        add("hookswitch_peak_memory_bytes", .gauge, "The largest resident size so far.", usage.peakMemory)
    }

    private mutating func addNow(_ figures: GatewayFigures) {
        let now = figures.now, agent = now.agent, media = now.media
        let open: [(String, Int)] = [
            ("legs", now.legs), ("bridges", now.bridges), ("calls", now.calls), ("gateway-timers", now.timers), ("dialogs", agent.sessions),
            ("client-transactions", agent.clientTransactions), ("server-transactions", agent.serverTransactions),
            ("requests", agent.originals),
            ("trunk-registrations", agent.registrations), ("signalling-timers", agent.timers), ("media-legs", media.legs),
            ("media-running", media.started),
            ("media-sockets", media.sockets), ("media-timers", media.timers), ("connections", figures.transports.connections),
            ("registered-users", figures.registrar.users), ("registered-contacts", figures.registrar.contacts),
            ("silent-contacts", figures.registrar.silent), ("nonces", figures.registrar.nonces),
            ("watched-sources", figures.watchedSources), ("name-questions", figures.questions),
        ]
        add("hookswitch_resources_open", .gauge, "What there is at the moment, by kind.", by: "kind", open)
        let ports = [
            ("free", media.ports.free), ("reserved", media.ports.reserved), ("open", media.ports.open),
            ("quarantined", media.ports.quarantined), ("taken", media.ports.taken),
        ]
        add("hookswitch_media_ports", .gauge, "Port numbers of the media range, by state.", by: "state", ports)
        add("hookswitch_draining", .gauge, "1 when no new call is taken.", figures.isDraining ? 1 : 0)
    }

    private mutating func addCalls(_ figures: GatewayFigures) {
        add(
            "hookswitch_calls_ended_total", .counter, "Calls that ended, by how.", by: "reason",
            Self.reasons.map { ($0, figures.ends[$0] ?? 0) })
        add(
            "hookswitch_refused_total", .counter, "What was turned away, by cause.", by: "cause",
            figures.refusals.map { ($0.cause, $0.count) })
        let guessed = figures.throttled.map {
            (labels: ["user": $0.user.description, "source": $0.source.description] as KeyValuePairs, value: $0.count)
        }
        add(
            "hookswitch_wrong_passwords", .gauge,
            "Wrong passwords of this minute, where they are too many: a user that is none of ours is empty.", guessed)
        add(
            "hookswitch_events_total", .counter, "Events of the journal, by kind.", by: "kind",
            figures.events.map { ($0.kind.rawValue, $0.count) })
        add("hookswitch_violations_total", .counter, "Broken rules of the contract.", figures.violations)
    }

    /// Every end there is, so that a reason is there from the start.
    private static let reasons = [
        "remoteEnded", "unanswered", "failed", "answeredElsewhere", "declinedElsewhere", "action", "endTimedOut", "startFailed",
        "startTimedOut", "answerFailed", "reset",
    ]

    private mutating func addMedia(_ media: MediaTotals) {
        let packets = [("sent", media.packetsSent), ("received", media.packetsReceived), ("lost", media.packetsLost)]
        add("hookswitch_rtp_packets_total", .counter, "RTP packets of legs that are closed.", by: "fate", packets)
        add(
            "hookswitch_rtp_refused_total", .counter, "Datagrams of legs that are closed that did not get through, by cause.", by: "cause",
            media.refused.byCause.map { ($0.cause, $0.count) })
        add("hookswitch_late_frames_total", .counter, "Frames made here that left 20 ms or more too late.", media.lateFrames)
        add(
            "hookswitch_concealed_seconds_total", .counter, "Sound made up in place of lost and late packets.",
            Double(media.concealed) / 1_000)
        add("hookswitch_one_way_legs_total", .counter, "Legs of which only one direction was heard.", media.oneWayLegs)
    }

    private mutating func addTransports(_ counts: Transports.Counts) {
        let connections = [
            ("accepted", counts.accepted), ("opened", counts.opened), ("refused", counts.refused), ("malformed", counts.malformed),
            ("handshake-failed", counts.handshakesFailed), ("failed", counts.failed),
        ]
        add("hookswitch_connections_total", .counter, "SIP connections, by what became of them.", by: "event", connections)
        let datagrams = [
            ("received", counts.datagrams.received), ("sent", counts.datagrams.sent), ("oversized", counts.datagrams.oversized),
            ("congested", counts.datagrams.congested), ("send-failed", counts.datagrams.sendFailures),
            ("receive-failed", counts.datagrams.receiveFailures),
            ("undelivered", counts.datagrams.undelivered),
        ]
        add("hookswitch_datagrams_total", .counter, "SIP datagrams, by what became of them.", by: "event", datagrams)
    }

    private mutating func addJournal(_ figures: GatewayFigures) {
        guard let journal = figures.journal else { return }
        let bytes = [("written", journal.writtenBytes), ("lost", journal.lostBytes)]
        add("hookswitch_journal_bytes_total", .counter, "Bytes of the journal, by fate.", by: "fate", bytes)
        add("hookswitch_journal_waiting_bytes", .gauge, "Bytes of the journal that wait for the disk.", journal.waitingBytes)
        add("hookswitch_journal_failures_total", .counter, "Writes of the journal that failed.", journal.failures)
    }
}
