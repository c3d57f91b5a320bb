"""The facts that the generator reads from the headers' comments."""

from __future__ import annotations

from cudnn_ctypes.raw.headers import comments_in, trailing_comments_in
from tools.generate import comments
from tools.generate.model import Direction

FUNCTION = """
/** @deprecated Use another one.
 *  @param[in]     a  What goes in.
 *  @param[in,out] b  What changes.
 *  @param[inout]  c  The same, spelled otherwise.
 *  @param[out] d     What comes out.
 *  @param e          Without direction.
 *  @since cuDNN 9.10.2
 */
/* an ordinary comment; with { punctuation } */
"""


def test_facts_of_a_function():
    found = comments_in(FUNCTION)
    assert comments.since(found) == "9.10.2"
    assert comments.is_deprecated(found)
    assert comments.directions(found) == {
        "a": Direction.IN,
        "b": Direction.INOUT,
        "c": Direction.INOUT,
        "d": Direction.OUT,
    }


def test_code_is_no_comment():
    assert comments_in("int since; /* one */ int x; // two\n") == "/* one */\n// two"
    assert comments.since("") is None
    assert not comments.is_deprecated("not deprecated")


def test_a_comment_before_the_next_enumerator_is_not_about_this_one():
    after = " = 1, /**< One. @since cuDNN 9.4.0 */\n /** Two. @deprecated @since cuDNN 9.7.0 */\n "
    found = trailing_comments_in(after)
    assert comments.since(found) == "9.4.0"
    assert not comments.is_deprecated(found)
