import Testing

@testable import CallKit

extension RealTime {
    @Suite struct LockedTests {
        @Test func `whoever takes a value twice traps, where there is a lock`() async {
            await #expect(processExitsWith: .failure) {
                let guarded = Locked(0)
                guarded.withLock { _ in guarded.withLock { $0 += 1 } }
            }
        }

        @Test func `and where there is none`() async {
            await #expect(processExitsWith: .failure) {
                let guarded = Locked(0, hasLock: false)
                guarded.withLock { _ in guarded.withLock { $0 += 1 } }
            }
        }

        @Test(arguments: [true, false]) func `a value is free again when it was used, also by what threw`(hasLock: Bool) {
            struct Failure: Error {}
            let guarded = Locked(1, hasLock: hasLock)
            #expect(throws: Failure.self) {
                try guarded.withLock { value in
                    value = 2
                    throw Failure()
                }
            }
            #expect(guarded.withLock { $0 } == 2)
        }
    }
}
