import Gateway
import Streaming

/// Figures of the streams of programs.
extension MetricFamily {
    static let streams: [MetricFamily] = [
        single("hookswitch_streams", .gauge, "Streams of programs that are open or awaited.") { $0.figures.streams.open },
        counted(
            "hookswitch_streams_ended_total", "Streams of programs that ended, by cause.", by: "cause",
            StreamEnd.allCases.map { .init(name: $0.rawValue, meaning: $0.meaning) }
        ) { figures in StreamEnd.allCases.map { ($0.rawValue, figures.streams.ends[$0] ?? 0) } },
        counted(
            "hookswitch_stream_faults_total", "Faults of programs in streams that ended, by kind.", by: "kind",
            [
                .init(name: "malformed", meaning: "a message was not understood"),
                .init(name: "unknown", meaning: "a message was of a kind that nobody knows, or not for a program to send"),
                .init(name: "underrun", meaning: "sound came too late, and silence was put in"),
                .init(name: "mark", meaning: "a mark found no room"),
                .init(name: "unsent", meaning: "a piece of sound was left out, as the program did not read"),
            ]
        ) { figures in
            let counts = figures.streams.counts
            return [
                ("malformed", counts.malformed), ("unknown", counts.unknown), ("underrun", counts.underruns), ("mark", counts.marks),
                ("unsent", counts.unsent),
            ].map { ($0.0, UInt64($0.1)) }
        },
        single("hookswitch_stream_overflow_bytes_total", .counter, "Bytes of programs' sound that found no room, in streams that ended.") {
            $0.figures.streams.counts.overflow
        },
        single(
            "hookswitch_stream_silence_milliseconds_total", .counter,
            "Milliseconds of silence in place of sound that came too late, in streams that ended."
        ) { $0.figures.streams.counts.missing },
    ]
}

extension StreamEnd {
    fileprivate var meaning: String {
        switch self {
        case .callEnded: "the call ended, or went on without it"
        case .transferred: "the program handed the call on"
        case .closed: "the program closed the WebSocket"
        case .hangUp: "the program asked for the end of the call"
        case .detached: "somebody ended it by the control interface"
        case .unreachable: "no connection came to stand"
        case .refused: "the handshake was not taken"
        case .tls: "no TLS, or a certificate that is not believed"
        case .timeout: "the handshake, or the program, did not come in time"
        case .gone: "the connection broke"
        case .stalled: "the program did not read"
        case .nonsense: "the program broke the rules of WebSocket, or sent nonsense too often"
        }
    }
}
