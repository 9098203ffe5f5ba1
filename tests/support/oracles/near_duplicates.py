"""Fingerprints by the definition, pictures compared two by two, labels spread."""

import math

import cv2
import numpy as np

SIDE = 32


def wave(grey, y, x):
    """A frequency of a small grey picture, by the definition."""
    i = np.arange(SIDE)
    down = np.cos(math.pi * (2 * i + 1) * y / (2 * SIDE))
    across = np.cos(math.pi * (2 * i + 1) * x / (2 * SIDE))
    scale = math.sqrt((1 if y == 0 else 2) * (1 if x == 0 else 2)) / SIDE
    return scale * float(down @ grey @ across)


def signs(pixels):
    """127 even and 128 odd signs, lowest first; None if there are too few."""
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    grey = cv2.resize(grey, (SIDE, SIDE), interpolation=cv2.INTER_AREA).astype(float)
    places = sorted(
        ((y, x) for y in range(SIDE) for x in range(SIDE)),
        key=lambda place: (sum(place), place),
    )
    even = [place for place in places if place[1] % 2 == 0][1:128]
    odd = [place for place in places if place[1] % 2 == 1][:128]
    values = [wave(grey, y, x) for y, x in even + odd]
    if sum(abs(value) > 1 for value in values) < 128:
        return None
    return [value > 0 for value in values]


def bits(fingerprint):
    """The bits of a fingerprint, the highest of each word first; the first is left out.

    It only says that there is a fingerprint.
    """
    text = "".join(f"{int(word):064b}" for word in fingerprint)
    return [one == "1" for one in text[1:]]


def differing(one, other):
    """How many signs differ, or differ from the mirror image."""
    one, other = bits(one), bits(other)
    mirrored = other[:127] + [not sign for sign in other[127:]]
    return min(
        sum(a != b for a, b in zip(one, version, strict=True))
        for version in (other, mirrored)
    )


def groups(ids, content_hashes, fingerprints, distance):
    """Group numbers, by handing labels on until none changes."""
    n = len(ids)

    def alike(i, j):
        if ids[i] == ids[j] or content_hashes[i] == content_hashes[j]:
            return True
        some = fingerprints[i].any() and fingerprints[j].any()
        return some and differing(fingerprints[i], fingerprints[j]) <= distance

    smallest = list(ids)
    changed = True
    while changed:
        changed = False
        for i in range(n):
            for j in range(n):
                if smallest[j] < smallest[i] and alike(i, j):
                    smallest[i], changed = smallest[j], True
    return [sorted(set(smallest)).index(name) for name in smallest]
