import Foundation
import HTTP

/// The calls that are up, as the gateway tells them.
struct LiveCalls {
    private struct CallsText: Decodable {
        struct Call: Decodable {
            var id: String, line: String, direction: String, state: String, handle: String?, from: String?, to: String?
            var isOnHold: Bool, isMuted: Bool
        }
        var calls: [Call]
    }

    private let control: ControlOptions

    init(_ control: ControlOptions) { self.control = control }

    func list(isJSON: Bool) throws {
        let content = try control.ask(.get, "/v1/calls")
        if isJSON { return try StandardOutput.printExactly(String(decoding: content, as: UTF8.self)) }
        for call in try JSONDecoder().decode(CallsText.self, from: content).calls {
            var words = [
                call.id, call.line, call.direction, call.handle ?? (call.direction == "incoming" ? call.from : call.to) ?? "–", call.state,
            ]
            if call.isOnHold { words.append("on hold") }
            if call.isMuted { words.append("muted") }
            try StandardOutput.print(words.joined(separator: "  "))
        }
    }
}
