// Both are part of what a gateway gives: whoever embeds one reads its journal, and says why calls end.
@_exported import CallJournal
@_exported import Calls
