"""How a page looks: two palettes and one stylesheet, for screen, phone and A4.

The palettes are data, so that a test can measure their contrast. Fonts are those of the reader's
machine. Meaning is never carried by colour alone: every tone also has a sign.
"""

import base64
import hashlib
from collections.abc import Mapping
from typing import Final

LIGHT: Final = {
    "paper": "#fbfaf7",
    "card": "#ffffff",
    "ink": "#1d1c1a",
    "soft": "#5f5b53",
    "line": "#ddd8ce",
    "good": "#1d6a3a",
    "good-tint": "#e6f1e8",
    "bad": "#9c2a20",
    "bad-tint": "#f8e8e5",
    "caution": "#7a5200",
    "caution-tint": "#f7eed8",
    "neutral": "#4b5360",
    "neutral-tint": "#ebedf0",
    "s0": "#1f5fa8",
    "s1": "#b04c1a",
    "s2": "#26774a",
    "s3": "#7747a3",
    "s4": "#846500",
    "s5": "#ad2d5c",
    "s6": "#0d7480",
    "s7": "#5a5e66",
}

DARK: Final = {
    "paper": "#151619",
    "card": "#1c1e22",
    "ink": "#e8e5de",
    "soft": "#aaa69c",
    "line": "#36393f",
    "good": "#85d3a0",
    "good-tint": "#1b3124",
    "bad": "#f39c92",
    "bad-tint": "#3a201d",
    "caution": "#e5bd6d",
    "caution-tint": "#352b16",
    "neutral": "#b3bbc8",
    "neutral-tint": "#2a2e35",
    "s0": "#82b4f1",
    "s1": "#f0a274",
    "s2": "#82d29e",
    "s3": "#c5a4ef",
    "s4": "#d9bf5c",
    "s5": "#f192b7",
    "s6": "#70cbd6",
    "s7": "#b6bbc4",
}

SERIES_COLOURS: Final = sum(1 for name in LIGHT if name[0] == "s" and name[1:].isdigit())

_BASE: Final = """
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);
font:400 1.0625rem/1.6 Charter,"Bitstream Charter","Sitka Text",Cambria,Georgia,serif;
overflow-wrap:anywhere;text-rendering:optimizeLegibility}
header,main,footer{max-width:46rem;margin:0 auto;padding:0 1.25rem}
h1,h2,p,dl,dd,ol,ul,figure,blockquote,table,pre{margin:0;padding:0}
ol,ul{list-style:none}
h1{font-size:clamp(1.6rem,1.1rem + 2.4vw,2.3rem);line-height:1.18;font-weight:600;
letter-spacing:-.012em;text-wrap:balance}
h2{font-size:1.3rem;line-height:1.3;font-weight:600;margin-bottom:.85rem;text-wrap:balance}
code,pre{font:.84em/1.55 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.sans,th,dt,summary,.chip,.badge,.legend,.plot,.meta,.num
{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",Arial,sans-serif}
.num,.plot,.legend,td,dd{font-variant-numeric:tabular-nums lining-nums}
.meta,.caption{color:var(--soft);font-size:.875rem;line-height:1.5}
.caption{margin-bottom:.9rem}
.text{white-space:pre-wrap}
.text+.text{margin-top:.8em}
.empty{color:var(--soft);font-style:italic}
a{color:inherit;text-underline-offset:.18em;text-decoration-color:var(--soft)}
a:hover{text-decoration-color:currentColor}
.md.text{white-space:normal}
.md p,.md li,.md td,.md th{white-space:pre-line}
.md>*+*,.md li>*+*,.md blockquote>*+*{margin-top:.7em}
.md ul,.md ol{padding-left:1.5em}
.md ul{list-style:disc}.md ol{list-style:decimal}
.md li+li{margin-top:.2em}
.md .head{font-weight:650}
.md blockquote{border-left:2px solid var(--line);padding-left:.9rem;color:var(--soft)}
.md pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--neutral-tint);
border-radius:.35rem;padding:.6rem .8rem}
.md .meta+pre{margin-top:.2em}
.md code{background:var(--neutral-tint);border-radius:.2rem;padding:.05em .25em}
.md pre code{background:none;padding:0}
.md hr{border:0;border-top:1px solid var(--line)}
"""

