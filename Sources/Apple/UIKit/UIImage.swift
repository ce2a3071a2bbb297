import Foundation

/// An image file, as it is: nothing is decoded or drawn.
open class UIImage: NSObject, @unchecked Sendable {
    public enum RenderingMode: Int, Sendable {
        case automatic = 0, alwaysOriginal = 1, alwaysTemplate = 2
    }

    private let data: Data

    /// A PNG file of the main bundle, with or without its extension; nil when there is none.
    public convenience init?(named name: String) { self.init(named: name, in: nil, compatibleWith: nil) }

    /// The same of another bundle.
    public convenience init?(named name: String, in bundle: Bundle?, compatibleWith traits: UITraitCollection?) {
        let bare = name.hasSuffix(".png") ? String(name.dropLast(4)) : name
        guard let path = (bundle ?? .main).path(forResource: bare, ofType: "png") else { return nil }
        self.init(contentsOfFile: path)
    }

    /// A symbol of the system: one pixel, for the system's symbols are not here.
    public convenience init?(systemName name: String) { self.init(data: Self.onePixel) }

    public convenience init?(contentsOfFile path: String) {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        self.init(data: data)
    }

    /// The image of `#imageLiteral`, in whose place the plug-in `CallSources` puts this; one pixel when the bundle has none.
    public convenience init(hookswitchLiteral name: String) {
        let path = Bundle.main.path(forResource: name, ofType: "png")
        self.init(unchecked: path.flatMap { FileManager.default.contents(atPath: $0) } ?? Self.onePixel)
    }

    /// nil when the data are not a PNG file.
    public convenience init?(data: Data) {
        guard data.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) else { return nil }
        self.init(unchecked: data)
    }

    private init(unchecked data: Data) {
        self.data = data
        super.init()
    }

    open func pngData() -> Data? { data }
    open func withRenderingMode(_ mode: RenderingMode) -> UIImage { self }

    private static let onePixel = Data(
        base64Encoded: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==")!
}

/// The traits of a screen; here only a name in a signature.
open class UITraitCollection: NSObject, @unchecked Sendable {}

/// The data of an image, by its name before Swift 4.2.
public func UIImagePNGRepresentation(_ image: UIImage) -> Data? { image.pngData() }
