import Primitives
import Testing

@testable import Gateway

@Suite struct NumberPatternTests {
    @Test(arguments: [
        ("1002", "1002", true), ("1002", "10022", false), ("1002", "100", false), ("1002", "", false),
        // Any one character, and any rest.
        ("10..", "1002", true), ("10..", "102", false), ("10*", "10", true), ("10*", "1002", true), ("10*", "2002", false),
        (".*", "1", true), (".*", "", false), ("1*2", "1*2", true), ("1*2", "1002", false), ("**", "*69", true), ("**", "69", false),
        // The ends.
        ("^10", "1002", true), ("^10", "2002", false), ("^10$", "10", true), ("^10$", "100", false), ("10$", "10", true),
        ("10$", "110", false), ("^10*", "10", true), ("1$0", "1$0", true), ("1^0", "1^0", true),
        // A backslash takes what follows as it is.
        ("\\*69", "*69", true), ("10\\*", "10*", true), ("10\\*", "1002", false), ("\\.", ".", true), ("\\.", "1", false),
        ("\\^1", "^1", true), ("1\\$", "1$", true), ("\\[1", "[1", true), ("\\\\", "\\", true),
        ("+39*", "+39055", true), ("+39*", "39055", false), ("ann", "ANN", false),
    ])
    func `a pattern matches a number from its first character`(pattern: String, number: String, matches: Bool) throws {
        #expect(try #require(NumberPattern(Text(pattern))).matches(Text(number)) == matches)
    }

    @Test(arguments: ["", "^", "$", "^$", "*", "^*", "\\", "10\\", "\\d", "\\1", "[0-9]", "(1|2)", "1{2}", "1?", "1|2", "10)", "10]"])
    func `what is empty, or an expression of another kind, is no pattern`(text: String) {
        #expect(NumberPattern(Text(text)) == nil)
    }

    @Test func `a pattern is printed as it was written, and equals what was written alike`() throws {
        let pattern = try #require(NumberPattern("^00\\*.$"))
        #expect(pattern.description == "^00\\*.$" && pattern == NumberPattern("^00\\*.$") && pattern != NumberPattern("^00\\*."))
    }
}
