import CallJournal
import CallKit
import Foundation
import HTTP
import Primitives
import Testing
import UserAgent

@testable import Console
@testable import Gateway

/// The documents of the control interface say what it does: no more, and no less.
@Suite struct APIDocumentTests {
    private static let openAPI = OpenAPIDocument.json(version: "1.2.3"), asyncAPI = AsyncAPIDocument.json(version: "1.2.3")

    @Test func `each route is in the OpenAPI document, and the other way round`() throws {
        let api = ControlAPI(version: "1.2.3") { _ in }, routes = api.routes.all.map { "\($0.method.rawValue) \($0.pattern)" }
        let paths = try #require(Self.openAPI["paths"]?.members)
        let documented = paths.flatMap { path, item in item.keys.map { "\($0.uppercased()) \(path)" } }
        #expect(documented.sorted() == routes.sorted())
    }

    @Test func `each operation has a name of its own, a summary, and the parameters of its path`() {
        #expect(Set(OpenAPIDocument.operations.map(\.id)).count == OpenAPIDocument.operations.count)
        for operation in OpenAPIDocument.operations {
            let item = Self.openAPI["paths"]?[operation.path]?[operation.method.rawValue.lowercased()]
            #expect(item?["summary"] == .text(operation.summary) && !operation.summary.isEmpty)
            let inPath = item?["parameters"]?.elements.filter { $0["in"] == "path" }.compactMap { $0["name"] } ?? []
            #expect(inPath == operation.pathParameters.map(JSONValue.text), "\(operation.id)")
        }
    }

