"""Puts our lines into a file of the kernel, beside the anchor that the table `anchors` names."""

import re


class MissingAnchor(Exception):
    pass


def read_anchors(*tables):
    """Reads tables of anchors. What a later one says about a file holds."""
    anchors = {}
    for table in tables:
        for line in table.read_text().splitlines() if table.exists() else []:
            if line and not line.startswith("#"):
                file, side, anchor = line.split(maxsplit=2)
                anchors[file] = side, anchor
    return anchors


def our_lines(root, backport, file):
    """Our lines for a file of the kernel: a backport may have others."""
    other = backport / file
    return (other if other.exists() else root / file).read_text()


def splice(file, text, lines, side, anchor):
    """Returns the text with our lines before, after or instead of the anchor."""
    places = list(re.finditer(anchor, text, re.MULTILINE))
    if len(places) != 1:
        found = "not there" if not places else f"there {len(places)} times"
        raise MissingAnchor(f"{file}: the anchor of our lines is {found}: {anchor}")
    start, end = places[0].span() if lines else (0, 0)
    keep_to, go_on = {
        "before": (start, start),
        "after": (end, end),
        "instead": (start, end),
    }[side]
    return text[:keep_to] + lines + text[go_on:]
