import CallJournal
import Foundation
import HTTP
import Primitives

// Reads of the journal's file: the ladder of a call, its statistics, its lines, and all lines. Each is a job apart from the lane.
extension RecordsAPI {
    private static let fewestLines = 1_000, mostLines = 10_000
    private static let ndjson = "application/x-ndjson"
    private static let positionField = HTTPField.Name("Hookswitch-Position")

    func addJournal(to routes: inout HTTPRoutes) {
        routes.on(.get, "/v1/calls/{id}/ladder") { [unowned self] ask, responder in
            api.answer(ask, responder) { () throws(Problem) in
                let form = try LadderForm(ask.request), version = api.version
                return try tell(ask, responder) { story in form.reply(story, version: version) }
            }
        }
        routes.on(.get, "/v1/calls/{id}/statistics") { [unowned self] ask, responder in
            api.answer(ask, responder) { () throws(Problem) in try tellStatistics(ask, responder) }
        }
        routes.on(.get, "/v1/calls/{id}/journal") { [unowned self] ask, responder in
            api.answer(ask, responder) { () throws(Problem) in
                try page(ask, responder, of: CallUUID(try api.uuid("id", in: ask)))
            }
        }
        routes.on(.get, "/v1/journal") { [unowned self] ask, responder in
            api.answer(ask, responder) { () throws(Problem) in try page(ask, responder, of: nil) }
        }
    }

    private func archive() throws(Problem) -> JournalArchive {
        guard let journal else { throw .noJournal }
        return journal
    }

    /// Answers with something that the story of the path's call tells. Its legs of other lines than the token's are left out.
    private func tell(
        _ ask: HTTPAsk, _ responder: HTTPResponder, _ reply: @escaping @Sendable (CallStory) -> HTTPReply
    ) throws(Problem) -> HTTPReply? {
        let call = CallUUID(try api.uuid("id", in: ask)), lines = ask.grant.lines, archive = try archive()
        let isKnown = api.hub.view.calls[call] != nil
        return try work(responder) { Self.story(of: call, isKnown: isKnown, lines, archive).map(reply) }
    }

    /// - Parameter isKnown: the call is there: what the journal has not written yet is waited for.
    static func story(
        of call: CallUUID, isKnown: Bool, _ lines: Set<Text>?, _ archive: JournalArchive
    ) -> Result<CallStory, Problem> {
        do throws(JournalFileError) {
            for _ in 0..<(isKnown ? 10 : 1) {
                if let story = try archive.story(of: call, lines: lines) { return .success(story) }
                if isKnown { usleep(20_000) }
            }
            return .failure(.notFound("there is no call \(call) in the journal"))
        } catch { return .failure(Problem(error)) }
    }

    private func page(_ ask: HTTPAsk, _ responder: HTTPResponder, of call: CallUUID?) throws(Problem) -> HTTPReply? {
        let target = ask.request.target, archive = try archive(), run = journalRun
        let limit = try Self.number(target, "limit", usual: Self.fewestLines, in: 1...Self.mostLines)
        let after = try target["after"].map { text throws(Problem) in
            guard let position = EventPosition(text) else { throw .badRequest("after: '\(text)' is no position, as 0123abcd.42") }
            return position
        }
        var choice = JournalArchive.Choice(lines: ask.grant.lines, call: call, limit: limit)
        if let line = target["line"] {
            guard ask.grant.covers(Text(line)) else { throw .notFound("there is no line \(line)") }
            choice.lines = [Text(line)]
        }
        let wanted = choice, path = target.segments.joined(separator: "/")
        let mark = after.flatMap { marks[$0.description] }, post = api.post
        return try work(responder) {
            do throws(JournalFileError) {
                let page = try archive.page(after: after.map { ($0.run, $0.sequence) }, mark: mark, wanted, run)
                guard let page else { return .failure(Problem(gone: nil)) }
                if let last = page.last, let mark = page.mark { post { api, _ in api.records.keep(mark, of: last) } }
                return .success(Self.reply(page, path: path, target["line"], limit))
            } catch { return .failure(Problem(error)) }
        }
    }

    /// - Parameter line: of the query.
    private static func reply(_ page: JournalPage, path: String, _ line: String?, _ limit: Int) -> HTTPReply {
        var reply = HTTPReply(.ok, body: page.bytes, type: ndjson, fields: [.cacheControl: "no-store"])
        guard let last = page.last, let name = positionField else { return reply }
        reply.fields[name] = last
        if page.hasMore, let link = HTTPField.Name("Link") {
            let line = line?.addingPercentEncoding(withAllowedCharacters: .alphanumerics).map { "&line=\($0)" } ?? ""
            reply.fields[link] = "</\(path)?after=\(last)&limit=\(limit)\(line)>; rel=\"next\""
        }
        return reply
    }

    /// A number of the query.
    static func number(_ target: RequestTarget, _ name: String, usual: Int, in range: ClosedRange<Int>) throws(Problem) -> Int {
        guard let text = target[name] else { return usual }
        guard let number = Int(text), range.contains(number) else {
            throw .badRequest("\(name): a number from \(range.lowerBound) to \(range.upperBound), not '\(text)'")
        }
        return number
    }
}

/// The form in which a ladder is wanted: that of `format`, else the first that Accept names.
struct LadderForm: Sendable {
    enum Format: String, CaseIterable, Sendable { case text, svg, html, json }

    let format: Format
    /// Columns of text.
    let width: Int
    static let widths = 72...1_000

    init(_ request: IncomingRequest) throws(Problem) {
        width = try RecordsAPI.number(request.target, "width", usual: 120, in: Self.widths)
        if let name = request.target["format"] {
            guard let format = Format(rawValue: name) else {
                throw .badRequest("format: '\(name)' is none of \(Format.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            self.format = format
        } else {
            let accepted = (request.head.headerFields[.accept] ?? "").lowercased().split(separator: ",").map { $0.prefix { $0 != ";" } }
            let types: [(String, Format)] = [
                ("text/plain", .text), ("image/svg+xml", .svg), ("text/html", .html), ("application/json", .json),
            ]
            format = accepted.lazy.compactMap { name in types.first { $0.0 == name.filter { $0 != " " } }?.1 }.first ?? .text
        }
    }

    func reply(_ story: CallStory, version: String) -> HTTPReply {
        let whole = Ladder(story.events, options: LadderOptions(width: Self.widths.upperBound))
        var reply =
            switch format {
            case .text: HTTPReply(.ok, text: Ladder(story.events, options: LadderOptions(width: width)).text)
            case .svg: HTTPReply(.ok, text: LadderPicture(whole).document, type: "image/svg+xml")
            case .html: HTTPReply(.ok, text: LadderPage.text(story.record, whole, version: version), type: "text/html; charset=utf-8")
            case .json: JSONBody.reply(.ok, LadderDescription(story.record, whole))
            }
        (reply.fields[.cacheControl], reply.fields[.vary]) = ("no-store", "Accept")
        // Names that strangers chose are in it: it runs nothing.
        reply.fields[.contentSecurityPolicy] = "default-src 'none'; style-src 'unsafe-inline'"
        reply.fields[.xContentTypeOptions] = "nosniff"
        return reply
    }
}

extension Problem {
    init(_ error: JournalFileError) { self.init(.serviceUnavailable, "journalUnreadable", "the journal: \(error)") }
}
