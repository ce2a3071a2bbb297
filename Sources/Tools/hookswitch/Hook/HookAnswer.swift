import Console
import Foundation
import Gateway
import Primitives

/// The answer of the decision hook's program, as JSON: what becomes of the call, and what is done with it when it is reported.
struct HookAnswer {
    let decision: CallDecision
    let transactions: CallTransactions?

    /// A word alone is the number of a line.
    private struct Member: Decodable {
        var number: String
        var delay: Double?

        private enum CodingKeys: CodingKey { case number, delay }

        init(from decoder: any Decoder) throws {
            if let word = try? decoder.singleValueContainer().decode(String.self) {
                number = word
                return
            }
            let container = try decoder.container(keyedBy: CodingKeys.self)
            number = try container.decode(String.self, forKey: .number)
            delay = try container.decodeIfPresent(Double.self, forKey: .delay)
        }
    }

    private struct Words: Decodable {
        var number: String?, reject: Int?
        var devices: String?, trunk: String?, application: String?
        var ring: [Member]?, inTurn: Double?
        var transactions: CallTransactions?

        private enum CodingKeys: String, CodingKey {
            case number, reject, devices, trunk, application, ring
            case inTurn = "in-turn"
            case transactions
        }
    }

    /// Members of a ring group.
    private static let mostMembers = 10
    /// Others need a file.
    private static let applications = ["echo", "tone", "conference"]

    /// - Throws: why it is no answer.
    init(_ content: Data) throws(HTTPPost.Failure) {
        let words: Words
        do { words = try JSONDecoder().decode(Words.self, from: content) } catch let error as CallTransactions.Fault {
            throw .init(description: "the hook's answer: \(error.description)")
        } catch {
            throw .init(
                description: "the hook's answer is no JSON object of 'number', 'reject', 'devices', 'ring', 'trunk' or 'application'")
        }
        transactions = words.transactions
        decision = try Self.decision(words)
    }

    private static func decision(_ words: Words) throws(HTTPPost.Failure) -> CallDecision {
        let given = [words.number, words.devices, words.trunk, words.application].compactMap(\.self)
        let count = given.count + (words.reject == nil ? 0 : 1) + (words.ring == nil ? 0 : 1)
        guard count <= 1, given.allSatisfy({ !$0.isEmpty && $0.utf8.count <= 128 }), words.inTurn == nil || words.ring != nil else {
            throw unusable
        }
        if let number = words.number ?? words.devices { return .number(Text(number)) }
        if let line = words.trunk { return .trunk(Text(line)) }
        if let name = words.application {
            guard applications.contains(name), let application = LineEndpoint.Application(named: name) else { throw unusable }
            return .application(application)
        }
        if let members = words.ring { return .ring(try group(members, inTurn: words.inTurn)) }
        guard let status = words.reject else { return .asDialled }
        guard (300...699).contains(status), words.transactions == nil else { throw unusable }
        return .refused(status: status)
    }

    private static func group(_ members: [Member], inTurn: Double?) throws(HTTPPost.Failure) -> RingGroup {
        guard (1...mostMembers).contains(members.count), members.allSatisfy({ !$0.number.isEmpty && $0.number.utf8.count <= 128 }),
            members.allSatisfy({ (0...600).contains($0.delay ?? 0) && ($0.delay == nil || inTurn == nil) }),
            inTurn.map((1...600).contains) ?? true
        else { throw unusable }
        func time(_ seconds: Double) -> Duration { .milliseconds(Int64(seconds * 1_000)) }
        return RingGroup(
            members.map { .init(Text($0.number), delay: time($0.delay ?? 0)) }, inTurn.map { .inTurn(time($0)) } ?? .all)
    }

    private static var unusable: HTTPPost.Failure {
        .init(
            description:
                "the hook's answer has no usable 'number', 'reject' (300 to 699), 'devices', 'ring', 'trunk' or 'application', or two")
    }
}
