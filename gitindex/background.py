"""Start the runner by the module name that hooks of version 0.1 use."""

import sys

from gitindex.refresh.background import main

if __name__ == "__main__":
    sys.exit(main())
