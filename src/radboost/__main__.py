"""`python -m radboost` is the command `radboost`."""

import sys

from radboost.cli import main

sys.exit(main())
