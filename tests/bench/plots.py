#!/usr/bin/env python3
"""Bars of what the benches measured: make bench-plots.

    plots.py RESULTS DIRECTORY

RESULTS has a line of JSON a row, as bench.py --json and beside.py --json
print them; of rows of one workload and peer the last counts.  DIRECTORY gets
rate.svg (messages a second, end to end) and cpu.svg (processor time a
message): a group of bars a workload, a bar a peer.

SPDX-License-Identifier: ISC
"""
import json
import os
import sys
from xml.sax.saxutils import escape

PLOTS = [("rate.svg", "end_to_end_per_s", "Messages a second, end to end",
          "longer is better"),
         ("cpu.svg", "cpu_ms", "Milliseconds of processor time a message",
          "shorter is better")]
COLOURS = ["#1f5fa8", "#c46a1b", "#3a7d44", "#7a4a8c", "#777777"]
LEFT, WIDTH, BAR, GAP, TOP = 150, 820, 18, 14, 64


def keep(row):
    """A row for make bench-plots, where make asked for it."""
    if path := os.environ.get("ZM_BENCH_RESULTS"):
        with open(path, "a", encoding="ascii") as file:
            file.write(json.dumps(row) + "\n")


def rows_of(path):
    """Rows by workload and peer, in the order in which they came."""
    found = {}
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                found.setdefault(row["workload"], {})[
                    row.get("peer", "zmailer")] = row
            except (ValueError, KeyError, TypeError, AttributeError):
                sys.exit(f"{path}:{number}: no row of a bench")
    return found


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def bar(y, share, colour, text):
    length = max(1, round(share * (WIDTH - LEFT - 90)))
    return (f'<rect x="{LEFT}" y="{y}" width="{length}" height="{BAR - 3}" '
            f'fill="{colour}"/>\n<text x="{LEFT + length + 6}" y="{y + 12}">'
            f"{escape(text)}</text>\n")


def legend(peers):
    text = ""
    for i, peer in enumerate(peers):
        x = LEFT + i * 150
        text += (f'<rect x="{x}" y="42" width="12" height="12" '
                 f'fill="{COLOURS[i % len(COLOURS)]}"/>\n'
                 f'<text x="{x + 18}" y="52">{escape(peer)}</text>\n')
    return text


def drawn(found, key, title, hint):
    """The text of one plot."""
    peers = list(dict.fromkeys(peer for rows in found.values()
                               for peer in rows))
    values = [row[key] for rows in found.values() for row in rows.values()
              if key in row]
    most = max(values, default=1) or 1
    body, said, y = "", [], TOP
    for workload, rows in found.items():
        body += (f'<text x="{LEFT - 10}" y="{y + 12}" text-anchor="end">'
                 f"{escape(workload)}</text>\n")
        for peer, row in rows.items():
            if key not in row:
                continue
            body += bar(y, row[key] / most,
                        COLOURS[peers.index(peer) % len(COLOURS)],
                        number(row[key]))
            said.append(f"{workload}, {peer}: {number(row[key])}")
            y += BAR
        y += GAP
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
            f'height="{y}" viewBox="0 0 {WIDTH} {y}" role="img" '
            'aria-labelledby="t d" font-family="sans-serif" font-size="12">\n'
            f'<title id="t">{escape(title)}</title>\n'
            f'<desc id="d">{escape("; ".join(said))}</desc>\n'
            f'<rect width="{WIDTH}" height="{y}" fill="white"/>\n'
            f'<text x="{LEFT}" y="24" font-size="15">{escape(title)} '
            f"({escape(hint)})</text>\n{legend(peers)}{body}</svg>\n")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.split("\n\n")[1])
    found = rows_of(sys.argv[1])
    os.makedirs(sys.argv[2], exist_ok=True)
    for name, key, title, hint in PLOTS:
        path = os.path.join(sys.argv[2], name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(drawn(found, key, title, hint))
        print(path)


if __name__ == "__main__":
    main()
