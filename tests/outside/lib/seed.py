"""Where random parts begin, and whether the long versions run. The seed is printed at the start."""

import os
import random

TORTURE = os.environ.get("TORTURE") == "1"
SEED = int(os.environ.get("SEED") or random.SystemRandom().randrange(1, 1 << 30))
os.environ["SEED"] = str(SEED)
