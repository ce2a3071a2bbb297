import CallJournal
import Foundation

/// A journal in a folder of its own: a call of line 1001 that was joined with one of line 1002 and is over, and a call of line 1003 that is
/// up.
final class WrittenJournal {
    static let run = "01234567"
    static let (first, second, third) = (
        "0A000000-0000-4000-8000-000000000001", "0B000000-0000-4000-8000-000000000002", "0C000000-0000-4000-8000-000000000003"
    )

    let folder: URL
    var path: String { folder.appending(path: "journal.jsonl").path }
    var recording: String { folder.appending(path: "call.wav").path }
    private var sequence = 0

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "journal-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try write(story())
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func write(_ lines: [String]) throws { try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: URL(filePath: path)) }

    /// The file is put aside, and another run begins a new one.
    func rotate() throws {
        try? FileManager.default.moveItem(atPath: path + ".1", toPath: path + ".2")
        try FileManager.default.moveItem(atPath: path, toPath: path + ".1")
        sequence = 0
        try write([line(.gatewayStarted, nil, "", #""run":"89abcdef00000000""#), line(.callRefused, Self.third, "1003", #""status":503"#)])
    }

    func line(_ kind: JournalEvent.Kind, _ call: String?, _ line: String, _ details: String = "") -> String {
        sequence += 1
        let subject = (call.map { #","call":"\#($0)""# } ?? "") + (line.isEmpty ? "" : #","line":"\#(line)""#)
        let told = details.isEmpty ? "" : #","details":{\#(details)}"#
        let wall = 1_795_717_440_000 + sequence
        return
            #"{"seq":\#(sequence),"t":\#(sequence)000000,"wall":\#(wall)000000\#(subject),"lane":"s0","kind":"\#(kind.rawValue)"\#(told)}"#
    }

    private func story() -> [String] {
        let (first, second, third) = (Self.first, Self.second, Self.third)
        let from = #""callid":"a@x","from":"sip:\#("<script>")@x","to":"sip:1001@x""#
        func invite(_ id: String) -> String { #""method":"INVITE","cseq":1,"callid":"\#(id)","transport":"udp","remote":"192.0.2.7:5060""# }
        func answer(_ id: String, _ status: Int) -> String { #""method":"INVITE","status":\#(status),"cseq":1,"callid":"\#(id)""# }
        return [
            line(.gatewayStarted, nil, "", #""run":"\#(Self.run)89abcdef","version":"1.2.3""#),
            line(.inviteReceived, first, "1001", from), line(.sipReceived, first, "1001", invite("a@x")),
            line(.reportIncoming, first, "1001", #""remote":"<script>""#), line(.reportIncomingAccepted, first, "1001"),
            line(.performStart, second, "1002", #""remote":"1002""#),
            line(.performGroup, second, "1002", #""action":"\#(first)","with":"\#(first)""#),
            line(.sipSent, second, "1002", invite("b@x")), line(.sipReceived, second, "1002", answer("b@x", 200)),
            line(.sipSent, first, "1001", answer("a@x", 200)), line(.mediaOpened, first, "1001", #""port":20000,"codec":"opus""#),
            line(.mediaStarted, first, "1001"), line(.recordingStarted, first, "1001", #""text":"\#(recording)""#),
            line(.reportIncoming, third, "1003"), line(.inviteReceived, third, "1003", #""callid":"c@x""#),
            line(.sipReceived, third, "1003", invite("c@x")),
            line(
                .mediaStopped, first, "1001",
                #""packets":100,"received":99,"incoming":"heard","outgoing":"nothing","loss":67,"mos":437,"jitter":900,"roundTrip":4000"#),
            line(.recordingEnded, first, "1001", #""count":0"#), line(.callEnded, second, "1002", #""reason":"remoteEnded""#),
            line(.callEnded, first, "1001", #""reason":"remoteEnded""#),
        ]
    }
}
