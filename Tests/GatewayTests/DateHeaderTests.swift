import Foundation
import Primitives
import Testing

@testable import Gateway

@Suite struct DateHeaderTests {
    @Test(arguments: [
        (0.0, "Thu, 01 Jan 1970 00:00:00 GMT"), (1_289_690_940, "Sat, 13 Nov 2010 23:29:00 GMT"),
        (951_782_399.9, "Mon, 28 Feb 2000 23:59:59 GMT"),
        (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
    ])
    func `a date is written as RFC 3261 has it`(seconds: Double, text: String) {
        #expect(Date(timeIntervalSince1970: seconds).header.description == text)
    }
}
