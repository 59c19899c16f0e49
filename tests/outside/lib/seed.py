"""The seed of all randomness, printed at the start, and whether the long versions run."""

import os
import random

TORTURE = os.environ.get("TORTURE") == "1"
SEED = int(os.environ.get("SEED") or random.SystemRandom().randrange(1, 1 << 30))
os.environ["SEED"] = str(SEED)
