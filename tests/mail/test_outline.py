"""The blocks of a message's outline are those that the line scanner finds."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from moot.core.markdown import fences
from moot.protocols.mail.body import MessageBody
from tests.sampling import examples

LINES = [
    *("# a", "## b", "##", "#x", " ## c", "   ### d", "    # e", "\t# f", "## end ##", "## ##"),
    *("```", "````", "``` x`", "~~~", "~~~~ delta", "```delta", " ```", "  ~~~", "   ```delta"),
    *("- a", "- ", "1. x", "2) ", "> q", ">", "> ```", "- ```", "-\t```", "  text", "text", ""),
    *("<!-- c -->", "<!-- open", "--> x", "<!-->", "  <!--", "<div>", "</div>", "<b>", "<x", "<?"),
    *("<script>", "</script>", "  <div>", "===", "---", "***", "* * *", "\t", "   ", "?>"),
]
TEXTS = st.builds(
    lambda mark, ending, lines, last: mark + ending.join(lines) + last,
    st.sampled_from(["", "", "\ufeff"]),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.lists(st.sampled_from(LINES), max_size=14),
    st.sampled_from(["", "\n", "\r\n"]),
)


@settings(max_examples=examples(300))
@given(TEXTS | st.text())
def test_the_code_of_a_block_is_what_the_scanner_says(text: str) -> None:
    body = MessageBody(text)
    assert [body.read_code(block) for block in body.blocks] == [one.code for one in fences(text)]
