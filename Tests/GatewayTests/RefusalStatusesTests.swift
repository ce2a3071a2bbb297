import CallKit
import Primitives
import Testing

@testable import Gateway

@Suite struct RefusalStatusesTests {
    @Test(arguments: [
        (RefusalStatuses.Kind.doNotDisturb, "do-not-disturb", [480, 486, 600, 603]), (.blockList, "block-list", [607, 603, 403, 480]),
        (.directory, "directory", [608, 603]), (.unentitled, "unentitled", [403, 404]), (.maximumCalls, "maximum-calls", [486, 600]),
    ])
    func `a kind of refusal has its statuses, the default first`(kind: RefusalStatuses.Kind, name: String, statuses: [Int]) {
        #expect(kind.rawValue == name && kind.statuses == statuses && RefusalStatuses()[kind] == statuses[0])
        var chosen = RefusalStatuses()
        for status in statuses {
            chosen[kind] = status
            #expect(chosen[kind] == status)
        }
    }

    @Test func `those of a line go before those of the gateway, one by one`() {
        var gateway = RefusalStatuses(), line = RefusalStatuses()
        (gateway[.doNotDisturb], gateway[.directory]) = (600, 603)
        (line[.doNotDisturb], line[.blockList]) = (486, 403)
        let both = line.over(gateway)
        #expect(both[.doNotDisturb] == 486 && both[.directory] == 603 && both[.blockList] == 403 && both[.unentitled] == 403)
        #expect(RefusalStatuses().over(gateway) == gateway && gateway.over(RefusalStatuses()) == gateway)
        var asDefault = RefusalStatuses()
        asDefault[.doNotDisturb] = 480
        #expect(asDefault.over(gateway)[.doNotDisturb] == 480, "a default that was chosen is chosen")
    }

    @Test func `a status of another kind is a mistake in our own code`() async {
        await #expect(processExitsWith: .failure) {
            var statuses = RefusalStatuses()
            statuses[.directory] = 486
        }
    }

    @Test(
        arguments: [
            (RefusalStatuses.Kind.doNotDisturb, 480, "Do Not Disturb", 31), (.doNotDisturb, 486, nil, 17), (.doNotDisturb, 600, nil, 17),
            (.doNotDisturb, 603, nil, 21), (.blockList, 607, "Unwanted", 21), (.blockList, 603, nil, 21), (.blockList, 403, nil, 21),
            (.blockList, 480, nil, 31), (.directory, 608, "Rejected", 21), (.directory, 603, nil, 21), (.unentitled, 403, nil, 21),
            (.unentitled, 404, nil, 21), (.maximumCalls, 486, nil, 17), (.maximumCalls, 600, nil, 17),
        ] as [(RefusalStatuses.Kind, Int, Text?, Int)])
    func `a refusal says its status, its phrase and the cause of Q.850`(kind: RefusalStatuses.Kind, status: Int, phrase: Text?, cause: Int)
    {
        var statuses = RefusalStatuses()
        statuses[kind] = status
        let refusal = CallRefusal(kind, statuses)
        #expect(refusal.cause == EndCause(status: status, phrase: phrase, reasons: [.q850(cause)]) && refusal.headers.isEmpty)
    }
}

@Suite struct FeatureCodeTests {
    @Test(
        arguments: [
            ("*78", .code(.doNotDisturbOn)), ("*79", .code(.doNotDisturbOff)), ("*60", .code(.blockLastCaller)),
            ("*80", .code(.unblockLastCaller)),
            ("*69", .code(.callBackLastCaller)), ("*", .incomplete), ("*7", .incomplete), ("*6", .incomplete), ("*8", .incomplete),
            ("*5", .unknown), ("*70", .unknown), ("*789", .unknown), ("*78#", .unknown), ("**", .unknown), ("*31#1002", .unknown),
            ("", nil), ("78", nil), ("#78", nil), ("7*8", nil), (" *78", nil),
        ] as [(Text, FeatureCode.Dialled?)])
    func `a number that begins with a star is a code, the beginning of one, or none`(number: Text, dialled: FeatureCode.Dialled?) {
        #expect(FeatureCode.dialled(number) == dialled)
    }

    @Test func `codes are a star and two digits, and each is there once`() {
        #expect(FeatureCode.allCases.allSatisfy { $0.rawValue.wholeMatch(of: /\*[0-9]{2}/) != nil })
        #expect(Set(FeatureCode.allCases.map(\.rawValue)).count == 5)
    }
}
