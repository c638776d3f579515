"""Tells an Esc key from the start of a control sequence, whatever way the bytes are split or joined.

A terminal sends the byte ESC for the Esc key and as the first byte of every other special key. In the
older encodings Alt+letter is ESC and the letter, which is also what arrives when somebody presses Esc and
types on: tmux joins the two for 500 ms by default, and a slow line for as long as it likes. So while Esc
has something to do (a turn to stop, a list to close), ESC and a letter are taken for Esc followed by that
letter, unless they come alone, with nothing right before and after, and Alt+letter does no harm: it goes
somewhere, shows, folds or copies. Terminals that speak the kitty keyboard protocol send Alt+letter and Esc
as sequences of their own, and nothing is taken apart there.

Answers of the terminal, late ones and torn ones too, are no keys (``sequences.py``); neither is the end of a
paste that did not begin. A paste whose end does not come ends after a pause.

Sans-I/O: characters and the time in, characters out. An Esc key comes out as ``CSI 27 u``, its form in the
kitty protocol; all else is passed on as whole sequences.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container

from tui.screen.terminal.frame_answers import ANSWER
from tui.screen.terminal.sequences import ESC, ESCAPE_KEY, as_key

_SHOWN_ESC = "\N{SYMBOL FOR ESCAPE}"
STOP_KEYS = (ESCAPE_KEY, "\x03", "\x1b[99;5u")
"""Esc, and Ctrl+C in its old form and in that of the kitty protocol."""
ASK_FOR_KITTY = "\x1b[?u"
"""Asks which parts of the kitty protocol are on. Terminals without it do not answer."""
_DISAMBIGUATES = 1
"""The bit of the answer which says that Esc and Alt+letter come as sequences of their own."""
PASTE_BEGINS = "\x1b[200~"
PASTE_ENDS = "\x1b[201~"
PASTE_PAUSE = 1.0
"""Seconds without anything after which a paste has ended, or the end of its line has been lost."""
PASTE_GOES_ON = 10.0
"""Seconds for which a paste that paused may go on."""
SPLIT_SEQUENCE_DELAY = 0.5
"""Seconds that the rest of a sequence may take once its second character has come. Nobody types ESC and
``[`` within the delay of a lone ESC, so the rest is on its way."""
CONTROL_KEYS = frozenset(map(chr, range(32))) - frozenset("\r\n\b\t")
"""Characters that are keys of their own behind ESC, whatever Esc does. The others may be Alt+Enter,
Alt+Backspace, and Shift+Tab of the Linux console."""
LONGEST_SEQUENCE = 1 << 10
"""Characters after which something that began like a sequence is passed on as it is."""
LONGEST_ANSWER = 1 << 20
"""Characters after which an answer, such as the clipboard's content, is taken for something else."""

ASK_FOR_BACKGROUND = f"{ESC}]11;?{ESC}\\"
"""Asks for the background's colour (OSC 11). Terminals that do not know it do not answer."""
_BACKGROUND = f"{ESC}]11;"
"""The beginning of the answer."""
ANSWER_DELAY = 3.0
"""Seconds that the rest of an answer may take."""
_SEVEN_BITS = {chr(ord(each) + 0x40): ESC + each for each in "OP[\\]^_"}
"""Control characters of eight bits (ECMA-48, C1), which some terminals send, in their form of seven."""
_STRINGS = "]P_^"
"""What begins a string of the terminal behind ESC: OSC, DCS, APC and PM."""
_STRING_BEGINS = r"(?:\]\d{1,4};|P(?:[!>]\||\d{0,4}(?:!~|[+$][rstu]))|_G\w+=)"  # colours; settings; pictures
_ANSWER = re.compile(ESC + _STRING_BEGINS)
"""How the strings begin with which terminals answer. Nobody types that."""
_MAY_BE_ANSWER = re.compile(
    r"\x1b(?:\](?:\d{1,4})?|P(?:[!>]|\d{0,4}[!+$]?)?|_(?:G\w*)?|(?:\^|\][lL])[^\x1b\a]*)"
)
"""The beginnings of these, and of a message that terminals do not show, of a title and of an icon's name."""
_MESSAGES = (f"{ESC}^", f"{ESC}]l", f"{ESC}]L")
_ENDS_OF_ANSWERS = ("\a", f"{ESC}\\")

_CUT_KEY = re.compile(r"\x1b(?:\[[A-IOPQRSZ]|O[A-HPQRS])(?=\x1b|\Z)")
"""A key or the focus whose ESC came before its rest, which is one read. Nobody types two characters into one
read so soon."""
_CUT_ANSWER = re.compile(
    rf"\x1b(?:\[(?:[<=>?]?\d[\d;:$]*[ $]?[@-~]|M...)(?=\x1b|\Z)|\[[<=>?]\d[\d;:$]*\Z|{_STRING_BEGINS}"
    r"|\][lL][^\x1b\a]*(?:\a|\x1b\\))",
    re.DOTALL,
)
"""The same of an answer, the mouse or a key with numbers, which nobody types into one read at all."""
_TORN = re.compile(r"\x1b\[(?:[<=>?][\d;:$]*|\d[\d;:$]*)")
"""The beginning of an answer that nobody types."""
_TORN_REST = re.compile(r"[\d;:$]+[a-zA-Z~](?=\x1b|\Z)")
_KITTY_ANSWER = re.compile(r"\x1b\[\?(\d{1,9})u")
_MORE = re.compile(r"[A-Za-z0-9+/=]{40,}")
"""The middle of a long answer, such as what is in the clipboard, as one read."""
_OLD_MOUSE = f"{ESC}[M"
"""What the mouse sends in its oldest form, with three characters behind; the form asked for is another."""
_SS3_KEYS = frozenset("ABCDEFHMPQRSjklmnopqrstuvwxyX")
"""What may follow ``ESC O``: cursor keys, F1 to F4 and the keypad (xterm's ctlseqs, "PC-Style Function
Keys")."""
REWRITES = (
    # Alt+Enter of terminals without the kitty protocol: Textual reads it as a bare Enter, which would send.
    ("\x1b\r", "\x1b[13;3u"),
    # Shift+Enter and Ctrl+Enter in xterm's modifyOtherKeys form, which tmux passes on.
    ("\x1b[27;2;13~", "\x1b[13;2u"),
    ("\x1b[27;5;13~", "\x1b[13;5u"),
)


def rewritten(data: str) -> str:
    """Key sequences as Textual's parser understands them."""
    if "\x1b" in data and "\x1b[200~" not in data:
        for sequence, known in REWRITES:
            data = data.replace(sequence, known)
    return data


class EscapeKeys:
    """Rewrites the terminal's input. Used by one thread."""

    def __init__(
        self,
        delay: float,
        acts: Callable[[], bool],
        harmless: Callable[[], Container[str]] = frozenset,
        known: Container[str] = (),
    ) -> None:
        """``delay`` is how long, in seconds, a lone ESC may be the start of a sequence; ``acts``
        says whether Esc has something to do, so that ESC and a letter are two keys. ``harmless`` are the
        letters whose Alt+letter does no harm, and ``known`` the sequences of keys that Textual knows."""
        self._delay = delay
        self._acts = acts
        self._harmless = harmless
        self._known = known
        self._last = float("-inf")
        """When something came last."""
        self._alone = True
        """Whether nothing came right before what is held."""
        self._paused_until = float("-inf")
        """Until when a paste that paused may go on."""
        self._torn_until = float("-inf")
        """Until when the rest of an answer may come whose beginning was dropped."""
        self._held = ""
        self._pasting = False
        self._unambiguous = False
        """Whether the terminal said that a lone ESC is never the Esc key."""
        self._cut = ""
        """The beginning of what may be a sequence, which was taken for a key or two."""
        self.background = ""
        """The terminal's last answer to :data:`ASK_FOR_BACKGROUND`, until the caller takes it away."""
        self.answers = 0
        """How many frames the terminal said it has taken, until the caller takes the number away."""
        self.due: float | None = None
        """When :meth:`tick` has something to say, on the clock of the caller."""

    @property
    def unambiguous(self) -> bool:
        """Whether the terminal said that it tells Esc, and Alt and a letter, apart."""
        return self._unambiguous

    @property
    def undecided(self) -> bool:
        """Whether what was read so far may be the Esc key, or the beginning of another key."""
        return bool(self._held) and not (self._pasting or self._unambiguous or self._is_answer)

    @property
    def _is_answer(self) -> bool:
        """Whether what is held is the beginning of an answer, which nobody types."""
        return bool(_ANSWER.match(self._held))

    def feed(self, data: str, now: float) -> str:
        """The keys in ``data``, and in what was held back before it; an unfinished sequence is held back."""
        cut, self._cut = self._cut, ""
        if cut and _is_rest(cut, data, now - self._last):
            data = cut + data
        if now < self._torn_until and (rest := _TORN_REST.match(data)):
            data = data[rest.end() :]
        self._torn_until = float("-inf")
        if now - self._last > SPLIT_SEQUENCE_DELAY and self._is_answer and not self._may_end(data):
            self._held = ""  # its rest is lost, and this was typed
        self._alone = self._alone if self._held else now - self._last >= self._delay
        self._last = now
        if now < self._paused_until and not self._held and _goes_on(data):
            data = PASTE_BEGINS + data
        self._paused_until = float("-inf")
        out: list[str] = []
        for at, character in enumerate(data):
            if at and not self._held:
                self._alone = False
            if self._pasting:
                out.append(self._paste(character))
            else:
                out += map(self._key, _SEVEN_BITS.get(character, character))
        self._wait(now)
        return "".join(out)

    def tick(self, now: float) -> str:
        """What was held back and is whole now, because nothing followed it."""
        if self.due is None or now < self.due:
            return ""
        answer = self._is_answer
        held, self._held, self.due = self._held, "", None
        if self._pasting:
            self._pasting, self._paused_until = False, now + PASTE_GOES_ON
            return held.replace(ESC, _SHOWN_ESC) + PASTE_ENDS
        if answer:
            return ""
        if _TORN.fullmatch(held):
            self._torn_until = now + ANSWER_DELAY
            return ""
        if self._may_be_alt(held):
            return held
        if held.startswith(_OLD_MOUSE):
            return ""
        self._cut = held
        return ESCAPE_KEY if held == ESC else self._unfinished(held)

    def _wait(self, now: float) -> None:
        if self._pasting:
            self.due = now + PASTE_PAUSE
        elif not self._held:
            self.due = None
        elif self._is_answer:
            self.due = now + ANSWER_DELAY
        else:
            lone = self._held == ESC and not self._unambiguous
            short = lone or (len(self._held) == 2 and self._held[1] not in "[O]")
            self.due = now + (self._delay if short else SPLIT_SEQUENCE_DELAY)

    def _paste(self, character: str) -> str:
        """Pasted text is passed on, with its escape characters made visible: Textual would take what follows
        one for keys, which act before the paste comes."""
        held = self._held + character
        if held == PASTE_ENDS:
            self._held, self._pasting = "", False
            return held
        if PASTE_ENDS.startswith(held):
            self._held = held
            return ""
        self._held = ESC if character == ESC else ""
        return held.removesuffix(self._held).replace(ESC, _SHOWN_ESC)

    def _key(self, character: str) -> str:
        if not self._held:
            if character == ESC:
                self._held = ESC
                return ""
            return character
        if self._is_answer or self._held.startswith(_MESSAGES):
            return self._answer(character)
        if self._may_be_alt(self._held):
            held, self._held, self._alone = self._held, "", False
            return ESCAPE_KEY + held[1:] + self._key(character)
        if character == ESC:
            # A new sequence begins, so what came before it was whole, or never will be.
            held, self._held = self._held, ESC
            return ESCAPE_KEY if held == ESC else self._unfinished(held)
        self._held += character
        if self._held[1] == "[":
            return self._control_sequence(character)
        if self._held[1] == "O":
            return self._function_key()
        if self._held[1] in _STRINGS:
            begins = self._is_answer or _MAY_BE_ANSWER.fullmatch(self._held)
            return "" if begins else self._unfinished_now()
        return "" if self._may_be_alt(self._held) else self._unfinished_now()

    def _control_sequence(self, character: str) -> str:
        if self._held.startswith(_OLD_MOUSE):
            if len(self._held) == len(_OLD_MOUSE) + 3:
                self._held = ""
            return ""
        if len(self._held) == 2 or (" " <= character <= "?" and len(self._held) < LONGEST_SEQUENCE):
            return ""
        return self._release() if "@" <= character <= "~" else self._unfinished_now()

    def _function_key(self) -> str:
        if len(self._held) == 2:
            return ""
        return self._release() if self._held[2] in _SS3_KEYS else self._unfinished_now()

    def _answer(self, character: str) -> str:
        """A terminal's answer to a question, such as its background colour; BEL or ``ESC \\`` ends it."""
        self._held += character
        if self._held.endswith(_ENDS_OF_ANSWERS):
            held, self._held = self._held, ""
            if held.startswith(_BACKGROUND):
                self.background = held
            return ""
        if self._held[-2] == ESC:
            begun, self._held = self._held[-2:], ""
            return "".join(map(self._key, begun))  # another sequence has cut it off
        longest = LONGEST_ANSWER if self._is_answer else LONGEST_SEQUENCE
        return self._unfinished_now() if len(self._held) >= longest else ""

    def _may_end(self, data: str) -> bool:
        """Whether a read holds the end of the answer whose beginning is held, or more of it."""
        cut = self._held[-1] == ESC and data.startswith("\\")
        return cut or any(end in data for end in (*_ENDS_OF_ANSWERS, "\x9c")) or bool(_MORE.fullmatch(data))

    def _may_be_alt(self, held: str) -> bool:
        """Whether ``held`` is ESC and a letter that are Alt+letter if nothing follows, although Esc has
        something to do."""
        alone = self._alone and not self._unambiguous
        return len(held) == 2 and alone and held[1].isalpha() and held[1] in self._harmless() and self._acts()

    def _release(self) -> str:
        held, self._held = self._held, ""
        self._pasting = held == PASTE_BEGINS
        if answer := _KITTY_ANSWER.fullmatch(held):
            self._unambiguous = bool(int(answer[1]) & _DISAMBIGUATES)
            return ""
        if held == ANSWER:
            self.answers += 1
            return ""
        if held == PASTE_ENDS:
            return ""  # nothing was begun
        if self._pasting or held[1] == "O":
            return held
        key = as_key(held, self._known)
        return key or ("" if len(held) > 3 else self._unfinished(held))

    def _unfinished_now(self) -> str:
        held, self._held = self._held, ""
        return self._unfinished(held)

    def _unfinished(self, held: str) -> str:
        """ESC and what followed it, which is no sequence: taken apart while Esc has something to do."""
        behind = held[1:]
        if behind and ((behind[0].isprintable() and self._acts()) or behind[0] in CONTROL_KEYS):
            return ESCAPE_KEY + behind
        return held


def _is_rest(cut: str, data: str, since: float) -> bool:
    """Whether a read is the rest of ``cut``, which came so many seconds before it."""
    sequence = cut + data
    if len(data) < 2 or since >= ANSWER_DELAY:
        return False
    soon = since < SPLIT_SEQUENCE_DELAY * (1 if cut == ESC else 2)
    return bool(_CUT_ANSWER.match(sequence) or (soon and _CUT_KEY.match(sequence)))


def _goes_on(data: str) -> bool:
    """Whether a read after a pause is more of a paste: keys come one by one, and text on one line may as well
    have been typed."""
    return PASTE_ENDS in data or (len(data) > 1 and any(end in data for end in "\r\n"))
