"""A call that must fail, made twice: without the cause of the failure, where it must succeed, and with it.

A test of a failure alone cannot fail where the call is wrong for another reason, for example an option that does not
exist. So each test that accepts an error code, or the absence of a traceback, uses this module.
"""

from __future__ import annotations

import contextlib
import functools
import io
import re
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

PREFIX = "error: "
"""How the line of an error begins."""
FAILED, WRONG_CALL = 1, 2
_succeeded: set[object] = set()


@dataclass(frozen=True)
class Ended:
    """How a call ended: its exit code, standard output and standard error."""

    code: int
    out: str
    err: str


Call = Callable[[Sequence[object]], Ended]
"""Makes a call of kibitz with these arguments."""


def in_process(arguments: Sequence[object], lines: str = "") -> Ended:
    """The command in this process, without the seconds that a new one takes. lines: its standard input."""
    from kibitz import cli

    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(lines.encode()), encoding="utf-8")
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = cli.run([str(argument) for argument in arguments])
    finally:
        sys.stdin = before
    texts = [stream.buffer.getvalue().decode() for stream in (out, err)]  # type: ignore[attr-defined]
    return Ended(code, *texts)


def reading(lines: str) -> Call:
    """The command in this process, with these lines on its standard input."""
    return functools.partial(in_process, lines=lines)


def refused(
    without: Sequence[object],
    cause: Sequence[object],
    *,
    code: int,
    names: str | Iterable[str],
    call: Call = in_process,
    lines: int = 1,
    once: str = "",
) -> Ended:
    """Check that `cause` fails and that `without`, the same call without the cause, succeeds.

    The call with the cause comes first: it must leave nothing behind that the other one minds. It writes nothing to
    standard output and `lines` lines to standard error, in which each of `names` occurs: the value that the user gave,
    or a noun. A call without a cause that several tests share is made once; `once` is that of `must_succeed`.
    Returns how the call with the cause ended.
    """
    ended = call(cause)
    assert_refused(ended, code=code, names=names, lines=lines)
    must_succeed(without, call, once=once)
    return ended


def must_succeed(arguments: Sequence[object], call: Call = in_process, *, once: str = "") -> None:
    """Make a call that must succeed, once in a session for the same arguments, or for the same `once`.

    once: a name for calls that differ in nothing but their folder.
    """
    key = once or tuple(map(str, arguments))
    if key not in _succeeded:
        ended = call(arguments)
        assert ended.code == 0, (key, ended)
        assert "Traceback" not in ended.err, ended.err
        _succeeded.add(key)


def assert_refused(ended: Ended, *, code: int, names: str | Iterable[str], lines: int = 1) -> None:
    """Check how a refused call ended."""
    assert ended.code == code, ended
    assert ended.out == "", ended
    assert "Traceback" not in ended.err, ended.err
    said = ended.err.splitlines()
    assert len(said) == lines, ended.err
    assert said[-1].startswith(PREFIX), ended.err
    for name in [names] if isinstance(names, str) else names:
        assert mentions(ended.err, name), (name, ended.err)


def mentions(text: str | Iterable[str], words: str) -> bool:
    """Whether a text has all of some words: `mentions(line, "--komi & 6.3")`. Of several texts one must have them all.

    A test of a message names the value that the user gave and a noun, and no sentence: the sentence may get better.
    """
    if isinstance(text, str):
        return re.search(naming(words), text) is not None
    return any(mentions(one, words) for one in text)


def each_mentions(texts: Iterable[str], *words: str) -> bool:
    """Whether there are as many texts as `words`, and each text has all of its words."""
    texts = list(texts)
    return len(texts) == len(words) and all(map(mentions, texts, words))


def naming(words: str) -> str:
    """The regular expression of `mentions`, for `pytest.raises(KibitzError, match=naming("last.pt & damaged"))`."""
    parts = [("(?<!\\w)" if part[:1].isalnum() else "") + re.escape(part) for part in words.split(" & ")]
    return "(?s)" + "".join(f"(?=.*{part})" for part in parts)


def with_and_without(make: Callable[[bool], Ended], *, codes: Collection[int]) -> tuple[Ended, Ended]:
    """Make a call without its cause, which must succeed, and with it, which must end with one of `codes`.

    make: makes the call; its argument says whether the cause is there. Returns both endings, without the cause first.
    """
    good = make(False)
    assert good.code == 0, good
    assert "Traceback" not in good.err, good.err
    bad = make(True)
    assert bad.code in codes, bad
    assert "Traceback" not in bad.err, bad.err
    return good, bad
