import Audio
import Foundation
import Primitives
import Workbench

/// Calls as a person reads them.
enum CallText {
    /// Several lines, without a newline at the end.
    static func result(_ call: CallResult, recordedIn file: String? = nil) -> String {
        var lines = ["status    \(status(call))"]
        if let time = times(call) { lines.append("setup     \(time)") }
        if let packets = call.packets {
            lines.append("packets   \(figures(packets))\(call.codec.map { ", \($0)" } ?? "")\(encryption(call))")
        }
        if let audio = call.audio { lines.append("sound     \(figures(audio))") }
        if !call.digitsReceived.isEmpty { lines.append("keys      \(call.digitsReceived)") }
        if call.timesHeld > 0 { lines.append("held      \(call.timesHeld.counted("time", "times"))") }
        if let file { lines.append("recorded  \(file)") }
        lines.append("verdict   \(call.verdict.rawValue)")
        return lines.joined(separator: "\n")
    }

    static func status(_ call: CallResult) -> String {
        let code =
            switch (call.status, call.reason) {
            case (nil, _): "no call"
            case (let status?, ""): "\(status)"
            case (let status?, let reason): "\(status) \(reason)"
            }
        let length = call.duration.map { ", \(number($0 / 1_000)) s long" } ?? ""
        let ender =
            switch call.endedBy {
            case .us: ", ended by us"
            case .them: ", ended by the other side"
            case .nobody: ""
            }
        return code + length + ender + (call.failure.map { ": \($0)" } ?? "")
    }

    static func figures(_ packets: PacketFigures) -> String {
        var parts = ["\(packets.sent) sent", "\(packets.received) received"]
        if let percent = packets.lossPercent { parts.append("\(packets.lost.map { "\($0)" } ?? "all") lost (\(number(percent)) %)") }
        if let stopped = packets.stoppedAfter { parts.append("stopped after \(number(stopped / 1_000)) s") }
        if let jitter = packets.jitter { parts.append("jitter \(number(jitter)) ms") }
        if let roundTrip = packets.roundTrip { parts.append("round trip \(number(roundTrip)) ms") }
        if let lost = packets.remoteLost { parts.append("\(lost) of ours lost") }
        if let mos = packets.mos { parts.append("MOS \(number(mos))") }
        return parts.joined(separator: ", ")
    }

    private static func encryption(_ call: CallResult) -> String {
        switch call.encryption {
        case .sdes: ", SRTP (SDES)"
        case .dtls: ", SRTP (DTLS)"
        case .clear, nil: ""
        }
    }

    /// The loudness of a piece of sound.
    static func level(of samples: [Int16]) -> String {
        var meter = LevelMeter()
        meter.listen(to: samples.span)
        return meter.level.isFinite ? "hearing \(number(meter.level)) dB" : "hearing silence"
    }

    private static func times(_ call: CallResult) -> String? {
        let times = [call.setupTime.map { "ringing after \(number($0)) ms" }, call.answerTime.map { "answered after \(number($0)) ms" }]
            .compactMap(\.self)
        return times.isEmpty ? nil : times.joined(separator: ", ")
    }

    private static func figures(_ audio: AudioFigures) -> String {
        var parts = ["\(number(audio.secondsHeard)) s heard", audio.level.map { "\(number($0)) dB" } ?? "silence"]
        if let presence = audio.tonePresence { parts.append("the tone \(number(100 * presence)) % of the time") }
        if let correlation = audio.correlation {
            parts.append("\(number(100 * correlation)) % like what was expected" + (audio.delay.map { ", \(number($0)) ms later" } ?? ""))
        }
        return parts.joined(separator: ", ")
    }

    static func seconds(_ duration: Duration) -> String { number(Double(duration.wholeMilliseconds) / 1_000) + " s" }

    static func number(_ value: Double) -> String { String(format: "%.1f", value) }
}
