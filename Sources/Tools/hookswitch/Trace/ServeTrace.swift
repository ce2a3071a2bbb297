import Logging
import Primitives
import Runtime
import UserAgent

/// The trace of a running server: what its configuration asks for.
enum ServeTrace {
    /// nil where nobody wants messages.
    static func make(_ configuration: ServeConfiguration, _ log: NoticeLog) throws -> MessageTrace? {
        let settings = configuration.trace
        var sinks: [any TraceSink] = []
        if let path = settings.file { sinks.append(try file(path, settings, log)) }
        if let collector = settings.collector {
            do throws(SocketError) { sinks.append(try HEPSender(to: collector, capture: settings.capture)) } catch {
                throw Failure.cannotRun("\(configuration.place(of: "trace.hep")): \(error)")
            }
        }
        if NoticeLog.level(configuration.log.level) <= .debug { sinks.append(TraceLog(log)) }
        return sinks.isEmpty ? nil : MessageTrace(capacity: settings.memory, sinks: sinks)
    }

    /// nil where no media is wanted.
    static func mediaTap(_ configuration: ServeConfiguration, _ trace: MessageTrace) -> MediaTap? {
        configuration.trace.media == .none ? nil : MediaTap(trace, isWhole: configuration.trace.media == .whole)
    }

    private static func file(_ path: String, _ settings: TraceSettings, _ log: NoticeLog) throws -> TraceFile {
        do throws(TraceFile.FileError) {
            return try TraceFile(path: path, program: "hookswitch \(Hookswitch.version)", rotation: settings.rotation) { cause in
                log.say(.error, "the trace cannot be written, and messages are missing in it: \(cause)")
            }
        } catch { throw Failure.cannotRun("the trace: \(error)") }
    }
}

/// The messages of a trace as lines of the log: their first lines, whom they are from or for, and nothing else of them.
final class TraceLog: TraceSink {
    let output = TraceOutput.log
    private let log: NoticeLog

    init(_ log: NoticeLog) { self.log = log }

    func take(_ messages: [TracedMessage], missed: Int) -> Int {
        if missed > 0 { log.say(.warning, "\(missed) messages are missing here: there were too many") }
        for message in messages {
            let isReceived = message.direction == .received, line = message.firstLine.description, callID = message.callID?.description
            log.say(
                .debug,
                "\(message.transport) \(isReceived ? "from" : "to") \(message.remote): \(line)\(callID.map { ", Call-ID \($0)" } ?? "")",
                [
                    ("event", "message"), ("direction", isReceived ? "received" : "sent"), ("transport", "\(message.transport)"),
                    ("remote", "\(message.remote)"), ("line", .init(line)), ("callID", .init(callID)),
                ])
        }
        return 0
    }

    func finish() {}
}
