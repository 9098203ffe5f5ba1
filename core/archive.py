"""Values to bytes and back without pickle: what models and work files are made of.

A value is a tree of frozen dataclasses, mappings, tuples, arrays and plain values. Its
arrays go into an uncompressed .npz, its shape into JSON beside them. Only the classes
listed in `_KINDS` are ever made from bytes, and every one checks its own fields. The
same value gives the same bytes.
"""

import dataclasses
import enum
import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
import scipy.sparse

from belvedere.core import class_model, explanation, sight, types
from belvedere.core.appearance import bag_of_words, codebooks, grids, hog, location
from belvedere.core.assessment import calibration, verdicts
from belvedere.core.context import hyperfeatures, scaling, voting
from belvedere.core.embedding import affine, sampling
from belvedere.core.prediction import relation_gp
from belvedere.core.report import contents

VERSION = 1
_TREE = "tree"
_DAMAGED = (  # RuntimeError: the flags of a zip ask for what it cannot do
    *(KeyError, TypeError, OSError, EOFError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error),
)
_KINDS: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        affine.AffineMap,
        bag_of_words.WordMap,
        calibration.Calibration,
        class_model.Appearance,
        class_model.ClassModel,
        codebooks.Codebook,
        contents.Shown,
        explanation.Explanation,
        grids.Grid,
        hog.GradientMap,
        hyperfeatures.Consistency,
        location.Extent,
        relation_gp.RelationGP,
        sampling.Sample,
        scaling.Scaling,
        sight.Samples,
        sight.View,
        types.Competition,
        types.Windows,
        verdicts.Verdict,
        voting.Voting,
    )
}

Kind = TypeVar("Kind")


def dump(value: Any) -> bytes:
    """The bytes of a value."""
    arrays: dict[str, np.ndarray] = {}
    tree = {"version": VERSION, "value": _encode(value, arrays)}
    text = json.dumps(tree, sort_keys=True, allow_nan=False).encode()
    buffer = io.BytesIO()
    arrays[_TREE] = np.frombuffer(text, np.uint8)
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def load(data: bytes, kind: type[Kind]) -> Kind:
    """The value in `data`, or ValueError if it is damaged or not of that kind."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            tree = json.loads(file[_TREE].tobytes())
            version = tree["version"]
            if version != VERSION:
                raise ValueError(f"version {version}, wanted {VERSION}")
            value = _decode(tree["value"], file)
    except _DAMAGED as error:
        raise ValueError(f"not an archive, or a damaged one: {error}") from error
    if not isinstance(value, kind):
        raise ValueError(f"holds a {type(value).__name__}, wanted {kind.__name__}")
    return value


def _encode(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    if isinstance(value, enum.Enum):
        return {"enum": _name(value), "value": value.value}
    if isinstance(value, np.ndarray):
        return _keep(value, arrays)
    if scipy.sparse.issparse(value):
        csr = scipy.sparse.csr_matrix(value)
        parts = [_keep(part, arrays) for part in (csr.data, csr.indices, csr.indptr)]
        return {"csr": parts, "shape": list(csr.shape)}
    if dataclasses.is_dataclass(value):
        fields = [f.name for f in dataclasses.fields(value) if f.init]
        return {
            "class": _name(value),
            "fields": {f: _encode(getattr(value, f), arrays) for f in fields},
        }
    if isinstance(value, Mapping):
        return {"map": [[k, _encode(v, arrays)] for k, v in value.items()]}
    if isinstance(value, tuple):
        return {"tuple": [_encode(v, arrays) for v in value]}
    if isinstance(value, bytes):
        return {"bytes": _keep(np.frombuffer(value, np.uint8), arrays)["array"]}
    if value is None or isinstance(value, bool | int | float | str):
        return {"plain": value}
    raise ValueError(f"a {type(value).__name__} cannot be archived")


def _name(value: Any) -> str:
    name = type(value).__name__
    if _KINDS.get(name) is not type(value):
        raise ValueError(f"a {name} cannot be archived")
    return name


def _keep(array: np.ndarray, arrays: dict[str, np.ndarray]) -> dict[str, str]:
    if array.dtype.hasobject:
        raise ValueError("an array of objects cannot be archived")
    key = f"a{len(arrays)}"
    arrays[key] = np.ascontiguousarray(array)
    return {"array": key}


def _decode(node: Any, file: Mapping[str, np.ndarray]) -> Any:
    match node:
        case {"plain": value}:
            return value
        case {"array": key}:
            return file[key]
        case {"bytes": key}:
            return file[key].tobytes()
        case {"enum": name, "value": value}:
            return _KINDS[name](value)
        case {"csr": parts, "shape": shape}:
            data, indices, indptr = (_decode(part, file) for part in parts)
            csr = scipy.sparse.csr_matrix((data, indices, indptr), shape=tuple(shape))
            csr.check_format()
            return csr
        case {"class": name, "fields": fields}:
            kind = _KINDS[name]
            return kind(**{f: _decode(child, file) for f, child in fields.items()})
        case {"map": items}:
            return {key: _decode(child, file) for key, child in items}
        case {"tuple": children}:
            return tuple(_decode(child, file) for child in children)
    raise ValueError(f"an unknown node {str(node)[:60]!r}")