_TOP: Final = """
header{padding-top:2.6rem;padding-bottom:1.5rem}
.kicker{display:flex;flex-wrap:wrap;gap:.6rem 1rem;align-items:center;justify-content:space-between;
margin-bottom:1.1rem}
.kind{font-size:.8rem;letter-spacing:.09em;text-transform:uppercase;color:var(--soft)}
.subtitle{color:var(--soft);margin-top:.55rem}
.badge{display:inline-flex;align-items:baseline;font-size:.9rem;line-height:1.4;
font-weight:650;padding:.22em .8em;border-radius:1rem;border:1px solid currentColor}
.note{color:var(--soft);font-size:.9rem}
.verdict{display:flex;flex-flow:row-reverse wrap;justify-content:flex-end;
gap:.3rem .7rem;align-items:center}
.chip{display:inline-flex;align-items:baseline;max-width:100%;font-size:.8rem;line-height:1.35;font-weight:600;
padding:.1em .6em;border-radius:.7rem}
.sign{margin-right:.4em}
.good{color:var(--good);background:var(--good-tint)}
.bad{color:var(--bad);background:var(--bad-tint)}
.caution{color:var(--caution);background:var(--caution-tint)}
.neutral,.badge.plain{color:var(--neutral);background:var(--neutral-tint)}
.card{background:var(--card);border:1px solid var(--line);border-radius:.6rem;
padding:1.25rem 1.5rem 1.35rem;margin-bottom:1.1rem}
.card h2{font-size:.8rem;letter-spacing:.09em;text-transform:uppercase;color:var(--soft);
margin-bottom:.55rem}
.decision .statement{font-size:1.28rem;line-height:1.42;text-wrap:pretty}
.reasons{margin-top:1.15rem}
.reasons h2{margin-bottom:.7rem}
.short-form{font-weight:600;margin-bottom:.3rem}
nav{margin-top:1rem}
nav ul{display:flex;flex-wrap:wrap;gap:.3rem 1.1rem;font-size:.875rem;line-height:1.5}
.decision dl{margin-top:1.05rem;padding-top:.95rem;border-top:1px solid var(--line)}
.block{margin-top:2.4rem}
.block.follow{margin-top:1.2rem}
"""

