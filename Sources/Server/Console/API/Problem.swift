import CallKit
import Foundation
import Gateway
import HTTP

/// Why a request was not done (RFC 9457).
struct Problem: Error, Encodable, Equatable {
    let type: String
    let title: String
    let status: Int
    let detail: String
    /// The name of the cause, for programs: that of CallKit's error where it is one.
    let code: String
    /// The oldest event that is kept, where a position is gone.
    var oldest: String?

    /// - Parameters:
    ///   - code: for programs.
    ///   - detail: a sentence for a person.
    init(_ status: HTTPResponse.Status, _ code: String, _ detail: String) {
        (type, title, self.status) = ("urn:hookswitch:problem:\(code)", status.reasonPhrase, status.code)
        (self.code, self.detail) = (code, detail)
    }

    var reply: HTTPReply {
        var reply = HTTPReply(.init(code: status, reasonPhrase: title), body: JSONBody.encode(self), type: "application/problem+json")
        if self == .busy || self == .tooManyReplays { reply.fields[.retryAfter] = "1" }
        return reply
    }

    static func notFound(_ what: String) -> Problem { Problem(.notFound, "notFound", what) }
    static func badRequest(_ detail: String) -> Problem { Problem(.badRequest, "badRequest", detail) }

    /// The problem of a request that no route answers.
    init(unanswered status: HTTPResponse.Status) {
        let detail =
            switch status {
            case .notFound: "there is no such path: /v1/openapi.json has those that there are"
            case .methodNotAllowed: "the path does not take this method: Allow has those that it takes"
            default: "the request is not as HTTP has it, or too large"
            }
        let words = status.reasonPhrase.split(separator: " ")
        self.init(status, words.dropFirst().reduce(words.first?.lowercased() ?? "") { $0 + $1 }, detail)
    }

    static let busy = Problem(.serviceUnavailable, "busy", "too many read the journal at the same time: ask again in a second")
    static let tooManyReplays = Problem(
        .serviceUnavailable, "tooManyReplays",
        "\(EventReaders.mostReplays) read older events from the journal's files already: ask again in a second")
    static let noJournal = Problem(.conflict, "noJournal", "no journal is written: the setting journal.file turns it on")
    static let notRunning = Problem(.serviceUnavailable, "notRunning", "the gateway does not run yet, or has stopped")
}

extension Result<HTTPReply, Problem> {
    var reply: HTTPReply {
        switch self {
        case .success(let reply): reply
        case .failure(let problem): problem.reply
        }
    }
}

extension Problem {
    init(_ error: TransactionOrderError) {
        switch error {
        case .noLine(let number): self.init(.notFound, "noLine", "there is no line \(number)")
        case .refused(let code): self.init(.conflict, "\(code)", Self.words(code))
        case .start(let error): self.init(.conflict, Self.code(error), error.description)
        case .stopped: self = .notRunning
        }
    }

    private static func words(_ code: CXErrorCodeRequestTransactionError.Code) -> String {
        switch code {
        case .emptyTransaction: "the transaction has no actions"
        case .unknownCallUUID: "the line has no such call"
        case .callUUIDAlreadyExists: "there is a call with this UUID already, or there was one"
        case .invalidAction: "the call is not in a state in which this can be done"
        case .maximumCallGroupsReached: "the line has as many calls as it may"
        case .unknownCallProvider: "the line has no provider"
        case .unentitled: "the line may not do this"
        case .callIsProtected: "the call is protected"
        case .unknown: "the line's system refused it"
        }
    }

    private static func code(_ error: CallRequestError) -> String {
        switch error {
        case .noLine: "noLine"
        case .noRecentCall: "noRecentCall"
        case .handleTypeUnsupported: "handleTypeUnsupported"
        case .noRoute: "noRoute"
        case .noDevice: "noDevice"
        case .video: "video"
        case .secure: "secure"
        case .noRoom: "noRoom"
        }
    }
}

/// Content in JSON.
enum JSONBody {
    static func encode(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else { preconditionFailure("what we answer can be encoded") }
        return Array(data)
    }

    static func reply(_ status: HTTPResponse.Status = .ok, _ value: some Encodable) -> HTTPReply {
        HTTPReply(status, body: encode(value), type: "application/json", fields: [.cacheControl: "no-store"])
    }

    /// - Parameter schema: the name of the content's schema: members that it does not have are refused.
    /// - Throws: a problem that says where the content is wrong.
    static func decode<Value: Decodable>(_ type: Value.Type, _ body: [UInt8], as schema: String) throws(Problem) -> Value {
        try UnknownMembers.check(body, schema)
        do { return try JSONDecoder().decode(type, from: Data(body)) } catch let error as DecodingError {
            throw .badRequest(words(error))
        } catch { throw .badRequest("the content is no JSON") }
    }

    private static func words(_ error: DecodingError) -> String {
        func place(_ context: DecodingError.Context) -> String {
            let path = context.codingPath.reduce(into: "") { text, key in
                text += key.intValue.map { "[\($0)]" } ?? (text.isEmpty ? key.stringValue : ".\(key.stringValue)")
            }
            return path.isEmpty ? "the content" : path
        }
        switch error {
        case .dataCorrupted(let context):
            return context.codingPath.isEmpty ? "the content is no JSON" : "\(place(context)): \(context.debugDescription)"
        case .keyNotFound(let key, let context):
            let path = place(context)
            return "\(path == "the content" ? key.stringValue : "\(path).\(key.stringValue)") is missing"
        case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
            return "\(place(context)) must be \(words(type))"
        @unknown default: return "the content cannot be read"
        }
    }

    private static func words(_ type: Any.Type) -> String {
        switch type {
        case is String.Type: "a string"
        case is Bool.Type: "true or false"
        case is Int.Type, is Double.Type: "a number"
        case is [Any].Type: "an array"
        case is UUID.Type: "a UUID"
        default: "an object"
        }
    }
}
