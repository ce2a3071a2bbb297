import Testing

@testable import SourceRewriter

@Suite struct RewriterTests {
    /// The copy without the lines before it.
    private func copy(_ text: String, keepsEntryPoint: Bool = true) -> String {
        let source = CallSource(path: "/app/Calls.swift", text: text)
        let copy = SourceRewriter(of: [source], keepsEntryPoint: keepsEntryPoint).copy(of: source)
        return copy.split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false).last.map(String.init) ?? ""
    }

    @Test(arguments: [
        ("@objc func end() {}", "      func end() {}"),
        ("@objc(endCall:) func end() {}", "                func end() {}"),
        ("@objcMembers public class Calls: NSObject {}", "             public class Calls: NSObject {}"),
        ("@IBAction func tap(_ sender: Any) {}", "          func tap(_ sender: Any) {}"),
        ("@objc dynamic var held = false", "              var held = false"),
        ("let dynamic = true", "let dynamic = true"),
        ("@IBOutlet private weak var name: UILabel!", "@HookswitchOutlet private      var name: UILabel!"),
        ("@IBOutlet unowned(unsafe) var name: UILabel!", "@HookswitchOutlet                 var name: UILabel!"),
        ("@UIApplicationMain\nclass App {}", "@main\nclass App {}"), ("@NSApplicationMain class App {}", "@main class App {}"),
        ("image = #imageLiteral(resourceName: \"end\")", "image = UIImage(hookswitchLiteral: \"end\")"),
        ("tint = #colorLiteral(red: 0, green: 1, blue: 0, alpha: 1)", "tint = UIColor(red: 0, green: 1, blue: 0, alpha: 1)"),
        ("let key = #keyPath(Call.state.name)", "let key = \"state.name\""),
        (
            "do {} catch let error as NSError { log(error) }",
            "do {} catch                      { let error = error as NSError; _ = error; log(error) }"
        ),
        ("if let bad = error as? NSError {}", "if let bad = error as NSError? {}"), ("view as? NSObject", "view as? NSObject"),
        ("import os.log", "import HookswitchOS"), ("import Network", "import HookswitchNetwork"),
        ("import UIKit.UIGestureRecognizer", "import UIKit"),
        ("import class UIKit.UIImage", "import class UIKit.UIImage"),
        (
            "import Combine\nvar all: Set<Combine.AnyCancellable>",
            "import HookswitchCombine\nvar all: Set<HookswitchCombine.AnyCancellable>"
        ),
        ("struct A { let os = 1; func b() { self.os.c() } }", "struct A { let os = 1; func b() { self.os.c() } }"),
        ("#if os(iOS) && canImport(Combine)\n#endif", "#if os(Linux) && canImport(HookswitchCombine)\n#endif"),
        ("providers.provider?(provider, perform: action)", "providers.provider(provider, perform: action)"),
        ("class D: NSObject, A, UIApplicationDelegate {}", "class D: UIResponder, A, UIApplicationDelegate {}"),
        ("class D: NSObject, A {}; class E: UIApplicationDelegate {}", "class D: NSObject, A {}; class E: UIApplicationDelegate {}"),
        ("self.completion?(nil)", "self.completion?(nil)"),
    ]) func `each line becomes one that Linux takes`(source: String, expected: String) { #expect(copy(source) == expected) }

    @Test(arguments: [
        ("#selector(end)", "Selector(hookswitch: \"end\", of: Phone.end)"),
        ("#selector(self.end(_:))", "Selector(hookswitch: \"self.end(_:)\", of: Phone.end(_:))"),
        ("#selector(Phone.end(_:at:))", "Selector(hookswitch: \"Phone.end(_:at:)\", of: Phone.end(_:at:))"),
        ("#selector(manager.end)", "Selector(hookswitch: \"manager.end\", bound: manager.end)"),
        ("#selector(getter: Phone.name)", "Selector(\"getter: Phone.name\")"), ("#selector()", "#selector()"),
    ]) func `a selector names the method of the type around it`(selector: String, expected: String) {
        let source = "extension Phone { struct Nested { var a = { 1 }() }; func start() { if true { add(\(selector)) } } }"
        #expect(copy(source).contains("add(\(expected))"))
        #expect(copy("class Phone { func play(actor name: String) { add(\(selector)) } }").contains("add(\(expected))"))
        #expect(copy("class Outer { class Phone { lazy var a = \(selector) } }").contains("a = \(expected) }"))
    }

    @Test(arguments: [
        "// @objc func end()", "/* @objc /* nested */ #selector(x) */ let a = 1", "let a = \"@objc \\(\"#selector(\" + b) import os\"",
        "let a = #\"@objc \" \\(no) \"#", "let a = \"\"\"\n@objc \" \"\" #selector(x)\n\"\"\"",
        "let a = #\"\"\"\n\"\"\" @objc \\#(f(\"@objc\"))\n\"\"\"#",
        "let a = #/\" @objc/#", "let `import` = 1", "a ? b : c", "let a = \"\\\\\"", "let é = \"ü @objc\"", "let a = \"\"",
    ]) func `comments, literals and other code stay as they are`(source: String) {
        #expect(copy(source) == source)
        #expect(copy(source + "\n@objc func end() {}") == source + "\n      func end() {}", "the end of it is found")
    }

    @Test func `an entry point stays out of a library`() {
        #expect(copy("@main\nclass App {}", keepsEntryPoint: false) == "\nclass App {}")
        #expect(copy("@UIApplicationMain class App {}", keepsEntryPoint: false) == " class App {}")
    }

    @Test func `the copy names its source, and what it needs`() {
        let source = CallSource(path: "/a \"b\"\\c.swift", text: "let session: URLSession")
        #expect(
            SourceRewriter(of: [source], keepsEntryPoint: true).copy(of: source)
                == "import HookswitchObjectiveC; import FoundationNetworking\n#sourceLocation(file: \"/a \\\"b\\\"\\\\c.swift\", line: 1)\nlet session: URLSession"
        )
    }

    @Test func `what Foundation brings with it on Apple systems is imported, and what a bridging header does`() {
        let source = CallSource(path: "a", text: "import CallKit\nclass A: ObservableObject {}")
        let copy = SourceRewriter(of: [source], importing: ["Vendor"], keepsEntryPoint: true).copy(of: source)
        #expect(copy.hasPrefix("import HookswitchObjectiveC; import HookswitchCombine; import Vendor\n"))
    }

    @Test func `each line stays on its line`() {
        let source = "button.addTarget(self,\n  action: #selector(\n    tap(_:)\n  ), for: .touchUpInside)\nlet b = 1"
        let lines = copy(source).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 5 && lines[4] == "let b = 1")
    }
}