_BLOCKS: Final = """
dl{display:grid;grid-template-columns:fit-content(14rem) minmax(0,1fr);gap:.35rem 1.4rem}
dt{min-width:7rem;color:var(--soft);font-size:.875rem;line-height:1.7rem}
dd{line-height:1.7rem}
.quote{border-left:3px solid var(--line);padding:.05rem 0 .05rem 1.1rem}
.quote.q-good{border-color:var(--good)}.quote.q-bad{border-color:var(--bad)}
.quote.q-caution{border-color:var(--caution)}.quote.q-neutral{border-color:var(--neutral)}
.quote+.quote{margin-top:1.25rem}
.author{font-weight:650;font-size:.97rem}
.quote figcaption{display:flex;flex-wrap:wrap;gap:.2rem .65rem;align-items:baseline;
margin-bottom:.35rem}
.refs{margin-top:.5rem}
.refs li{color:var(--soft);line-height:1.5}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.95rem;line-height:1.45}
caption{text-align:left;color:var(--soft);font-size:.875rem;padding-bottom:.6rem}
th,td{text-align:left;vertical-align:baseline;padding:.5rem 1rem .5rem 0;
border-bottom:1px solid var(--line);white-space:pre-line;overflow-wrap:break-word}
th:last-child,td:last-child{padding-right:0}
thead th{color:var(--soft);font-size:.8rem;font-weight:600;border-bottom-color:var(--soft)}
tbody th{font-size:.9rem;font-weight:600}
.wide{font-size:.9rem}
.wide th:not(:last-child),.wide td:not(:last-child){padding-right:.85rem}
.short,.number{white-space:nowrap}
.short code{white-space:normal}
.long{min-width:9rem;overflow-wrap:anywhere}
code.id{overflow-wrap:break-word}
.digest{display:inline-flex;width:32ch;max-width:100%;overflow-wrap:anywhere;word-break:break-all}
.number{text-align:right}
td .note,th .note{padding-left:.2em}
th .note{font-weight:400}
.under{margin-top:.7rem}
.sideways{margin-bottom:.35rem}
.sideways.phone{display:none}
.timeline{border-left:2px solid var(--line);margin-left:.4rem}
.timeline li{position:relative;padding:0 0 1.15rem 1.4rem}
.timeline li:last-child{padding-bottom:0}
.dot{position:absolute;left:-.62rem;top:.3rem;width:1.15rem;height:1.15rem;border-radius:50%;
border:2px solid var(--line);background:var(--paper);font-size:.65rem;line-height:.95rem;
font-weight:700;text-align:center}
.dot.plain{left:-.42rem;top:.5rem;width:.75rem;height:.75rem}
.timeline .who{color:var(--ink);font-weight:600}
.dot.good,.dot.bad,.dot.caution,.dot.neutral{border-color:currentColor}
.flow{display:grid;grid-template-columns:repeat(auto-fill,minmax(11.5rem,1fr));gap:1rem 2.1rem;
padding-right:1.75rem}
.flow.pairs{grid-template-columns:1fr 1fr}
.flow li{position:relative;background:var(--card);border:1px solid var(--line);
border-radius:.5rem;padding:.7rem .9rem .8rem;line-height:1.45}
.flow li.ahead{border-style:dashed;border-color:var(--soft);background:none}
.flow .step{display:flex;flex-wrap:wrap;justify-content:space-between;gap:.2rem .5rem;
align-items:baseline}
.flow .body{font-size:.93rem}
.arrow{position:absolute;left:100%;top:1.35rem;margin-left:.45rem;width:1.2rem;height:.75rem}
.arrow path{fill:none;stroke:var(--soft);stroke-width:1.6;stroke-linecap:round;
stroke-linejoin:round}
.findings li{display:grid;grid-template-columns:6.2rem 1fr;gap:.1rem .9rem;padding:.65rem 0;
border-top:1px solid var(--line)}
.findings li:last-child{border-bottom:1px solid var(--line)}
.findings .chip{justify-self:start;align-self:start;margin-top:.2rem}
"""

