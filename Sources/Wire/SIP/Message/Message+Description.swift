import Primitives

extension Text {
    /// The type of a session description (RFC 8866 §8.1).
    public static let sdp: Text = "application/sdp"
}

extension Message {
    /// Body types in which a session description is sought, as an Accept header lists them.
    public static let acceptedBodies: [Text] = [.sdp] + MultipartBody.understood

    /// The message with a session description for a body, or with none, where what it came with is more or other than that; nil where it is
    /// as it should be, or cannot be used: a request is to be refused with 415 then. What cannot be refused, an ACK or a response, has none
    /// then. Of INVITE, ACK, UPDATE and PRACK and their responses below 300; what others bring is their receiver's affair. An answer that
    /// does not say what it is is taken for a description.
    ///
    /// The first description counts among several parts (RFC 5621), and the last among alternatives. A body that need not be understood
    /// (RFC 3261 §20.11) is passed over, and so is a part that does not say that it must be: by that section it should be taken as if it
    /// did, but the location or the billing data that a carrier puts beside its offer hardly ever says anything.
    public var reducedToDescription: Message? {
        guard !content.isEmpty, method == .invite || method == .ack || method == .update || method == .prack, status ?? 0 < 300 else {
            return nil
        }
        let isRefusable = isRequest && method != .ack
        if headers[.contentEncoding]?.equalsIgnoringCase("identity" as StaticString) ?? true {
            let value = headers[.contentType] ?? (isRefusable ? .empty : .sdp)
            if value.equalsIgnoringCase("application/sdp" as StaticString) || ContentType(value).name == .sdp {
                if isOfSession { return nil }
            } else {
                switch Self.find(in: content, ContentType(value), depth: 0) {
                case .description(let description): return with(description)
                case .nothing: return with(.empty)
                case .unusable: break
                }
            }
        }
        let isOptional = headers[.contentDisposition].map { ContentDisposition($0).handling == "optional" } ?? false
        return isOptional || !isRefusable ? with(.empty) : nil
    }

    /// The body describes the session, if anything: not how something is to be shown, and not an early session (RFC 3959), of which there
    /// are none here.
    public var isOfSession: Bool {
        headers[.contentDisposition].map { ContentDisposition($0).name }.map { $0.isEmpty || $0 == "session" } ?? true
    }

    private func with(_ description: Text) -> Message {
        var message = self
        message.content = description
        for name in [HeaderName.contentDisposition, .contentEncoding] { message.headers.remove(name) }
        if description.isEmpty { message.headers.remove(.contentType) } else { message.headers.set(.contentType, .sdp) }
        return message
    }

    /// The result of the search in a body.
    private enum Finding {
        case description(Text)
        /// Nothing that must be understood.
        case nothing
        case unusable
    }

    private static let mostDepth = 3

    private static func find(in content: Text, _ type: ContentType, depth: Int) -> Finding {
        guard depth < mostDepth, MultipartBody.understood.contains(type.name), let boundary = type.boundary,
            let body = MultipartBody(content, boundary: boundary)
        else { return .unusable }
        let isChoice = type.name == "multipart/alternative"
        var result = Finding.nothing
        for part in isChoice ? body.parts.reversed() : body.parts {
            switch (find(in: part, depth: depth), result) {
            case (.description(let description), .nothing): result = .description(description)
            case (.unusable, _) where !isChoice: return .unusable
            case (.description, _), (.nothing, _), (.unusable, _): break
            }
        }
        return result
    }

    private static func find(in part: MultipartBody.Part, depth: Int) -> Finding {
        // An early session's description (RFC 3959) is none of ours.
        if part.type.name == .sdp, part.disposition?.name ?? "session" == "session" {
            return part.isPlain ? .description(part.content) : .unusable
        }
        if MultipartBody.understood.contains(part.type.name) {
            return part.isPlain ? find(in: part.content, part.type, depth: depth + 1) : .unusable
        }
        return part.disposition?.handling == "required" ? .unusable : .nothing
    }
}
