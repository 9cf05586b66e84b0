"""What is left of HTML that others wrote."""

from __future__ import annotations

import re

import pytest

from linklab.report.safe_html import clean, from_markdown, headings, question_of

from .books import DOT


@pytest.mark.parametrize(
    ("hostile", "left"),
    [
        ("<script>steal()</script>after", "after"),
        ("<b onclick=steal() onmouseover='x'>b</b>", "<b>b</b>"),
        ('<a href="javascript:steal()">a</a>', '<a rel="noopener noreferrer nofollow">a</a>'),
        ('<a href="java&#10;script:steal()">a</a>', '<a rel="noopener noreferrer nofollow">a</a>'),
        ('<a href="data:text/html,<script>1</script>">a</a>', '<a rel="noopener noreferrer nofollow">a</a>'),
        ('<iframe src="https://evil.test"></iframe>after', "after"),
        ('<svg onload="steal()"><image href="https://evil.test/x"/></svg>after', "after"),
        ("<math><mtext><style><img src=x onerror=steal()></style></mtext></math>after", "after"),
        ('<style>@import "https://evil.test/x.css"; body {display: none}</style>after', "after"),
        ('<link rel=stylesheet href="https://evil.test/x.css"><meta http-equiv=refresh content="0">after', "after"),
        ('<base href="https://evil.test/">after', "after"),
        ('<form action="https://evil.test"><input name=q><button>b</button></form>after', "after"),
        ('<p style="background:url(https://evil.test/x)">p</p>', "<p>p</p>"),
        ('<div id="points" class="status passed">p</div>', "<div>p</div>"),
        ("</div></main></body><h1>mine</h1>", "mine"),
        ('<video src="https://evil.test/x" autoplay></video>after', "after"),
    ],
)
def test_nothing_runs_and_nothing_is_loaded(hostile: str, left: str) -> None:
    assert clean(hostile) == left


def test_tables_and_embedded_images_stay() -> None:
    cell = '<td style="text-align:right;position:fixed;color:#fff;background:url(//x)" onclick="x">1</td>'
    table = clean(f'<table class="dataframe"><thead><tr><th scope="col">a</th></tr></thead><tr>{cell}</tr></table>')
    assert table == (
        '<table><thead><tr><th scope="col">a</th></tr></thead>'
        '<tbody><tr><td style="text-align:right">1</td></tr></tbody></table>'
    )
    image = f'<img src="data:image/png;base64,{DOT}" alt="a &gt; b">'
    assert clean(image).count("<img ") == 1
    assert f'src="data:image/png;base64,{DOT}"' in clean(image)
    assert '<a href="https://www.rfc-editor.org/rfc/rfc793"' in clean(
        '<a href="https://www.rfc-editor.org/rfc/rfc793">'
    )


@pytest.mark.parametrize(
    "source",
    ["https://evil.test/x.png", "//evil.test/x.png", "x.png", "data:text/html;base64,AAAA", "data:image/png,x"],
)
def test_an_image_from_elsewhere_becomes_a_note(source: str) -> None:
    left = clean(f'<img src="{source}" srcset="https://evil.test/y 2x" alt="a &lt;b&gt; &quot;c&quot;">')
    assert left == ("<em>[an image that is not in the notebook was left out: a &lt;b&gt; &quot;c&quot;]</em>")


def test_html_in_markdown_is_shown_as_text() -> None:
    shown = from_markdown("**so** <script>steal()</script> [x](javascript:steal()) ![y](https://evil.test/y)")
    assert shown == (
        "<p><strong>so</strong> &lt;script&gt;steal()&lt;/script&gt; [x](javascript:steal()) "
        "<em>[an image that is not in the notebook was left out: y]</em></p>\n"
    )


def test_attached_images_are_filled_in() -> None:
    attached = {"my plot.png": f"data:image/png;base64,{DOT}"}
    assert f'src="data:image/png;base64,{DOT}"' in from_markdown("![p](<attachment:my%20plot.png>)", attached)
    assert "left out: p]" in from_markdown("![p](attachment:other.png)", attached)


def test_headings_stand_below_those_of_the_page() -> None:
    assert from_markdown("# a\n\n### b") == "<h4>a</h4>\n<h6>b</h6>\n"


def test_headings_and_questions_of_a_lab_s_text() -> None:
    source = "# The *lab*\n\n```\n# not one\n```\n\nSome.\n\n## 2. Then\n\n**Question.** Why\nnot?\n\n- this\n- that"
    assert headings(source) == ((1, "The lab"), (2, "2. Then"))
    assert question_of(source) == "**Question.** Why\nnot?\n\n- this\n- that"
    assert question_of("Nothing **Question.** asked") == ""


@pytest.mark.parametrize("html", ["<div>" * 400_000, "<b>" * 3000 + "<p>x" * 3000, "x" * 5_000_000])
def test_html_that_takes_too_long_is_left_out(html: str) -> None:
    assert "left out" in clean(html)


def test_a_large_table_stays() -> None:
    cells = "<tr>" + "<td>1" * 10 + "</tr>"
    assert clean(f"<table>{cells * 40}</table>").count("<td>") == 400
    closed = "<tr>" + "<td>1</td>" * 10 + "</tr>"
    assert clean(f"<table>{closed * 5000}</table>").count("<td>") == 50_000


def test_a_very_long_text_is_shown_as_it_is() -> None:
    assert from_markdown("[" * 190_000) == f"<pre>{'[' * 190_000}</pre>"


def test_formulas_are_drawn_and_what_is_none_stays() -> None:
    text = "$a_1 * b$, of $5 and $10; `$x$`, $\\begin{x}$\n\n$$K = \\frac{W}{2}$$\n\n```\n$y$ $z$\n```"
    shown = from_markdown(text)
    assert re.findall('<img src="data:image/svg[^"]*" alt="([^"]*)">', shown) == ["a_1 * b", r"K = \frac{W}{2}"]
    assert " ".join(re.sub("<[^>]*>", "", shown).split()) == r", of $5 and $10; $x$, $\begin{x}$ $y$ $z$"


def test_a_formula_with_letters_that_nothing_here_can_draw_stays() -> None:
    assert from_markdown("$延迟 = 3$") == "<p>$延迟 = 3$</p>\n"


def test_formulas_without_end_do_no_harm() -> None:
    for text in ("$" * 9999, "$x$" * 9999, f"${'{' * 250}$", f"${'_{' * 90}$", "$a" * 9999):
        assert from_markdown(text)
