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
