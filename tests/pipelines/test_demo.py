import json
import subprocess
import sys

import numpy as np
from PIL import Image


def test_the_demo_ends_with_a_sheet_and_figures(tmp_path):
    command = [sys.executable, "-m", "belvedere.pipelines", "demo"]
    options = ["--output", str(tmp_path / "out"), "--classes", "2", "--images", "9"]
    done = subprocess.run(
        [*command, *options], capture_output=True, text=True, check=True
    )
    metrics = json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert set(metrics["methods"]) >= {"full", "ae_gp", "location", "constant_box"}
    assert metrics["methods"]["full"]["mean_iou"] > 0
    sheet = np.asarray(Image.open(tmp_path / "out" / "sheet.png"))
    assert sheet.std() > 10
    assert "sheet.png" in done.stdout
