"""Models in a worker: read when asked for, shared by its threads, few at a time."""

import collections
import threading

from apache_beam.utils import shared

from belvedere.core.class_model import ClassModel
from belvedere.core.sight import Eyes
from belvedere.transforms import model_store, stores

MODELS = 16  # about 4 MB each
EYES = 2  # models of a store have the same, unless the settings changed


class _Models:
    """The models used last, least recent first; can be weakly referenced."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.kept: collections.OrderedDict[str, tuple[ClassModel, Eyes]] = (
            collections.OrderedDict()
        )
        self.eyes: collections.OrderedDict[str, tuple[Eyes, str]] = (
            collections.OrderedDict()
        )


class ModelCache:
    """Reads models by label and id; only the address of the store travels."""

    _shared = shared.Shared()

    def __init__(self, uri: str, most: int = MODELS) -> None:
        self.store = stores.store_for(uri)
        self.most = most
        self.models = self._shared.acquire(_Models, tag=uri)

    def get(self, label: str, identity: str) -> tuple[ClassModel, Eyes]:
        """The model and its eyes."""
        with self.models.lock:
            kept = self.models.kept
            if identity not in kept:
                kept[identity] = model_store.read_model(
                    self.store, label, identity, self._eyes
                )
                while len(kept) > self.most:
                    kept.popitem(last=False)
            kept.move_to_end(identity)
            return kept[identity]

    def _eyes(self, store: stores.Store, name: str) -> tuple[Eyes, str]:
        known = self.models.eyes
        if name not in known:
            known[name] = model_store.read_eyes(store, name)
            while len(known) > EYES:
                known.popitem(last=False)
        return known[name]
