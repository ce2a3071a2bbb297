import HTTP
import Testing

@Suite struct RequestTargetTests {
    @Test(arguments: [
        ("/", []), ("/v1/calls", ["v1", "calls"]), ("/v1/calls/", ["v1", "calls", ""]), ("/a%20b/c%2Fd", ["a b", "c/d"]),
        ("/a+b", ["a+b"]), ("//a", ["", "a"]), ("/%C3%A9", ["é"]), ("/...", ["..."]),
    ])
    func `segments are decoded one by one`(text: String, segments: [String]) {
        #expect(RequestTarget(text)?.segments == segments)
    }

    @Test func `a query has its items in their order`() throws {
        let target = try #require(RequestTarget("/x?line=1001&from=%2B39+1&&empty=&bare&line=2"))
        #expect(target.query.map { "\($0.name)=\($0.value)" } == ["line=1001", "from=+39 1", "empty=", "bare=", "line=2"])
        #expect(target["line"] == "1001" && target["bare"] == "" && target["none"] == nil)
    }
}
