"""Three curves over time as one SVG: memory, bytes for each event, latency."""

from __future__ import annotations

from typing import Final

from bench.soak.watch import Sample

_SVG: Final = "http:" + "//www.w3.org/2000/svg"  # a name, not an address
_WIDTH, _HEIGHT, _LEFT, _TOP = 720, 110, 60, 40
_STYLE: Final = (
    "text{font:13px system-ui,sans-serif;fill:#444}.head{font-weight:600;fill:#111}"
    "path{fill:none;stroke:#1f5fa8;stroke-width:2}.axis{stroke:#bbb;stroke-width:1}"
    "@media(prefers-color-scheme:dark){text{fill:#bbb}.head{fill:#eee}path{stroke:#7fb2f0}"
    ".axis{stroke:#555}}"
)
_CURVES: Final = (
    ("memory_mb", "memory of the largest agent, MB"),
    ("bytes_per_event", "ledger file, bytes for each event"),
    ("latency_ms", "median latency of a reservation, ms"),
)


def draw(samples: list[Sample], title: str) -> str:
    height = _TOP + len(_CURVES) * (_HEIGHT + 50)
    plots = "".join(
        _plot(samples, name, label, _TOP + place * (_HEIGHT + 50))
        for place, (name, label) in enumerate(_CURVES)
    )
    return (
        f'<svg xmlns="{_SVG}" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}">\n'
        f"<style>{_STYLE}</style>\n<title>{title}</title>\n"
        f'<text class="head" x="20" y="24">{title}</text>\n{plots}</svg>\n'
    )


def _plot(samples: list[Sample], name: str, label: str, top: int) -> str:
    values = [float(getattr(one, name)) for one in samples]
    most, span = max([*values, 0.001]), max(samples[-1].minutes, 0.001)
    right, base = _WIDTH - 20, top + 24 + _HEIGHT
    points = " L".join(
        f"{_LEFT + (right - _LEFT) * one.minutes / span:.1f},{base - _HEIGHT * value / most:.1f}"
        for one, value in zip(samples, values, strict=True)
    )
    return (
        f'<text x="{_LEFT}" y="{top + 14}">{label}</text>\n'
        f'<path class="axis" d="M{_LEFT},{top + 24} V{base} H{right}"/>\n'
        f'<path d="M{points}"/>\n'
        f'<text x="{_LEFT - 6}" y="{top + 34}" text-anchor="end">{most:.0f}</text>\n'
        f'<text x="{_LEFT - 6}" y="{base}" text-anchor="end">0</text>\n'
        f'<text x="{right}" y="{base + 16}" text-anchor="end">{span:.1f} min</text>\n'
    )
