import Primitives
import Testing

@Suite struct BoxedTests {
    @Test func `boxes are equal by what is in them, and hash alike`() {
        let box = Boxed([1, 2])
        #expect(box == box && box == Boxed([1, 2]) && box != Boxed([2, 1]) && box.value == [1, 2])
        #expect(box.hashValue == Boxed([1, 2]).hashValue && Set([box, Boxed([3])]).count == 2)
    }
}
