"""toy-layers: networks in JSON, [[weight, bias], …] with relu between the layers."""

import json

from ircert.errors import FileError
from ircert.files import read_text
from ircert.frontends.base import FrontEnd
from ircert.frontends.layers import from_layers


class ToyLayers(FrontEnd):
    """Files that end in .toy."""

    name = "toy-layers"
    suffixes = (".toy",)

    def read(self, model, **options):
        """Python reads a JSON number as the nearest double."""
        try:
            layers = json.loads(read_text(model))
        except ValueError as error:
            raise FileError(f"this is no JSON ({error})", path=model, remedy="write [[weight, bias], …]") from None
        return from_layers([(weight, bias) for weight, bias in layers])
