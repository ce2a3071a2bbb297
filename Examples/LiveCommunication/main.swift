import CallApp
import CallKit
import Foundation
import LiveCommunicationKit

// The host of the app on Linux: a line of SIP, whose news the app reports.
CallSystem.configureShared(.app)
let conversations = Conversations()
do {
    var settings = try LiveAppSettings(number: "1001", server: "127.0.0.1:5060")
    settings.dial = { number in conversations.start(with: number) }
    // The app reports incoming conversations when their push comes.
    let line = try LiveAppLine(settings, system: .shared) { event in
        switch event {
        case .connecting(let call): conversations.report(.conversationStartedConnecting(Date()), of: call)
        case .connected(let call): conversations.report(.conversationConnected(Date()), of: call)
        case .ended(let call, let reason):
            // The names that CallKit and LiveCommunicationKit have for an end differ in one.
            let reasons: [CXCallEndedReason: Conversation.EndedReason] = [
                .failed: .failed, .remoteEnded: .remoteEnded, .unanswered: .unanswered, .answeredElsewhere: .joinedElsewhere,
                .declinedElsewhere: .declinedElsewhere,
            ]
            conversations.report(.conversationEnded(Date(), reasons[reason] ?? .failed), of: call)
        default: break
        }
    }
    withExtendedLifetime(line) { while true { RunLoop.main.run() } }
} catch {
    FileHandle.standardError.write(Data("live-communication-example: \(error)\n".utf8))
    exit(3)
}
