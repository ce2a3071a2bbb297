import Primitives
import Testing

@Suite struct IdentityTableTests {
    /// Names that count, names that are random, and names that all want the same place.
    static let families: [(String, @Sendable (UInt64, inout SeededRandom) -> UInt128)] = [
        ("counted", { number, _ in UInt128(number) }),
        ("random", { _, random in UInt128(random.next()) << 64 | UInt128(random.next()) }),
        ("crowded", { number, _ in UInt128(number) << 64 | UInt128(number) }),
    ]

    /// Against a plain dictionary.
    @Test(arguments: families.indices)
    func `agrees with a dictionary`(family: Int) {
        var random = SeededRandom(seed: 7)
        let names = (0..<200 as Range<UInt64>).map { Self.families[family].1($0, &random) }
        var (table, model) = (IdentityTable<Int>(), [UInt128: Int]())
        for step in 0..<20_000 {
            let name = names.randomElement(using: &random)!
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1:
                table[name] = step
                model[name] = step
            case 2: #expect(table.removeValue(forKey: name) == model.removeValue(forKey: name))
            case 3:
                table[name] = nil
                model[name] = nil
            case 4:
                table[name]? += 1
                model[name]? += 1
            default:
                table[name, default: 5] += 1
                model[name, default: 5] += 1
            }
            #expect(table[name] == model[name])
            #expect(table.count == model.count)
        }
        #expect(names.allSatisfy { table[$0] == model[$0] })
        #expect(table.values.sorted() == model.values.sorted())
        #expect(Set(table.names) == Set(model.keys))
    }

    @Test func `names that grow in number all stay, and go again`() {
        var table = IdentityTable<UInt64>(), random = SeededRandom(seed: 7)
        let names = (0..<5_000).map { _ in UInt128(random.next()) << 64 | UInt128(random.next()) }
        for (number, name) in names.enumerated() { table[name] = UInt64(number) }
        #expect(table.count == names.count && names.indices.allSatisfy { table[names[$0]] == UInt64($0) })
        for name in names.shuffled(using: &random).dropLast(10) { #expect(table.removeValue(forKey: name) != nil) }
        #expect(table.count == 10 && table.values.count == 10 && table.names.allSatisfy(table.contains))
    }

    @Test func `what is asked for and never set is not there`() {
        var table = IdentityTable<[Int]>()
        #expect(table[0] == nil && !table.contains(0) && table.removeValue(forKey: 0) == nil && table[0, default: [1]] == [1])
        table[0] = nil
        table[1]?.append(1)
        #expect(table.isEmpty && table.values.isEmpty && table.names.isEmpty)
        table[UInt128.max, default: []].append(1)
        #expect(table[.max] == [1] && table.names == [.max])
    }

    @Test func `a change that throws leaves what it came to`() {
        struct Refusal: Error {}
        func change(_ value: inout Int?, to new: Int?) throws {
            value = new
            throw Refusal()
        }
        var table = IdentityTable<Int>()
        #expect(throws: Refusal.self) { try change(&table[1], to: 5) }
        #expect(throws: Refusal.self) { try change(&table[2], to: nil) }
        #expect(table.names == [1] && table[1] == 5)
    }

    @Test func `a copy goes its own way`() {
        var one = IdentityTable<Int>()
        one[1] = 1
        var other = one
        other[2] = 2
        other[1] = nil
        #expect(one.names == [1] && other.names == [2])
    }

    @Test func `equal are tables with the same in them, whatever happened before`() {
        var (one, other) = (IdentityTable<Int>(), IdentityTable<Int>())
        for number in 0..<50 as Range<UInt128> { one[number] = Int(number) }
        for number in 10..<50 as Range<UInt128> { one[number] = nil }
        for number in (0..<10 as Range<UInt128>).reversed() { other[number] = Int(number) }
        #expect(one == other)
        other[3] = 4
        #expect(one != other)
        other[3] = 3
        other[10] = 10
        #expect(one != other && other != one)
        #expect(!one.isEmpty && IdentityTable<Int>().isEmpty)
    }
}
