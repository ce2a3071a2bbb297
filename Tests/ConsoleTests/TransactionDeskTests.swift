import CallJournal
import CallKit
import Foundation
import HTTP
import Primitives
import Runtime
import Testing

@testable import Console
@testable import Gateway

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

        @Test func `an end is performed when the call's end is told, too`() throws {
            let lane = try Lane<HTTPServer>(label: "desk") { lane, _ throws(SocketError) in
                try HTTPServer([], routes: HTTPRoutes(), on: lane)
            }
            defer { lane.close() }
            lane.sync { server, begin in
                let hub = EventHub(), desk = TransactionDesk(hub), call = UUID(), action = UUID()
                hub.onEvent = { desk.note($0) }
                hub.onProgress = { desk.advance(to: $0) }
                var sequence: UInt64 = 0
                let tell = { (kind: JournalEvent.Kind, details: JournalEvent.Details) in
                    sequence += 1
                    let event = JournalEvent(
                        sequence: sequence, time: begin, wall: 0, call: CallUUID(call), line: "1001", kind: kind, details: details)
                    hub.accept([event], at: begin)
                }
                tell(.reportIncoming, [.remote: "1002"])
                let order = TransactionOrder(line: "1001", actions: [.end(call)])
                desk.request(order, key: "a", wait: .performed, within: .seconds(5), HTTPResponder(server, 1, .post), at: begin) {}
                let done = TransactionReceipt.Action(id: action, call: call, name: order.actions[0].name)
                desk.note(.success(.init(id: UUID(), line: "1001", actions: [done])), of: "a", at: begin)
                tell(.actionFulfilled, [.action: .init(action)])
                #expect(desk.deadline != nil)
                tell(.callEnded, [.reason: "ended"])
                #expect(desk.deadline == nil)
            }
        }
    }
}
