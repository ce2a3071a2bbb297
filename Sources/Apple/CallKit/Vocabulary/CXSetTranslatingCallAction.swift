import Foundation

/// The engine that translates a call.
public enum CXTranslationEngine: Int, Sendable {
    /// The system's own engine.
    case `default` = 0
    /// The app's.
    case custom = 1
}

/// Begin or end the translation of a call. Of use once the call is connected, for providers that support it.
open class CXSetTranslatingCallAction: CXCallAction, @unchecked Sendable {
    /// Whether translation is to begin; false ends it.
    public let isTranslating: Bool
    /// BCP 47, as the remote language.
    public let localLanguage: String
    /// The language that the other party speaks, in BCP 47.
    public let remoteLanguage: String

    /// A wish for the provider of that call. It is refused before the call is connected.
    public init(call callUUID: UUID, isTranslating: Bool, localLanguage: String, remoteLanguage: String) {
        (self.isTranslating, self.localLanguage, self.remoteLanguage) = (isTranslating, localLanguage, remoteLanguage)
        super.init(call: callUUID)
    }

    init(copying other: CXSetTranslatingCallAction) {
        (isTranslating, localLanguage, remoteLanguage) = (other.isTranslating, other.localLanguage, other.remoteLanguage)
        super.init(copying: other)
    }

    /// Decodes one that `encode(with:)` has written; nil where a value is missing. It is not complete, and gets a new time limit.
    public required init?(coder: NSCoder) {
        guard let localLanguage = coder.decodeObject(of: NSString.self, forKey: "localLanguage"),
            let remoteLanguage = coder.decodeObject(of: NSString.self, forKey: "remoteLanguage")
        else { return nil }
        isTranslating = coder.decodeBool(forKey: "isTranslating")
        (self.localLanguage, self.remoteLanguage) = (localLanguage as String, remoteLanguage as String)
        super.init(coder: coder)
    }

    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(isTranslating, forKey: "isTranslating")
        coder.encode(localLanguage as NSString, forKey: "localLanguage")
        coder.encode(remoteLanguage as NSString, forKey: "remoteLanguage")
    }

    open override func copy(with zone: NSZone? = nil) -> Any { CXSetTranslatingCallAction(copying: self) }
    override var details: [Detail] {
        let languages = [Detail("localLanguage", localLanguage), Detail("remoteLanguage", remoteLanguage)]
        return super.details + [Detail("isTranslating", isTranslating)] + languages
    }

    /// Done, by this engine. Plain `fulfill()` means the default one.
    open func fulfill(using engine: CXTranslationEngine) { complete(fulfilled: true, date: nil, engine: engine) }
}
