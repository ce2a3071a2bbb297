import Primitives
import UserAgent

/// The trace of SIP messages.
struct TraceSettings {
    /// A pcapng file; nil: none is written.
    var file: String?
    /// Bytes after which the file is put aside and a new one begun.
    var rotation = TraceFile.usualRotation
    /// Bytes of messages that are kept in memory.
    var memory = MessageTrace.usualCapacity
    /// The part of RTP that stands in the file.
    var media = Media.none
    enum Media: String, CaseIterable { case none, headers, whole }
    /// The collector that gets messages by HEP; nil: none.
    var collector: SocketAddress?
    /// The number by which the collector knows us.
    var capture: UInt32 = 2001
}

extension Setting {
    static let trace: [Setting] = [
        Setting(
            path: "trace.file", takes: "file", default: .unset("no file is written"),
            help:
                "pcapng file of all SIP messages, without passwords and keys, for 'hookswitch trace', sngrep and Wireshark; --trace for short"
        ) { $0.trace.file = try $1.text },
        Setting(
            path: "trace.rotate", takes: "megabytes", default: .value("64"),
            help: "size at which a new file is begun; five old ones are kept"
        ) { $0.trace.rotation = try $1.integer(1...1_000_000) << 20 },
        Setting(
            path: "trace.memory", takes: "megabytes", default: .value("32"), help: "messages in memory; more are dropped, and counted"
        ) { $0.trace.memory = try $1.integer(1...4_096) << 20 },
        Setting(
            path: "trace.rtp", takes: "none|headers|whole", default: .value("none"),
            help: "RTP in the trace's file: none, without the sound, or with it; where there is some, RTCP is there, too"
        ) { $0.trace.media = TraceSettings.Media(rawValue: try $1.oneOf(TraceSettings.Media.allCases.map(\.rawValue))) ?? .none },
        Setting(
            path: "trace.hep", takes: "address", default: .unset("nothing is sent"),
            help: "Homer or sngrep that gets all SIP messages by HEP version 3 over UDP (port 9060); --hep for short"
        ) { $0.trace.collector = try $1.server(9060) },
        Setting(
            path: "trace.hep-id", takes: "number", default: .value("2001"), help: "the capture agent that we are to the collector"
        ) { $0.trace.capture = UInt32(try $1.integer(0...0xFFFF_FFFF)) },
    ]
}
