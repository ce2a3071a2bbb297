import Primitives
import SDP

/// The demand on a description of the target's (RFC 3264).
enum AnswerCheck: Sendable {
    /// An answer (or offer) that can be read, whose first stream is audio with one of these formats, and which has so many streams.
    case audio(formats: [Text]? = nil, streams: Int? = nil)
    /// The first stream has one of these directions.
    case direction([Direction])
    /// The first stream is refused or taken away: port 0.
    case removed
    /// Every stream but the first is refused.
    case othersRemoved
    /// The session is that of the description before it, and its version the same or one more.
    case sameSession

    /// The expected description, in words.
    var expected: String {
        switch self {
        case .audio(let formats, let streams):
            "a description" + (streams.map { " of \($0) stream\($0 == 1 ? "" : "s")" } ?? "") + " with audio"
                + (formats.map { " in " + $0.map(\.description).joined(separator: " or ") } ?? "")
        case .direction(let directions): directions.map { "a=\($0.text)" }.joined(separator: " or ")
        case .removed: "port 0"
        case .othersRemoved: "port 0 for all but the audio"
        case .sameSession: "the o= line of before, with the same version or the next"
        }
    }

    /// Finds the fault of a description: what there is instead; nil when the description is as it should be.
    func fault(of body: [UInt8], after previous: [UInt8]?) -> String? {
        guard let description = try? SessionDescription(parsing: body), let audio = description.media.first else {
            return body.isEmpty ? "no description" : "a body that is no session description"
        }
        switch self {
        case .audio(let formats, let streams): return faultOfAudio(description, audio, formats, streams)
        case .direction(let allowed):
            let direction = Direction(of: audio, in: description)
            return allowed.contains(direction) ? nil : "a=\(direction.text)"
        case .removed: return audio.port == 0 ? nil : "port \(audio.port)"
        case .othersRemoved: return description.media.dropFirst().allSatisfy { $0.port == 0 } ? nil : "another stream that is not refused"
        case .sameSession: return faultOfSession(description.origin, previous.flatMap { try? SessionDescription(parsing: $0) }?.origin)
        }
    }

    private func faultOfAudio(_ description: SessionDescription, _ audio: SessionDescription.Media, _ formats: [Text]?, _ streams: Int?)
        -> String?
    {
        if let streams, description.media.count != streams { return "\(description.media.count) streams" }
        guard audio.kind == "audio" else { return "\(audio.kind) first" }
        guard audio.port != 0 else { return "audio that is refused (port 0)" }
        guard let formats, !audio.formats.contains(where: formats.contains) else { return nil }
        return "audio in " + audio.formats.map(\.description).joined(separator: " ")
    }

    private func faultOfSession(_ now: SessionDescription.Origin, _ before: SessionDescription.Origin?) -> String? {
        guard let before else { return nil }
        guard now.sessionID == before.sessionID, now.username == before.username else {
            return "session \(now.sessionID) after \(before.sessionID)"
        }
        guard let old = before.version.integer(UInt64.self), let new = now.version.integer(UInt64.self) else { return nil }
        return new == old || new == old &+ 1 ? nil : "version \(new) after \(old)"
    }
}

extension Direction {
    /// The attribute of the stream, else that of the session; without either both ways.
    fileprivate init(of media: SessionDescription.Media, in description: SessionDescription) {
        let known: [Direction] = [.sendrecv, .sendonly, .recvonly, .inactive]
        self = known.first { media.attribute($0.text) != nil } ?? known.first { description.attribute($0.text) != nil } ?? .sendrecv
    }
}