_CHARTS: Final = """
.plot{padding:1.9rem 2.6rem 3.6rem 2.6rem}
.plot svg{display:block;width:100%;overflow:visible}
.plot text{font-size:.78rem;fill:var(--soft)}
.plot .end{fill:var(--ink);font-weight:600}
.plot .name{display:none;font-weight:400;unicode-bidi:isolate}
.grid{stroke:var(--line);stroke-width:1}
.grid.zero{stroke:var(--soft)}
.leader{stroke:var(--soft);stroke-width:.75}
.threshold{stroke:var(--ink);stroke-width:1.25;stroke-dasharray:3 3}
.line{fill:none;stroke-width:1.75;stroke-linecap:round}
.dotted{stroke-linecap:butt}
.strong .line{stroke-width:3.25}
.marker{stroke-width:1.75;stroke-linejoin:round}
.hollow .marker{fill:var(--paper)}
.main .line,.main .marker{stroke:var(--ink)}
.main .marker{fill:var(--ink)}
.hollow.main .marker{fill:var(--paper)}
.legend{display:grid;grid-template-columns:repeat(auto-fill,minmax(13rem,1fr));gap:.3rem 1.2rem;
font-size:.875rem;line-height:1.45}
.legend li{display:grid;grid-template-columns:2.6rem 1.4rem 1fr auto;gap:.45rem;align-items:center}
.legend svg{display:block;width:2.6rem;height:1rem;overflow:visible}
.key{font-weight:600;text-align:right}
.legend .wide{grid-column:1/-1;display:block;color:var(--soft)}
.graph{position:relative;display:flex;gap:7%;min-width:26rem}
.edges{position:absolute;inset:0;width:100%;height:100%;overflow:visible}
.edge{stroke:var(--soft);stroke-width:1.25}
.column{position:relative;flex:1 1 0;min-width:0}
.column .meta{height:1.75rem}
.node{height:4rem;margin-bottom:.75rem;padding:.45rem .6rem;overflow:hidden;background:var(--card);
border:1.5px solid var(--line);border-radius:.4rem;line-height:1.3;
font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",Arial,sans-serif}
.node .name{display:flex;font-size:.82rem;white-space:nowrap}
.node bdi{min-width:0;overflow:hidden;text-overflow:ellipsis}
.node .about{color:var(--soft);font-size:.78rem;overflow:hidden;display:-webkit-box;
-webkit-box-orient:vertical;-webkit-line-clamp:2}
.node.n-good{border-color:var(--good)}.node.n-bad{border-color:var(--bad);background:var(--bad-tint)}
.node.n-caution{border-color:var(--caution);background:var(--caution-tint)}
.node.n-neutral{border-color:var(--neutral)}
details{margin-top:1rem}
summary{cursor:pointer;color:var(--soft);font-size:.875rem}
details .scroll{margin-top:.6rem}
details .block{margin-top:1.4rem}
details .block h2{font-size:1.08rem;margin-bottom:.6rem}
.decision details{margin-top:.8rem}
.decision details dl{border:0;margin:.4rem 0 0;padding:0}
.timeline details{margin-top:.25rem}
.bars{display:grid;gap:.95rem}
.bars .row{display:grid;grid-template-columns:minmax(4.5rem,9rem) 1fr 3rem;gap:.1rem .9rem;
align-items:center}
.bars svg{display:block;width:100%;height:1.5rem;overflow:visible}
.bars .value{text-align:right;font-weight:600;white-space:nowrap}
.bars .who{grid-column:2/-1}
.track{fill:var(--line);opacity:.45}
.bar{fill:var(--neutral);stroke:var(--neutral);stroke-width:1.5}
.bar.b-good{fill:var(--good);stroke:var(--good)}
.bar.b-bad{fill:var(--bad-tint);stroke:var(--bad)}
.bar.b-caution{fill:var(--caution-tint);stroke:var(--caution)}
.whisker{stroke:var(--neutral);stroke-width:5;opacity:.55}
.value-mark{stroke:var(--ink);stroke-width:3}
.needed{stroke:var(--ink);stroke-width:1.5;stroke-dasharray:3 3}
.chamber svg{display:block;width:100%;max-width:32rem;margin:0 auto;overflow:visible}
.chamber path{fill:var(--paper);stroke:var(--neutral);stroke-width:2}
.chamber .s-good path{fill:var(--good);stroke:var(--good)}
.chamber .s-bad path{fill:var(--bad-tint);stroke:var(--bad)}
.chamber .s-caution path{fill:var(--caution-tint);stroke:var(--caution)}
.chamber text{font-size:12px;font-weight:600;fill:var(--ink)}
.chamber .s-good text{fill:var(--paper)}
.chamber .centre{font-size:15px}
.roll{display:grid;gap:.45rem;margin-top:1.1rem;padding-left:1.9rem;list-style:decimal}
"""