@Suite struct OptionalMemberTests {
    private let source = CallSource(
        path: "Delegate.swift",
        text: """
            @objc public protocol PhoneDelegate: NSObjectProtocol {
                func mustBe()
                @objc optional func ended(_ phone: Phone, // why
                                          reason: Int)
                @objc optional func mayEnd(_ phone: Phone) -> Bool
                @objc optional func name(of phone: Phone) -> String?
                @objc optional func keys(for phone: [String: Int]) -> [String: (Int) -> Bool]
                optional var title: String { get }
                optional var count: Int { get set }
                @objc optional func call() -> Phone
            }
            """)

    @Test func `members that may be lacking have defaults in one line behind the protocol`() {
        let copy = SourceRewriter(of: [source], keepsEntryPoint: true).copy(of: source)
        let last = copy.split(separator: "\n").last ?? ""
        #expect(last.hasPrefix("}; public extension PhoneDelegate { func ended(_ phone: Phone, reason: Int) {  }; "))
        for part in [
            "func mayEnd(_ phone: Phone) -> Bool { false }", "func name(of phone: Phone) -> String? { nil }",
            "func keys(for phone: [String: Int]) -> [String: (Int) -> Bool] { [:] }", "var title: String { get { \"\" } }",
            "var count: Int { get { 0 } set { } }", "func call() -> Phone { fatalError(",
        ] { #expect(last.contains(part), "\(part)") }
        #expect(copy.contains("protocol PhoneDelegate: AnyObject, NSObjectProtocol {"))
        #expect(!copy.contains("optional") || copy.contains("fatalError(\"an optional"))
        #expect(copy.split(separator: "\n").count == 13, "no line is added to the eleven but those before them")
    }

    @Test func `a call of one in another file has no question mark`() {
        let caller = CallSource(path: "Phone.swift", text: "delegate?.ended?(self, reason: 1); self.ended?(1); ended?(1)")
        let copy = SourceRewriter(of: [source, caller], keepsEntryPoint: true).copy(of: caller)
        #expect(copy.hasSuffix("delegate?.ended(self, reason: 1); self.ended(1); ended?(1)"))
    }

    @Test func `a protocol of Objective-C is one of classes`() {
        let plain = CallSource(path: "A.swift", text: "@objc protocol A {}\n@objc private protocol B: C {}\nprotocol D {}")
        let copy = SourceRewriter(of: [plain], keepsEntryPoint: true).copy(of: plain)
        #expect(copy.hasSuffix("      protocol A: AnyObject {}\n      private protocol B: AnyObject, C {}\nprotocol D {}"))
    }
}

@Suite struct HostileSourceTests {
    /// A source that uses each rule.
    static let whole = """
        import os.log
        #if os(iOS)
        @UIApplicationMain class App: NSObject { @IBOutlet weak var a: B!; @objc(b:) func b() {} }
        @objc protocol C { @objc optional func d(_ a: [Int]) -> (() -> Void)?; optional var e: Int { get set } }
        #endif
        let f = #"raw \\#("in \\(#selector(x))")"#, g = \"\"\"
            several \\(lines("x"))
            \"\"\" /* a /* b */ */
        do { c.d?([1]) } catch let error as NSError { #keyPath(A.b) } // end
        let `default` = #/"/#; #imageLiteral(resourceName: "x")
        """

    @Test func `a source that is cut anywhere is copied`() {
        let bytes = Array(Self.whole.utf8)
        for end in 0...bytes.count {
            for start in [0, end / 2] where end % 2 == 0 {
                let source = CallSource(path: "cut", text: String(decoding: bytes[start..<end], as: UTF8.self))
                let copy = SourceRewriter(of: [source], keepsEntryPoint: true).copy(of: source)
                #expect(copy.count { $0 == "\n" } == source.text.count { $0 == "\n" } + 2, "cut at \(end)")
            }
        }
    }

    @Test func `bytes of a source in any order are copied`() {
        var state: UInt64 = 7, bytes = Array(Self.whole.utf8)
        for _ in 0..<500 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            bytes.swapAt(Int(state >> 33) % bytes.count, Int(state >> 20 & 0xffff) % bytes.count)
            let source = CallSource(path: "mixed", text: String(decoding: bytes, as: UTF8.self))
            let copy = SourceRewriter(of: [source], keepsEntryPoint: true).copy(of: source)
            #expect(copy.utf8.count { $0 == 10 } >= 2)
        }
    }

    @Test(arguments: ["(", "{", "\"\\(", "/*", "#", "@", "`", "@objc protocol A {", "#selector(", "class ", "\"\"\"", "optional func a("])
    func `deep nesting ends`(piece: String) {
        let source = CallSource(path: "deep", text: String(repeating: piece, count: 500))
        #expect(SourceRewriter(of: [source], keepsEntryPoint: true).copy(of: source).count > 500)
    }
}
