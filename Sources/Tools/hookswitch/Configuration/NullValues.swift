import Yams

extension Node.Mapping {
    /// YAML's null is no value of any setting: read as text it would be a password or a folder named `~`.
    ///
    /// - Throws: the first, with its line.
    func refuseNull(in file: String) throws(ConfigurationError) {
        for (key, value) in self { try value.refuseNull(key.string ?? "", file, line: key.mark?.line ?? 0) }
    }
}

extension Node {
    fileprivate func refuseNull(_ name: String, _ file: String, line: Int) throws(ConfigurationError) {
        switch self {
        case .scalar(let scalar) where scalar.isNull:
            let written = scalar.string.isEmpty ? "" : ": '\(scalar.string)' is null in YAML, and text only in quotes"
            throw ConfigurationError(place: "\(file):\(scalar.mark?.line ?? line)", message: "'\(name)' has no value\(written)")
        case .sequence(let elements): for element in elements { try element.refuseNull(name, file, line: line) }
        case .mapping(let mapping): try mapping.refuseNull(in: file)
        case .scalar, .alias: break
        }
    }
}

extension Node.Scalar {
    fileprivate var isNull: Bool { style == .plain && tag != Tag(.str) && ["", "~", "null", "Null", "NULL"].contains(string) }
}
