import Foundation
import HTTP

// Lines, trunks and the gateway itself.
extension HookswitchClient {
    /// The lines, with the devices that are registered.
    public func lines() async throws -> [Line] { try await send(.lines).lines }

    /// A line.
    public func line(_ number: String) async throws -> Line { try await send(Request(.get, ["lines", number])) }

    /// The recent calls of a line, the newest first.
    public func recents(of line: String) async throws -> [Recent] { try await send(.recents(of: line)).recents }

    /// Whether a line takes no calls, VIPs aside.
    public func isDoNotDisturbOn(_ line: String) async throws -> Bool {
        try await send(Request<DoNotDisturb>(.get, ["lines", line, "dnd"])).on
    }

    /// Turns Do Not Disturb of a line on or off.
    public func setDoNotDisturb(_ isOn: Bool, of line: String) async throws {
        _ = try await send(Request<Nothing>(.put, ["lines", line, "dnd"], DoNotDisturb(on: isOn)))
    }

    /// Puts a caller on the block list of a line, or takes it off.
    ///
    /// - Parameter caller: a number, or an address.
    public func setBlocked(_ isBlocked: Bool, caller: String, of line: String) async throws {
        _ = try await send(Request<Nothing>(isBlocked ? .put : .delete, ["lines", line, "blocked", caller]))
    }

    /// The trunks, and how they are.
    public func trunks() async throws -> [Trunk] { try await send(.trunks).trunks }

    /// The queues, with who waits and who is free.
    public func queues() async throws -> [Queue] { try await send(.queues).queues }

    /// A queue.
    public func queue(_ line: String) async throws -> Queue { try await send(Request(.get, ["queues", line])) }

    /// The mailboxes, with the numbers of their messages.
    public func mailboxes() async throws -> [Mailbox] { try await send(.mailboxes).mailboxes }

    /// A mailbox, with its messages.
    public func mailbox(_ line: String) async throws -> Mailbox { try await send(Request(.get, ["mailboxes", line])) }

    /// Writes the sound of a message into a file, as it comes. The message stays new.
    ///
    /// - Parameters:
    ///   - message: its UUID.
    ///   - mailbox: the number of its line.
    ///   - file: is made, or replaced; left as it was where the sound does not come whole.
    public func download(_ message: UUID, of mailbox: String, to file: URL) async throws {
        let path = Request<Nothing>(.get, ["mailboxes", mailbox, "messages", message.uuidString]).path
        var answer = try await wire.open(WireRequest(method: .get, path: path, body: nil), timeout: timeout, silence: timeout)
        guard answer.status == 200 else { throw Problem(status: answer.status, try await answer.whole()) }
        let part = file.appendingPathExtension("\(UUID().uuidString).part")
        try Data().write(to: part)
        do {
            let handle = try FileHandle(forWritingTo: part)
            defer { try? handle.close() }
            while let piece = try await answer.next() { try handle.write(contentsOf: piece) }
            guard rename(part.path, file.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        } catch {
            try? FileManager.default.removeItem(at: part)
            throw error
        }
    }

    /// Marks a message as heard, or as new.
    public func setHeard(_ isHeard: Bool = true, message: UUID, of mailbox: String) async throws {
        let path = ["mailboxes", mailbox, "messages", message.uuidString]
        _ = try await send(Request<Nothing>(.patch, path, MessageChange(heard: isHeard)))
    }

    /// Removes a message with its file.
    public func delete(message: UUID, of mailbox: String) async throws {
        _ = try await send(Request<Nothing>(.delete, ["mailboxes", mailbox, "messages", message.uuidString]))
    }

    /// The webhooks, and how far each is.
    public func webhooks() async throws -> [Webhook] { try await send(.webhooks).webhooks }

    /// Sends the receiver of a webhook a test event, and waits for what it says.
    public func testWebhook(_ name: String) async throws -> WebhookTest { try await send(.testWebhook(name)) }

    /// The gateway's version, run, position and counts.
    public func server() async throws -> Server { try await send(.server) }

    /// Has the gateway take no new calls; those that are up go on.
    public func drain() async throws { _ = try await send(Request<Nothing>(.post, ["server", "drain"])) }

    /// Has the gateway read its configuration again, as SIGHUP does. The event `server.reloaded` says what changed.
    public func reload() async throws { _ = try await send(Request<Nothing>(.post, ["server", "reload"])) }
}

extension HookswitchClient.Request where Answer == HookswitchClient.Lines {
    /// The lines.
    public static var lines: Self { Self(.get, ["lines"]) }
}

extension HookswitchClient.Request where Answer == HookswitchClient.Recents {
    /// The recent calls of a line.
    public static func recents(of line: String) -> Self { Self(.get, ["lines", line, "recents"]) }
}

extension HookswitchClient.Request where Answer == HookswitchClient.Trunks {
    /// The trunks.
    public static var trunks: Self { Self(.get, ["trunks"]) }
}

extension HookswitchClient.Request where Answer == HookswitchClient.Queues {
    /// The queues.
    public static var queues: Self { Self(.get, ["queues"]) }
}

extension HookswitchClient.Request where Answer == HookswitchClient.Mailboxes {
    /// The mailboxes.
    public static var mailboxes: Self { Self(.get, ["mailboxes"]) }
}

extension HookswitchClient.Request where Answer == HookswitchClient.Server {
    /// The gateway itself.
    public static var server: Self { Self(.get, ["server"]) }
}

extension HookswitchClient.Request where Answer == HookswitchClient.Webhooks {
    /// The webhooks.
    public static var webhooks: Self { Self(.get, ["webhooks"]) }
}

extension HookswitchClient.Request where Answer == HookswitchClient.WebhookTest {
    /// A test event for a webhook. Its receiver has some time for the answer.
    public static func testWebhook(_ name: String) -> Self {
        var request = Self(.post, ["webhooks", name, "test"])
        request.wait = .seconds(60)
        return request
    }
}
