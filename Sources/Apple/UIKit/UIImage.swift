import Foundation

/// An image file, as it is: nothing is decoded or drawn.
open class UIImage: NSObject, @unchecked Sendable {
    private let data: Data

    /// A PNG file of the main bundle, with or without its extension; nil when there is none.
    public convenience init?(named name: String) {
        let bare = name.hasSuffix(".png") ? String(name.dropLast(4)) : name
        guard let path = Bundle.main.path(forResource: bare, ofType: "png") else { return nil }
        self.init(contentsOfFile: path)
    }

    public convenience init?(contentsOfFile path: String) {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        self.init(data: data)
    }

    /// nil when the data are not a PNG file.
    public init?(data: Data) {
        guard data.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) else { return nil }
        self.data = data
        super.init()
    }

    open func pngData() -> Data? { data }
}