_FOOT: Final = """
footer{margin-top:3.2rem;padding-top:1.2rem;padding-bottom:3rem;font-size:.92rem}
footer .inner{border-top:1px solid var(--line);padding-top:1.2rem}
footer dl{margin-top:.8rem;gap:.2rem 1.2rem}
footer pre{white-space:pre-wrap;line-height:1.7rem}
@media(min-width:44rem){.plot{padding-right:10.5rem}.plot .name{display:inline}}
@media(max-width:34rem){
body{font-size:1rem}
header{padding-top:1.5rem;padding-bottom:1.1rem}
.verdict{flex-direction:row;justify-content:flex-start}
.card{padding:1rem 1.1rem 1.1rem}
.decision .statement{font-size:1.16rem}
dl{grid-template-columns:1fr;gap:0}
dd+dt{margin-top:.5rem}
dt,dd{line-height:1.5}
.flow,.flow.pairs{grid-template-columns:1fr;gap:2rem;padding-right:0}
.arrow{left:50%;top:100%;margin:.6rem 0 0 -.6rem;transform:rotate(90deg)}
.findings li{grid-template-columns:1fr}
.bars .row{grid-template-columns:1fr 3rem}
.bars .row svg{grid-column:1/-1;grid-row:2}
.bars .who{grid-column:1/-1}
.narrow .short{white-space:normal}
.narrow .tiny{white-space:nowrap}
.sideways.phone{display:block}
.wide .sideways,.sideways:has(+.scroll .wide){display:none}
.node{padding:.45rem}
.node .about{font-size:.7rem}
.wide thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.wide,.wide caption,.wide tbody,.wide tr,.wide th,.wide td{display:block}
.wide tr{padding:.7rem 0;border-bottom:1px solid var(--line)}
.wide tr:first-child{border-top:1px solid var(--soft)}
.wide th,.wide td{border:0;padding:.1rem 0;text-align:left;white-space:pre-line}
.wide td{display:flow-root;padding-left:7.3rem}
.wide td:empty{display:none}
.wide [data-label]::before{content:attr(data-label);color:var(--soft);font-size:.8rem;
font-weight:400;font-family:system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif}
.wide th::before{margin-right:.6em}
.wide td::before{float:left;width:6.6rem;margin-left:-7.3rem;line-height:1.35;padding-top:.15em}
}
@media(max-width:26rem){.digest{width:16ch}}
"""

_PRINT: Final = """
@page{size:A4;margin:17mm 16mm 18mm}
@media print{
html{font-size:10.4pt;-webkit-print-color-adjust:exact;print-color-adjust:exact}
body{background:none}
header,main,footer{max-width:none;padding-left:0;padding-right:0}
header{padding-top:0}
h1,h2{break-after:avoid;break-inside:avoid}
.caption{break-after:avoid}
figure.chart,.graph,.bars,.flow li,.findings li,.timeline li,tr,footer .inner,.decision
{break-inside:avoid}
p,blockquote{orphans:3;widows:3}
thead{display:table-header-group}
.scroll{overflow:visible}
th,td{overflow-wrap:anywhere;min-width:4rem}
details:not([open]){display:none}
}
"""


def _variables(palette: Mapping[str, str]) -> str:
    return ":root{" + "".join(f"--{name}:{value};" for name, value in palette.items()) + "}"


def _series_rules() -> str:
    return "\n".join(
        f".c{index} .line,.c{index} .marker{{stroke:var(--s{index})}}"
        f".c{index} .marker{{fill:var(--s{index})}}"
        for index in range(SERIES_COLOURS)
    )


def _stylesheet() -> str:
    # Paper is light: the dark palette is for screens only.
    dark = f"@media screen and (prefers-color-scheme:dark){{{_variables(DARK)}}}"
    # The rules of a series come before the charts' own, which hollow markers out again.
    parts = (_variables(LIGHT), dark, _BASE, _TOP, _BLOCKS, _series_rules(), _CHARTS, _FOOT, _PRINT)
    return "\n" + "\n".join(part.strip() for part in parts) + "\n"


CSS: Final = _stylesheet()

# The browser applies exactly this stylesheet and nothing else, whatever the page may hold.
POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        f"style-src 'sha256-{base64.b64encode(hashlib.sha256(CSS.encode()).digest()).decode()}'",
        "base-uri 'none'",
        "form-action 'none'",
    )
)
