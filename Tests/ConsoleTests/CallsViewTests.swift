import CallJournal
import Foundation
import Primitives
import Testing

@testable import Console

@Suite struct CallsViewTests {
    private static func play(_ kinds: [JournalEvent.Kind], of call: CallUUID, into view: inout CallsView) {
        for kind in kinds { _ = view.note(JournalEvent(sequence: 1, time: .zero, call: call, line: "1001", kind: kind)) }
    }

    @Test func `a UUID stays taken when its call has ended, and when it is shown no more`() {
        var view = CallsView()
        let first = CallUUID(UUID()), second = CallUUID(UUID())
        #expect(!view.isTaken(first))
        Self.play([.performStart], of: first, into: &view)
        #expect(view.isTaken(first))
        Self.play([.callEnded], of: first, into: &view)
        #expect(view.isTaken(first) && view.calls[first]?.phase == .ended)
        for _ in 0..<CallsView.mostEnded { Self.play([.performStart, .callEnded], of: CallUUID(UUID()), into: &view) }
        #expect(view.isTaken(first) && view.calls[first] == nil)
        #expect(!view.isTaken(second))
    }

    @Test func `so many UUIDs are remembered, and no more`() {
        var view = CallsView()
        let first = CallUUID(UUID())
        Self.play([.performStart, .callEnded], of: first, into: &view)
        for _ in 1..<(CallsView.mostEnded + CallsView.mostPast) {
            Self.play([.performStart, .callEnded], of: CallUUID(UUID()), into: &view)
        }
        #expect(view.isTaken(first))
        Self.play([.performStart, .callEnded], of: CallUUID(UUID()), into: &view)
        #expect(!view.isTaken(first))
    }
}
