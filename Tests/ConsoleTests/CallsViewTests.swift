import CallJournal
import Foundation
import Primitives
import Testing

@testable import Console

@Suite struct CallsViewTests {
    private static func play(_ kinds: [JournalEvent.Kind], of call: CallUUID, into view: inout CallsView) {
        for kind in kinds { _ = view.note(JournalEvent(sequence: 1, time: .zero, call: call, line: "1001", kind: kind)) }
    }

    @Test func `so many calls that have ended are shown, and no more`() {
        var view = CallsView()
        let first = CallUUID(UUID())
        Self.play([.performStart, .callEnded], of: first, into: &view)
        for _ in 1..<CallsView.mostEnded { Self.play([.performStart, .callEnded], of: CallUUID(UUID()), into: &view) }
        #expect(view.calls[first]?.phase == .ended && view.calls.count == CallsView.mostEnded)
        Self.play([.performStart, .callEnded], of: CallUUID(UUID()), into: &view)
        #expect(view.calls[first] == nil && view.calls.count == CallsView.mostEnded)
    }

    @Test func `calls are in the conversation that an action moved them to, once it was fulfilled`() {
        var view = CallsView()
        let calls = (0..<3).map { _ in CallUUID(UUID()) }, action = CallUUID(UUID())
        func note(_ kind: JournalEvent.Kind, _ call: CallUUID, with other: CallUUID? = nil) {
            var details: JournalEvent.Details = [.action: .uuid(action), .class: "group"]
            if let other { details[.with] = .uuid(other) }
            _ = view.note(JournalEvent(sequence: 1, time: .zero, call: call, line: "1001", kind: kind, details: details))
        }
        for call in calls { note(.performStart, call) }
        #expect(view.conversations.all == calls.map { [$0] })
        note(.performGroup, calls[2], with: calls[0])
        note(.actionFailed, calls[2])
        note(.actionFulfilled, calls[2])
        #expect(view.conversations.others(than: calls[0]).isEmpty)
        note(.performGroup, calls[2], with: calls[0])
        #expect(view.conversations.others(than: calls[0]).isEmpty, "it is not done yet")
        note(.actionFulfilled, calls[2])
        #expect(view.conversations.all == [[calls[0], calls[2]], [calls[1]]] && view.calls[calls[2]]?.joined == calls[0])
        note(.transferred, calls[1], with: calls[2])
        #expect(view.conversations.others(than: calls[1]) == [calls[0], calls[2]])
        note(.performGroup, calls[0])
        note(.actionFulfilled, calls[0])
        #expect(view.conversations.all == [[calls[2], calls[1]], [calls[0]]] && view.calls[calls[0]]?.joined == nil)
        note(.callEnded, calls[1])
        #expect(view.conversations.all == [[calls[2]], [calls[0]]] && view.calls[calls[1]]?.groupedWith == [calls[2]])
    }
}
