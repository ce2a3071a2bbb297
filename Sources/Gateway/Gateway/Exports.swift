// The journal is part of what a gateway gives: whoever embeds one reads it, too.
@_exported import CallJournal
