"""How many processes a test may share its work among."""

import os

#: One where pytest-xdist has one for each core already: more would only import the libraries anew.
N_JOBS = 1 if "PYTEST_XDIST_WORKER" in os.environ else 2
