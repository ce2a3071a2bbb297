import Primitives
import SIP
import UserAgent

/// The numbers of a mailbox as its owner's telephone is told of them (RFC 3842 §5).
struct MessageSummary: Hashable {
    /// The address of the mailbox.
    let account: URI
    /// Messages that nobody has heard, and those that were.
    let new: Int, heard: Int

    static let event: Text = "message-summary", type: Text = "application/simple-message-summary"

    /// The lines of the body.
    var text: Text {
        let waiting: Text = new > 0 ? "yes" : "no"
        return "Messages-Waiting: " + waiting + "\r\nMessage-Account: " + account.text + "\r\nVoice-Message: " + Text(new) + "/"
            + Text(heard) + "\r\n"
    }

    var content: EventSubscription.Content { EventSubscription.Content(type: Self.type, body: Array(text.bytes)) }
}
