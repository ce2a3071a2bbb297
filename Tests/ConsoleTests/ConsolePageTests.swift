import Foundation
import HTTP
import Primitives
import Testing

@testable import Console

extension RealTime {
    /// The files of the web console, and whom they are given to.
    @Suite(.timeLimit(.minutes(5))) struct ConsolePageTests {
        private let server: ControlServer
        private let folder = FileManager.default.temporaryDirectory.appending(path: "console-\(UUID())")

        init() throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let tokens = AccessTokenFile(path: folder.appending(path: "tokens.json").path)
            try tokens.write([AccessToken.make(name: "a", scopes: [.read], lines: nil, expires: nil).kept])
            server = try ControlServer(
                path: nil, addresses: [anyLoopbackPort], tokens: tokens, phone: PhoneServer(domain: "pbx.test", ws: 5066, wss: 5067),
                version: "1.2.3")
        }

        private func ask(_ path: String, _ method: String = "GET", _ fields: String = "") throws -> (head: String, body: String) {
            let visitor = try Visitor(to: try #require(server.addresses.first))
            visitor.write("\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(fields)\r\n")
            let parts = try #require(visitor.readToEnd()).components(separatedBy: "\r\n\r\n")
            return (parts[0], parts.dropFirst().joined(separator: "\r\n\r\n"))
        }

        private static let pages = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/Server/CConsolePages/pages")

        @Test func `each file of the folder is in the program, as it is`() throws {
            let names = try FileManager.default.contentsOfDirectory(atPath: Self.pages.path).sorted()
            #expect(ConsolePage.all.map(\.name) == names)
            for page in ConsolePage.all { #expect(try Data(contentsOf: Self.pages.appending(path: page.name)) == Data(page.content)) }
        }

        @Test func `each import of a script leads to a file, and nothing to another server`() throws {
            let names = Set(ConsolePage.all.map(\.name) + ["phone.json"])
            for page in ConsolePage.all {
                let text = String(decoding: page.content, as: UTF8.self)
                for found in text.matches(of: /from "\.\/([^"]+)"|"\/console\/([^"]+)"/) {
                    #expect(names.contains(String(found.1 ?? found.2 ?? "")), "\(page.name): \(found.0)")
                }
                let addresses = text.matches(of: /https?:\/\/[^"'\s]+/).map { String($0.0) }
                #expect(addresses.allSatisfy { $0.hasPrefix("http://www.w3.org/") }, "\(page.name): \(addresses)")
            }
        }

        @Test func `whoever reaches the server gets the page, and nothing of the gateway`() throws {
            let page = try ask("/")
            #expect(page.head.hasPrefix("HTTP/1.1 200") && page.body.contains("/console/main.js"))
            #expect(
                page.head.contains("Content-Type: text/html; charset=utf-8") && page.head.contains("default-src 'none'; script-src 'self'"))
            #expect(try ask("/console/main.js").head.contains("Content-Type: text/javascript"))
            #expect(try ask("/console/main.js", "HEAD").body.isEmpty)
            for (path, status) in [("/v1/calls", 401), ("/console/nothing.js", 404), ("/console/..%2Fmain.js", 404), ("/other", 404)] {
                #expect(try ask(path).head.hasPrefix("HTTP/1.1 \(status)"), "\(path)")
            }
            #expect(try ask("/", "POST", "Content-Length: 0\r\n").head.hasPrefix("HTTP/1.1 405"))
            #expect(try ask("/", "GET", "Origin: https://elsewhere.test\r\n").head.hasPrefix("HTTP/1.1 403"))
        }

        @Test func `the telephone may connect to the gateway's own WebSockets, and to nothing else`() throws {
            let page = try ask("/phone"), other = try ask("/")
            #expect(page.head.hasPrefix("HTTP/1.1 200") && page.body.contains("/console/phone.js"))
            #expect(page.head.contains("connect-src 'self' ws://localhost:5066 wss://localhost:5067; base-uri 'none'"))
            #expect(other.head.contains("connect-src 'self'; base-uri 'none'"))
            #expect(try ask("/console/phone.json").body == #"{"domain":"pbx.test","ws":5066,"wss":5067}"#)
            #expect(try ask("/phone/other").head.hasPrefix("HTTP/1.1 404") || ask("/phone/other").head.hasPrefix("HTTP/1.1 401"))
        }

        @Test(arguments: ["*", "x;script-src", "a b", "'none'", "[::1]", ""]) func `a host that is no name is no source`(host: String)
            throws
        {
            let visitor = try Visitor(to: try #require(server.addresses.first))
            visitor.write("GET /phone HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
            let head = try #require(visitor.readToEnd())
            #expect(head.hasPrefix("HTTP/1.1 400") || head.contains("connect-src 'self'; base-uri"), "\(head)")
        }

        @Test func `a browser that has a file gets it not again`() throws {
            let first = try ask("/console/console.css")
            let tag = try #require(first.head.components(separatedBy: "\r\n").first { $0.hasPrefix("ETag: ") }?.dropFirst(6))
            let again = try ask("/console/console.css", "GET", "If-None-Match: \(tag)\r\n")
            #expect(again.head.hasPrefix("HTTP/1.1 304") && again.body.isEmpty)
        }
    }
}
