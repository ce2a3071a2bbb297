import CallKit
import Foundation
import Gateway
import HTTP
import Primitives
import Runtime
import Testing

@testable import Console

extension RealTime {
    @Suite struct TransactionDeskTests {
        @Test func `a wait that is over before the gateway has answered goes on until it has`() throws {
            let lane = try Lane<HTTPServer>(label: "desk") { lane, _ throws(SocketError) in
                try HTTPServer([], routes: HTTPRoutes(), on: lane)
            }
            defer { lane.close() }
            lane.sync { server, begin in
                let desk = TransactionDesk(EventHub()), order = TransactionOrder(line: "1001", actions: [])
                desk.request(order, key: "a", wait: .performed, within: .milliseconds(1), HTTPResponder(server, 1, .post), at: begin) {}
                desk.advance(to: begin + .seconds(1))
                #expect(desk.deadline == begin + TransactionDesk.answerTime)
                desk.note(.failure(.refused(.emptyTransaction)), of: "a", at: begin + .seconds(2))
                #expect(desk.deadline == nil)
                desk.request(order, key: "b", wait: .accepted, within: .seconds(30), HTTPResponder(server, 1, .post), at: begin) {}
                #expect(desk.deadline == begin + .seconds(30))
            }
        }
    }
}
