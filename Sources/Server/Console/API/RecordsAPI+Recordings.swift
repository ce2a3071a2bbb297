import CallJournal
import Foundation
import HTTP
import Primitives

/// A recording as `/v1/recordings` shows it.
struct RecordingBody: Encodable, Sendable {
    /// The position of its beginning in the journal: a name that leads to no other file.
    var id: String
    var call: String, line: String
    var began: String, ended: String?
    /// Why it ended before its call.
    var cause: String?
    /// The name of the file, without its folder.
    var file: String
    var type: String
    /// Bytes.
    var size: Int
    /// The gateway that has it, where several are asked.
    var node: String?
}

// Files of sound that the journal tells of and that are still there. Those of lines that the token does not cover are not there.
extension RecordsAPI {
    struct Recordings: Encodable {
        var recordings: [RecordingBody]
        var nodes: [NodeBody]?
    }
    private static let usualRecordings = 100, mostRecordings = 1_000

    func addRecordings(to routes: inout HTTPRoutes) {
        routes.on(.get, "/v1/recordings") { [unowned self] ask, responder in
            api.answer(ask, responder) { () throws(Problem) in try list(ask, responder) }
        }
        routes.on(.get, "/v1/recordings/{recording}") { [unowned self] ask, responder in
            withRecording(ask, responder) { recording, responder, now in
                let file = HTTPFile(path: recording.path)
                guard let file else { return responder.reply(Problem.notFound("the file of this recording is gone").reply, at: now) }
                SoundReply.send(file, of: recording.path, ask.request, responder, at: now)
            }
        }
        routes.on(.delete, "/v1/recordings/{recording}") { [unowned self] ask, responder in
            withRecording(ask, responder) { recording, responder, now in
                guard recording.ended != nil else {
                    return responder.reply(Problem(.conflict, "recordingGoesOn", "the recording is not complete").reply, at: now)
                }
                let isGone = unlink(recording.path) == 0
                let problem = Problem.notFound("the file of this recording cannot be removed")
                responder.reply(isGone ? HTTPReply(.noContent) : problem.reply, at: now)
            }
        }
    }

    private func list(_ ask: HTTPAsk, _ responder: HTTPResponder) throws(Problem) -> HTTPReply? {
        guard let journal else { throw .noJournal }
        let target = ask.request.target, run = journalRun
        let limit = try Self.number(target, "limit", usual: Self.usualRecordings, in: 1...Self.mostRecordings)
        let call = try target["call"].map { text throws(Problem) in
            guard let uuid = UUID(uuidString: text) else { throw .badRequest("call: '\(text)' is no UUID") }
            return CallUUID(uuid)
        }
        let line = target["line"].map { Text($0) }, lines = ask.grant.lines
        return try work(responder) {
            do throws(JournalFileError) {
                let found = try journal.recordings(lines: lines, most: limit, run) { recording in
                    (line.map { $0 == recording.line } ?? true) && (call.map { $0 == recording.call } ?? true)
                        && access(recording.path, F_OK) == 0
                }
                return .success(JSONBody.reply(.ok, Recordings(recordings: found.reversed().compactMap(RecordingBody.init))))
            } catch { return .failure(Problem(error)) }
        }
    }

    private func withRecording(
        _ ask: HTTPAsk, _ responder: HTTPResponder, _ body: @escaping @Sendable (JournaledRecording, HTTPResponder, Instant) -> Void
    ) {
        api.answer(ask, responder) { () throws(Problem) in
            let id = ask.parameters["recording"] ?? "", lines = ask.grant.lines, run = journalRun
            guard let position = EventPosition(id) else { throw .badRequest("'\(id)' is no recording, as 0123abcd.42") }
            guard let journal else { throw .noJournal }
            guard jobs.hasRoom else { throw .busy }
            let later = api.park(responder)
            jobs.perform {
                let found = Result { () throws(JournalFileError) in
                    try journal.recordings(lines: lines, most: 1, run) { $0.position == position.description }.first
                }
                later { responder, now in
                    switch found {
                    case .success(let recording?): body(recording, responder, now)
                    case .success(nil): responder.reply(Problem.notFound("there is no recording \(position)").reply, at: now)
                    case .failure(let error): responder.reply(Problem(error).reply, at: now)
                    }
                }
            }
            return nil
        }
    }
}

extension RecordingBody {
    /// nil where the file is gone.
    init?(_ recording: JournaledRecording) {
        var status = stat()
        guard stat(recording.path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        (id, call, line) = (recording.position, recording.call.description, recording.line.description)
        (began, ended) = (Timestamp(recording.began).description, recording.ended.map { Timestamp($0).description })
        cause = recording.cause?.description
        (file, type, size) = (SoundReply.name(of: recording.path), SoundReply.type(of: recording.path), Int(status.st_size))
    }
}
