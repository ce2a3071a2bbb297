import CallKit
import Foundation
import Testing

/// Which methods of a delegate's class are the delegate's: those of the class that conforms, and what overrides them.
@Suite struct DelegateClassTests {
    class Base: NSObject, CXProviderDelegate, @unchecked Sendable {
        var trace: [String] = []
        func providerDidReset(_ provider: CXProvider) {}
        func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) { action.fail() }
    }

    final class Derived: Base, @unchecked Sendable {
        override func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) {
            trace.append("answer")
            action.fulfill()
        }

        func provider(_ provider: CXProvider, perform action: CXSetMutedCallAction) {
            trace.append("mute")
            action.fulfill()
        }
    }

    @Test func `what a subclass overrides is called, and what it adds is not`() {
        let rig = Rig(), delegate = Derived(), mute = CXSetMutedCallAction(call: .call("A"), muted: true)
        rig.provider.setDelegate(delegate, queue: nil)
        rig.ring("A")
        rig.request(.answer("A"))
        rig.request(mute)
        #expect(delegate.trace == ["answer"] && !mute.isComplete)
        #expect(rig.provider.pendingTransactions.flatMap(\.actions).map(\.uuid) == [mute.uuid])
    }
}
