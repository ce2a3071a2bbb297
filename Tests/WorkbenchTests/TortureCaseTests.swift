import Primitives
import SDP
import SIP
import Testing

@testable import Workbench

/// What a case asks of an answer, and how that is said.
@Suite struct TortureDemandTests {
    @Test(
        arguments: [
            (TortureDemand.status([400, 501]), [400, 501], [200, 404, 500], "400 or 501"),
            (.status([415], has: .accept), [415], [200], "415 with Accept"),
            (.success, [200], [202, 400], "200"), (.anything, [200, 404, 500, 699], [], "an answer"),
            (.silence, [], [200, 400], "no answer"),
            (.understood, [200, 404, 405, 603], [400, 500, 505, 513], "an answer other than 400, 500, 505, 513"),
            (.unknownMethod, [405, 501], [200, 202, 400], "an answer other than 200, 202, 400, 500, 505, 513"),
            (.tolerated, [200, 400], [500, 505, 513], "an answer other than 500, 505, 513"),
        ] as [(TortureDemand, [Int], [Int], String)])
    func `a demand takes some statuses and says which`(demand: TortureDemand, taken: [Int], refused: [Int], text: String) {
        #expect(taken.allSatisfy(demand.accepts) && !refused.contains(where: demand.accepts) && demand.text == text)
        #expect(demand.isSilence == (text == "no answer"))
    }
}

@Suite struct TortureCaseTests {
    @Test func `a case whose second telephone does something needs a line`() {
        let alone = TortureCase(.races, "a", "RFC 1", "t", [.send(.caller, .bye), .pause(.seconds(1))])
        #expect(!alone.needsLine && TortureCase(.races, "b", "RFC 1", "t", [.send(.caller, .bye)], [.arrives(.callee, .bye)]).needsLine)
        #expect(TortureCase.all.filter(\.needsLine).allSatisfy { $0.group == .races }, "offers are made to the target itself")
        #expect(
            TortureCase.all.contains(where: \.needsLine) && TortureCase.lineRaces.allSatisfy(\.needsLine)
                && !TortureCase.races.contains(where: \.needsLine))
    }

    @Test(arguments: TortureCase.all.map(\.name)) func `every answer that a case waits for belongs to a request that it made`(name: String)
        throws
    {
        let test = try #require(TortureCase.all.first { $0.name == name })
        var asked: [TortureParty: Set<Method>] = [:], heard: [TortureParty: Set<Method>] = [:]
        for step in test.steps {
            switch step {
            case .send(let party, let request), .prepare(let party, let request): asked[party, default: []].insert(request.method)
            case .final(let party, let method, _), .again(let party, let method):
                #expect(asked[party]?.contains(method) == true, "\(name): \(method)")
            case .answered(let party), .describes(let party, _), .leave(let party):
                #expect(
                    asked[party].map { $0.contains(.invite) || $0.contains(.update) } ?? heard[party]?.contains(.invite) ?? false, "\(name)"
                )
            case .arrives(let party, let method, _): heard[party, default: []].insert(method)
            case .answer(let party, let method, _, _, _): #expect(heard[party]?.contains(method) == true, "\(name): \(method)")
            case .message, .allows, .pause: break
            }
        }
        #expect(!test.steps.isEmpty)
    }

    @Test func `every group has cases, and a message is one of its RFC`() throws {
        for group in TortureCase.Group.allCases { #expect(TortureCase.all.contains { $0.group == group }) }
        let message = try #require(TortureMessage.all.first { $0.group == .rfc5118 }), test = TortureCase(message)
        #expect(test.group == .rfc5118 && test.name == message.name && test.reference == "RFC 5118 \(message.section)")
    }
}

@Suite struct TortureDescriptionTests {
    private static func read(_ description: TortureDescription, _ address: String = "192.0.2.1") throws -> (
        text: String, SessionDescription
    ) {
        let text = description.text(address: try #require(IPAddress(address)), port: 4_000, session: 7, version: 2)
        return (text, try SessionDescription(parsing: Array(text.utf8)))
    }

    @Test func `a plain offer is audio in PCMU at our address`() throws {
        let (text, description) = try Self.read(TortureDescription())
        #expect(text == "v=0\r\no=- 7 2 IN IP4 192.0.2.1\r\ns=-\r\nc=IN IP4 192.0.2.1\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0\r\n")
        #expect(description.media.count == 1 && description.media[0].port == 4_000 && description.media[0].formats == ["0"])
        #expect(try Self.read(TortureDescription(), "2001:db8::1").text.contains("c=IN IP6 2001:db8::1\r\n"))
    }

    @Test func `what is changed is in its place`() throws {
        var plan = TortureDescription(formats: "8 117", lines: ["a=rtpmap:117 X/8000"], direction: "sendonly", connection: "IP4 0.0.0.0")
        plan.further = ["m=video 4002 RTP/AVP 31"]
        let (text, description) = try Self.read(plan)
        #expect(text.hasSuffix("m=audio 4000 RTP/AVP 8 117\r\na=rtpmap:117 X/8000\r\na=sendonly\r\nm=video 4002 RTP/AVP 31\r\n"))
        #expect(text.contains("\r\nc=IN IP4 0.0.0.0\r\n") && description.media.map(\.kind) == ["audio", "video"])
        plan.isRemoved = true
        #expect(try Self.read(plan).1.media[0].port == 0)
    }

    @Test(arguments: [true, false]) func `a direction stands with its stream, or before all of them`(isSessionLevel: Bool) throws {
        guard case .description(let plan) = TortureBody.held("inactive", isSessionLevel: isSessionLevel) else {
            return #expect(Bool(false))
        }
        let (_, description) = try Self.read(plan)
        #expect(
            (description.attribute("inactive") != nil) == isSessionLevel
                && (description.media[0].attribute("inactive") != nil) != isSessionLevel)
    }
}
