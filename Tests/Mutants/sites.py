"""Places in Swift sources at which a small mistake can be put in, found by the lines that swift-format leaves.

A mutant is one line of one file with another text, which is in force where HOOKSWITCH_MUTANT has its number: all mutants are built together.
"""

import re
from dataclasses import dataclass

ROOMS = {
    "SIP": "Sources/Wire/SIP",
    "SDP": "Sources/Wire/SDP",
    "RTP": "Sources/Wire/RTP",
    "Calls": "Sources/Calls/Calls",
    "Gateway": "Sources/Gateway/Gateway",
    "CallKit": "Sources/Apple/CallKit",
    "CallJournal": "Sources/Engines/CallJournal",
    "UserAgent": "Sources/Engines/UserAgent",
    "Media": "Sources/Engines/Media",
}

# Appended to a file that has a mutant. No more of Glibc: it has functions such as random().
SWITCH = """
import func Glibc.getenv
private let activeMutant: Int = getenv("HOOKSWITCH_MUTANT").flatMap { Int(String(cString: $0)) } ?? 0
"""


@dataclass(frozen=True)
class Site:
    file: str
    # From 0 on.
    line: int
    kind: str
    # The text with "@" for the number of the mutant.
    text: str
    # What a person reads.
    change: str


def masked(text):
    """The text with the contents of strings and comments as blanks, of the same length."""
    out, i, n = [], 0, len(text)

    def blank(end):
        nonlocal i
        out.append("".join(c if c == "\n" else " " for c in text[i:end]))
        i = end

    while i < n:
        if text.startswith("//", i):
            end = text.find("\n", i)
            blank(n if end < 0 else end)
        elif text.startswith("/*", i):
            end = text.find("*/", i)
            blank(n if end < 0 else end + 2)
        elif match := re.compile(r'(#*)(""")').match(text, i):
            close = match.group(2) + match.group(1)
            end = text.find(close, match.end())
            blank(n if end < 0 else end + len(close))
        elif match := re.compile(r'(#*)"').match(text, i):
            blank(end_of_string(text, match.end(), match.group(1)))
        else:
            out.append(text[i])
            i += 1
    return "".join(out)


def end_of_string(text, start, hashes):
    """Behind the closing quotation mark of a string of one line, whose interpolations may hold strings again."""
    i, escape = start, "\\" + hashes
    while i < len(text) and text[i] != "\n":
        if text.startswith(escape + "(", i):
            depth, i = 1, i + len(escape) + 1
            while i < len(text) and depth:
                if text[i] == '"':
                    i = end_of_string(text, i + 1, "")
                    continue
                depth += (text[i] == "(") - (text[i] == ")")
                i += 1
        elif text.startswith(escape, i):
            i += len(escape) + 1
        elif text.startswith('"' + hashes, i):
            return i + 1 + len(hashes)
        else:
            i += 1
    return i


def indent(line):
    return len(line) - len(line.lstrip())


def is_balanced(text):
    depth = 0
    for c in text:
        depth += (c in "([{") - (c in ")]}")
        if depth < 0:
            return False
    return depth == 0


def split(text, mask, separator):
    """Pieces at the outer level."""
    pieces, depth, start, i = [], 0, 0, 0
    while i < len(mask):
        depth += (mask[i] in "([{") - (mask[i] in ")]}")
        if depth == 0 and mask.startswith(separator, i):
            pieces.append((start, i))
            start = i + len(separator)
            i = start
        else:
            i += 1
    pieces.append((start, len(text)))
    return pieces


def closed_lines(mask):
    """Lines in which no code of this file may be named (@inlinable), or that are no code of functions."""
    closed, until = set(), None
    for number, line in enumerate(mask):
        if until is not None:
            closed.add(number)
            if line.strip() and indent(line) <= until and line.strip() not in ("{", ")") and not line.strip().startswith(")"):
                if line.strip().startswith("}") or number > opened + 1 and not line.rstrip().endswith("{"):
                    until = None
        if until is None and re.search(r"@inlinable|@usableFromInline|@_transparent|@inline", line):
            until, opened = indent(line), number
            closed.add(number)
            if "{" in line and is_balanced(line):
                until = None
    return closed


def function_of(mask, number):
    """The line of the innermost func, init, get … around a line, by indentation; None outside of functions."""
    depth = indent(mask[number])
    for above in range(number - 1, -1, -1):
        line = mask[above]
        if not line.strip() or indent(line) >= depth:
            continue
        depth = indent(line)
        if re.search(r"\b(func|init|deinit|subscript|didSet|willSet|get|set)\b", line):
            return above
        if re.match(r"\s*((public|package|private|fileprivate|final|indirect) )*(struct|class|enum|extension|protocol|actor)\b", line):
            return None
    return None


