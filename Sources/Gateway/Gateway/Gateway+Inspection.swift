import Foundation
import Primitives
import SIP
import UserAgent

// State that tests look at, without knowing which part of the gateway has it.
extension Gateway {
    var legs: IdentityTable<Leg> { table.legs }
    var waking: IdentityTable<WakingCall> { ringing.wakeUps.waking }
    var hunts: IdentityTable<Hunt> { ringing.hunts }
    var originations: IdentityTable<Origination> { ringing.originations.all }
    var trunksInOrder: [Trunk] { trunks.all }

    func conversations(of line: Line) -> Int { table.conversations(of: line) }

    func locate(_ uri: URI, after flow: Flow, completion: @escaping ([Flow], Instant) -> Void) {
        locator.locate(uri, after: flow, completion: completion)
    }
}
