import Foundation

/// Data as an argument of a format, by its description.
extension Data: @retroactive CVarArg, @retroactive _CVarArgObject {
    private var text: String { NSData(data: self).description }
    public var _cVarArgObject: any CVarArg { text._cVarArgObject }
    public var _cVarArgEncoding: [Int] { text._cVarArgEncoding }
}