    @Test(arguments: ["openapi", "asyncapi"]) func `every reference leads somewhere`(name: String) {
        let document = name == "openapi" ? Self.openAPI : Self.asyncAPI
        let references = document.all(named: "$ref").compactMap(\.string)
        #expect(references.count > 30)
        for reference in references { #expect(document.at(reference) != nil, "\(reference)") }
        let names = Set(OpenAPIDocument.operations.map(\.id))
        for operation in document.all(named: "links").flatMap({ $0.keys }) { #expect(names.contains(operation)) }
    }

    @Test func `the version is the program's`() {
        for document in [Self.openAPI, Self.asyncAPI] { #expect(document["info"]?["version"] == "1.2.3") }
    }

    // MARK: Fields

    private static func schema(_ name: String) -> JSONValue? { openAPI["components"]?["schemas"]?[name] }

    /// What has all members is encoded with exactly those of the schema, and what has as few as may be with exactly those that are
    /// required.
    private static func expect(_ name: String, full: some Encodable, least: some Encodable) throws {
        let schema = try #require(Self.schema(name))
        #expect(try keys(full) == schema["properties"]?.keys.sorted(), "\(name)")
        #expect(try keys(least) == schema["required"]?.elements.compactMap(\.string).sorted(), "\(name)")
    }

    private static func keys(_ value: some Encodable) throws -> [String] {
        let object = try JSONSerialization.jsonObject(with: Data(JSONBody.encode(value)))
        return try #require(object as? [String: Any]).keys.sorted()
    }

    private static func call(isFull: Bool) throws -> CallState {
        let began = JournalEvent(sequence: 1, time: .zero, call: CallUUID(UUID()), line: "1001", kind: .reportIncoming)
        var call = try #require(CallState(began))
        guard isFull else { return call }
        (call.remote, call.from, call.to, call.callID, call.codec) = ("1002", "1002", "1001", "x@y", "opus")
        (call.status, call.connected, call.ended, call.endReason) = (200, 1, 2, "remoteEnded")
        (call.endedBy, call.q850) = ("remote", 16)
        (call.received, call.sent, call.incomingBasis, call.outgoingBasis) = (1, 2, "heard", "heard")
        return call
    }

    @Test func `a call has the fields of its schema`() throws {
        var full = CallBody(try Self.call(isFull: true), with: [CallUUID(UUID())])
        full.node = "gateway-1"
        try Self.expect("Call", full: full, least: CallBody(try Self.call(isFull: false), with: []))
        try Self.expect("Heard", full: try #require(full.media), least: CallBody.Heard(received: 1, sent: 2))
        try Self.expect("Calls", full: ControlAPI.Calls(position: "a.1", calls: [], nodes: []), least: ControlAPI.Calls(calls: []))
        try Self.expect("Groups", full: ControlAPI.Groups(position: "a.1", groups: [], nodes: []), least: ControlAPI.Groups(groups: []))
        let group = ControlAPI.Groups.Group(line: "1001", isConference: false, calls: [])
        var shared = group
        shared.node = "gateway-1"
        try Self.expect("Group", full: shared, least: group)
        let node = NodeBody(
            node: "a", isUp: true, position: "a.1", error: "", version: "1", run: "a", started: "", calls: 0, readers: 0, isRunning: true)
        try Self.expect("Node", full: node, least: NodeBody(node: "a", isUp: false))
    }

    @Test func `a line has the fields of its schema`() throws {
        let device = LineBody.Device(contact: "sip:a@b", agent: "x", expires: 1)
        func line(_ name: String?) -> LineBody {
            LineBody(number: "1001", name: name, kind: "devices", doNotDisturb: false, devices: [device], calls: 0, blocked: [])
        }
        try Self.expect("Line", full: line("Alice"), least: line(nil))
        try Self.expect("Device", full: device, least: LineBody.Device(contact: "sip:a@b", agent: nil, expires: 1))
        try Self.expect("Lines", full: ControlAPI.Lines(lines: []), least: ControlAPI.Lines(lines: []))
        try Self.expect("DoNotDisturb", full: ControlAPI.OnForm(on: true), least: ControlAPI.OnForm(on: true))
    }

    @Test func `a recent call has the fields of its schema`() throws {
        func recent(_ text: String?) -> RecentBody {
            RecentBody(
                id: UUID(), direction: "incoming", handle: "1002", name: text, began: "", connected: text, ended: "", outcome: "missed",
                reason: "")
        }
        try Self.expect("Recent", full: recent("x"), least: recent(nil))
        try Self.expect("Recents", full: ControlAPI.Recents(recents: []), least: ControlAPI.Recents(recents: []))
    }

    @Test func `a webhook has the fields of its schema`() throws {
        let url = try #require(URL(string: "http://x/"))
        var status = WebhookStatus(WebhookSettings(name: "a", url: url, secrets: []))
        let least = ControlAPI.WebhookBody(status)
        (status.delivered, status.oldest, status.error) = (EventPosition(run: "a", sequence: 1), 1, "x")
        try Self.expect("Webhook", full: ControlAPI.WebhookBody(status), least: least)
        try Self.expect("Webhooks", full: ControlAPI.Webhooks(webhooks: []), least: ControlAPI.Webhooks(webhooks: []))
        func test(_ status: Int?, _ error: String?) -> ControlAPI.WebhookTest {
            .init(isTaken: false, status: status, error: error, milliseconds: 1)
        }
        try Self.expect("WebhookTest", full: test(500, "x"), least: test(nil, nil))
    }

    @Test func `server, problem and outcome have the fields of their schemas`() throws {
        let server = ControlAPI.Server(
            version: "1", run: "a", position: "a.1", started: "", calls: 0, readers: 0, replays: 0, refusedReplays: 0, isRunning: true,
            nodes: [])
        try Self.expect(
            "Server", full: server,
            least: ControlAPI.Server(version: "1", calls: 0, readers: 0, replays: 0, refusedReplays: 0, isRunning: true))
        try Self.expect("Problem", full: Problem(gone: EventPosition(run: "a", sequence: 1)), least: Problem.notRunning)
        let action = TransactionDesk.Body.Action(id: UUID(), type: "CXEndCallAction", call: UUID(), state: .accepted)
        func outcome(_ position: String?) -> TransactionDesk.Body {
            TransactionDesk.Body(state: "accepted", id: UUID(), line: "1001", position: position, actions: [action])
        }
        try Self.expect("TransactionOutcome", full: outcome("a.1"), least: outcome(nil))
        try Self.expect("ActionOutcome", full: action, least: action)
    }

    @Test func `what a browser gets in by has the fields of its schema`() throws {
        func access(_ text: String?) -> AccessRoutes.Access {
            AccessRoutes.Access(name: text, scopes: [.read], lines: text.map { [$0] }, expires: text)
        }
        try Self.expect("Access", full: access("x"), least: access(nil))
        let ticket = AccessRoutes.Ticket(ticket: "a", expires: "b")
        try Self.expect("Ticket", full: ticket, least: ticket)
        let login = Mirror(reflecting: AccessRoutes.LoginForm(token: "a")).children.compactMap(\.label)
        #expect(
            login == Self.schema("Login")?["properties"]?.keys && login == Self.schema("Login")?["required"]?.elements.compactMap(\.string))
    }

    @Test func `statistics have the fields of their schemas`() throws {
        let least = LegStatisticsBody.Stream(packets: 1)
        let full = LegStatisticsBody.Stream(packets: 1, lost: 1, expected: 1, lossPercent: 1, jitter: 1, mos: 1, heard: "heard")
        try Self.expect("StreamStatistics", full: full, least: least)
        let leg = LegStatisticsBody(
            call: "", line: "", direction: "", isUp: true, codec: "", transport: "", remote: "", callID: "", roundTrip: 1, incoming: full,
            outgoing: full, recording: true)
        try Self.expect("LegStatistics", full: leg, least: LegStatisticsBody(call: "", line: "", isUp: true, recording: false))
        let statistics = RecordsAPI.Statistics(call: "", legs: [leg])
        try Self.expect("CallStatistics", full: statistics, least: statistics)
    }

    @Test func `recordings, trunks, directories and registrations have the fields of their schemas`() throws {
        func recording(_ text: String?) -> RecordingBody {
            RecordingBody(id: "", call: "", line: "", began: "", ended: text, cause: text, file: "", type: "", size: 1, node: text)
        }
        try Self.expect("Recording", full: recording("x"), least: recording(nil))
        try Self.expect("Recordings", full: RecordsAPI.Recordings(recordings: [], nodes: []), least: RecordsAPI.Recordings(recordings: []))
        let server = TrunkSummary.Server(name: "a", address: anyLoopbackPort, transport: .udp, isDown: false)
        func trunk(_ name: Text?, _ status: Int?) -> TrunkBody {
            TrunkBody(
                TrunkSummary(
                    line: "1", name: name, registration: .none, registrationStatus: status, servers: [server], isWatched: true, node: name,
                    calls: 0, maximumCalls: 1))
        }
        try Self.expect("Trunk", full: trunk("x", 200), least: trunk(nil, nil))
        try Self.expect("TrunkServer", full: trunk(nil, nil).servers[0], least: trunk(nil, nil).servers[0])
        try Self.expect("Trunks", full: TrunkRoutes.Trunks(trunks: []), least: TrunkRoutes.Trunks(trunks: []))
        func directory(_ date: Date?, _ failure: String?) -> DirectoryBody {
            DirectoryBody(DirectorySummary(name: "a", blocked: 0, identified: 0, loaded: date, failure: failure))
        }
        try Self.expect("Directory", full: directory(Date(), "x"), least: directory(nil, nil))
        func queue(_ name: Text?, _ callers: [QueueSummary.Caller], _ wait: Duration?) -> QueueBody {
            QueueBody(
                QueueSummary(
                    line: "700", name: name, strategy: .all, length: 1, members: [.init(line: "1", state: .free)], callers: callers,
                    entered: 1, answered: 1, abandoned: 0, overflowed: 0, meanWait: wait))
        }
        let waiting = queue("x", [.init(call: UUID(), waited: .zero)], .zero)
        try Self.expect("Queue", full: waiting, least: queue(nil, [], nil))
        try Self.expect("QueueMember", full: waiting.members[0], least: waiting.members[0])
        try Self.expect("QueueCaller", full: waiting.callers[0], least: waiting.callers[0])
        try Self.expect("Queues", full: QueueRoutes.Queues(queues: []), least: QueueRoutes.Queues(queues: []))
        func mailbox(_ text: String?) -> MailboxBody {
            let message = MailboxMessage(id: UUID(), line: "1", caller: "2", name: text, called: "1", received: Date())
            return MailboxBody(MailboxSummary(line: "1", name: text.map { Text($0) }, messages: [message]), withMessages: true)
        }
        let least = MailboxBody(MailboxSummary(line: "1", name: nil, messages: []), withMessages: false)
        try Self.expect("Mailbox", full: mailbox("x"), least: least)
        try Self.expect("MailboxMessage", full: mailbox("x").messages?[0], least: mailbox(nil).messages?[0])
        try Self.expect("Mailboxes", full: MailboxRoutes.Mailboxes(mailboxes: []), least: MailboxRoutes.Mailboxes(mailboxes: []))
        let change = MailboxRoutes.MessageForm(heard: true)
        try Self.expect("MailboxMessageChange", full: change, least: change)
        try Self.expect("Directories", full: TrunkRoutes.Directories(directories: []), least: TrunkRoutes.Directories(directories: []))
        func registration(_ agent: Text?) -> RegistrationBody {
            RegistrationBody(LineSummary.Device(contact: "sip:a@b", agent: agent, expires: 1))
        }
        try Self.expect("Registration", full: registration("x"), least: registration(nil))
        try Self.expect(
            "Registrations", full: RegistrationRoutes.Registrations(registrations: []),
            least: RegistrationRoutes.Registrations(registrations: []))
        try Self.expect(
            "LineChange", full: RegistrationRoutes.LineForm(doNotDisturb: true), least: RegistrationRoutes.LineForm(doNotDisturb: true))
    }

    @Test func `a transaction takes the fields of its schema`() {
        func fields(_ value: Any) -> [String] { Mirror(reflecting: value).children.compactMap(\.label).sorted() }
        #expect(fields(TransactionBody(actions: [])) == Self.schema("Transaction")?["properties"]?.keys.sorted())
        #expect(fields(TransactionBody.Handle(value: "1")) == Self.schema("Handle")?["properties"]?.keys.sorted())
        let actions = TransactionBody.Action.types.map { Self.schema(String($0.dropFirst(2).replacing("CallAction", with: "Action"))) }
        #expect(actions.allSatisfy { $0 != nil })
        #expect(Set(actions.flatMap { $0?["properties"]?.keys ?? [] }).sorted() == fields(TransactionBody.Action(type: "")))
        #expect(Self.schema("Action")?["discriminator"]?["mapping"]?.keys.sorted() == TransactionBody.Action.types.sorted())
    }

    @Test func `the examples of transactions can be asked for`() throws {
        let examples = OpenAPIDocument.operations.compactMap(\.content).filter { $0.schema == "Transaction" }.flatMap(\.examples.values)
        #expect(examples.count > 1)
        for example in examples {
            let body = try JSONBody.decode(TransactionBody.self, JSONBody.encode(example), as: "Transaction")
            #expect(try !body.order().actions.isEmpty)
        }
    }
}

extension JSONValue {
    var members: [String: JSONValue]? { if case .object(let members) = self { members } else { nil } }
    var keys: [String] { members.map { Array($0.keys) } ?? [] }
    var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }
    var string: String? { if case .text(let text) = self { text } else { nil } }

    /// The members of this name, wherever they stand.
    func all(named name: String) -> [JSONValue] {
        let within = (members.map { Array($0.values) } ?? elements).flatMap { $0.all(named: name) }
        return (self[name].map { [$0] } ?? []) + within
    }

    /// What a reference within the document leads to (RFC 6901).
    func at(_ reference: String) -> JSONValue? {
        guard reference.hasPrefix("#/") else { return nil }
        return reference.dropFirst(2).split(separator: "/").reduce(self as JSONValue?) { value, part in
            value?[String(part.replacing("~1", with: "/").replacing("~0", with: "~"))]
        }
    }
}