CONDITION = re.compile(r"^(\s*(?:\} else if|if|guard|while) )(.*?)((?: else)? \{.*|$)")
CALL = re.compile(r"^\s*(?!return\b|throw\b|try\b|await\b|super\b|case\b|if\b|guard\b|while\b|for\b|switch\b|defer\b|precondition|assert|fatalError|self\.init\b|init\b)[A-Za-z_][\w.?!]*\(.*\)$")
ASSIGNMENT = re.compile(r"^\s*[A-Za-z_]\w*(?:[?!]?\.\w+|\[[^\]]*\][?!]?)+ (?:[-+*|&]|&[-+]|<<|>>)?= (?!.*\btry\b|.*\bawait\b).*[^{(\[,]$")


def sites(file, text):
    """Every site of a file."""
    lines, mask = text.split("\n"), masked(text).split("\n")
    closed = closed_lines(mask)
    found = []
    for number, (line, code) in enumerate(zip(lines, mask)):
        if number in closed or not code.strip() or "unsafe" in code:
            continue
        if (function := function_of(mask, number)) is None:
            continue
        found += conditions(file, number, line, code)
        if is_statement(mask, number):
            found += statements(file, number, lines, mask, function)
    return found


def conditions(file, number, line, code):
    match = CONDITION.match(code)
    if not match or not is_balanced(match.group(2)):
        return []
    start, end = match.span(2)
    found = []
    for first, last in split(line[start:end], code[start:end], ","):
        piece, piece_mask = line[start + first : start + last], code[start + first : start + last]
        first += len(piece) - len(piece.lstrip())
        piece, piece_mask = piece.strip(), piece_mask.strip()
        if not piece or re.match(r"(let|var|case|#)\b|#", piece_mask) or re.search(r"\b(try|await)\b|\{|(?<![<>=!])=(?!=)", piece_mask):
            continue
        # The first line of a condition that goes on below.
        if piece_mask.endswith(("&&", "||", "==", "?", ":")):
            continue
        place = (start + first, start + first + len(piece))

        def at(text):
            return line[: place[0]] + text + line[place[1] :]

        found.append(Site(file, number, "negate", at(f"(activeMutant == @) != ({piece})"), f"not ({piece})"))
        if other := shifted(piece, piece_mask):
            found.append(Site(file, number, "off by one", at(f"(activeMutant == @ ? ({other}) : ({piece}))"), other))
    return found


def shifted(piece, piece_mask):
    operators = {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > "}
    hits = [(m.start(), m.group(0)) for m in re.finditer(r" (?:<|<=|>|>=) ", piece_mask)]
    if len(hits) != 1 or "? " in piece_mask:
        return None
    at, operator = hits[0]
    return piece[:at] + operators[operator] + piece[at + len(operator) :]


def is_statement(mask, number):
    """Whether a line is a whole statement, and not the only one of its block, which may be its value."""
    line = mask[number]
    above = next((mask[i] for i in range(number - 1, -1, -1) if mask[i].strip()), "")
    below = next((mask[i] for i in range(number + 1, len(mask)) if mask[i].strip()), "")
    if indent(below) > indent(line) or below.strip().startswith((".", "?", ":", "&&", "||", "+", "-", "{")) or not is_balanced(line):
        return False
    if re.search(r"[,(\[=+&|?:]$", above.rstrip()) or indent(above) > indent(line) and not above.strip().startswith(("}", ")")):
        return False
    return indent(above) == indent(line) or indent(below) == indent(line) or above.strip().startswith(("}", ")"))


def statements(file, number, lines, mask, function):
    line, code = lines[number], mask[number]
    blank, statement = line[: indent(line)], line.strip()
    if CALL.match(code) and "{" not in code and "&" not in code.replace("&&", ""):
        found = [Site(file, number, "drop", f"{blank}if activeMutant != @ {{ {statement} }}", f"without {statement}")]
        if number + 1 < len(lines) and indent(lines[number + 1]) == len(blank) and is_statement(mask, number + 1):
            if CALL.match(mask[number + 1]) and "{" not in mask[number + 1]:
                other = lines[number + 1].strip()
                text = f"{blank}if activeMutant == @ {{ {other}; {statement} }} else {{ {statement}; {other} }}"
                found.append(Site(file, number, "swap", text, f"{other} before {statement}"))
        return found
    if ASSIGNMENT.match(code) and "init" not in mask[function] and "{" not in code:
        return [Site(file, number, "drop", f"{blank}if activeMutant != @ {{ {statement} }}", f"without {statement}")]
    return []
