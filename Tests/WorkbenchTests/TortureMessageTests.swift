import Foundation
import Primitives
import SIP
import Testing

@testable import Workbench

/// The messages that `hookswitch torture` sends are those of the RFCs, octet for octet.
@Suite struct TortureMessageTests {
    private static let corpus = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(path: "Corpus")

    @Test(arguments: TortureMessage.all.map(\.name))
    func `a message has the octets of the RFC's own archive`(name: String) throws {
        let message = try #require(TortureMessage.all.first { $0.name == name })
        let archived = try Data(contentsOf: Self.corpus.appending(path: "\(message.group.rawValue)/\(name).dat"))
        #expect(message.bytes == [UInt8](archived))
    }

    @Test func `no message of the archives is left out, but the one that is in no text`() throws {
        for group in [TortureCase.Group.rfc4475, .rfc5118] {
            let files = try FileManager.default.contentsOfDirectory(atPath: Self.corpus.appending(path: group.rawValue).path)
            let names = Set(files.map { $0.replacingOccurrences(of: ".dat", with: "") }).subtracting(["test"])
            #expect(Set(TortureMessage.all.filter { $0.group == group }.map(\.name)) == names)
        }
        #expect(TortureMessage.all.count { $0.group == .rfc4475 } == 49)
    }

    @Test func `cases have names of their own`() {
        #expect(Set(TortureCase.all.map(\.name)).count == TortureCase.all.count)
        #expect(TortureCase.all.allSatisfy { !$0.title.isEmpty && $0.reference.hasPrefix("RFC ") })
    }

    @Test(arguments: TortureMessage.all.map(\.name))
    func `a dressed message differs by rport, branch and Call-ID alone, and reads as it did before`(name: String) throws {
        let message = try #require(TortureMessage.all.first { $0.name == name })
        let dressed = TortureDressing(message.bytes, mark: "x7", asksForPort: true)
        func stripped(_ bytes: [UInt8]) -> String {
            String(decoding: bytes, as: UTF8.self).replacingOccurrences(of: ";rport", with: "").replacingOccurrences(of: "x7", with: "")
        }
        #expect(stripped(dressed.bytes) == stripped(message.bytes))
        guard let before = try? Message(parsing: message.bytes) else { return #expect((try? Message(parsing: dressed.bytes)) == nil) }
        let after = try Message(parsing: dressed.bytes)
        #expect(after.callID == before.callID + "x7" && after.via.asksForPort)
        #expect(after.vias.count == before.vias.count && after.vias.dropFirst() == before.vias.dropFirst())
        if let branch = before.via.branch, branch.count > 7 { #expect(after.via.branch == branch + "x7") }
    }

    @Test func `bytes stay as they are where they are to`() {
        for message in TortureMessage.all { #expect(TortureDressing(message.bytes, mark: nil, asksForPort: true).bytes == message.bytes) }
    }
}
