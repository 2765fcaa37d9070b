"""Names that would break a figure, a page or a spreadsheet if any of them took them for more than text."""

NAMES = [
    "$SPY_$QQQ",
    r"\$x^{$",
    "$\\frac{1}{0}$",
    "<!--<script>",
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror=window.hacked=1>",
    '<a href="javascript:window.hacked=1">x</a>',
    "<b>bold</b> & <br>",
    "&lt;i&gt;",
    "\"' onclick=window.hacked=1 x='",
    "=cmd|' /C calc'!A0",
    "+1",
    "-2+3",
    "@SUM(A1:A9)",
    "%{y} %{customdata[0]}",
    "{{ 7 * 7 }} {% raw %}",
    "_hidden",
    "__proto__",
    "[red]x[/red]",
    "--> x",
    "日本語 😀 Ωμέγα",
    " spaced  out ",
    "A very long name that goes on and on, " * 5,
]
#: What no name may hold.
REFUSED = [
    "line\nbreak", "tab\there", "bell\x07", "nul\x00", "\x85", "\u2028", "\ud800", "right\u202eleft", "\u2066x",
    "\ufeffx", "zero\u200bwidth", "\uffff", "   ", "x" * 201,
]  # fmt: skip
