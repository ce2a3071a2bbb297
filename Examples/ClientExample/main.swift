import Foundation
import HookswitchClient

// Starts a call of a line, and tells what becomes of it until it has ended: client-example LINE TO [SOCKET]
let words = CommandLine.arguments.dropFirst()
guard words.count >= 2, let line = words.first else { exit(2) }
let gateway = HookswitchClient(socket: words.dropFirst(2).first ?? "data/hookswitch.sock")

do {
    // The position before the call begins: no event of it is missed. The UUID of the transaction is ours: to ask again starts no second
    // call.
    let position = try await gateway.snapshot().position, call = UUID()
    let start = HookswitchClient.Action.start(call, to: .init(words[words.startIndex + 1]))
    let outcome = try await gateway.perform([start], on: line, as: UUID(), wait: .accepted)
    print("call \(call) is \(outcome.state)")
    for try await event in gateway.events(after: position, call: call) {
        print(event.time, event.type, event.id)
        if event.type == "call.ended" { break }
    }
} catch let gone as HookswitchClient.EventsGone {
    print("we were away for too long: \(gone)")
} catch {
    print("\(error)")
    exit(1)
}
