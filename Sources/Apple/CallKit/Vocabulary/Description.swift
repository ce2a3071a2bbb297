import Foundation

/// A property in a description.
struct Detail {
    var name: String
    var value: String

    init(_ name: String, _ value: some Any) { (self.name, self.value) = (name, "\(value)") }
}

extension NSObject {
    /// `<Class name=value, …>`, for logs; the class is the object's own, which may be an app's subclass.
    func describe(_ details: [Detail]) -> String {
        let words = details.map { "\($0.name)=\($0.value)" }.joined(separator: ", ")
        return details.isEmpty ? "<\(type(of: self))>" : "<\(type(of: self)) \(words)>"
    }
}
