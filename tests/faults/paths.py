"""Imported first: where the modules are that the rig shares with tests/e2e."""

import os
import sys

sys.dont_write_bytecode = True  # the tree stays as it was
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[1:1] = [os.path.join(HERE, "..", "e2e"),
                 os.path.join(HERE, "..", "..", "deploy", "local-cluster")]
