"""`python -m tfdoctor`."""

import sys

# `-m` puts the working directory first: a platform.py or click.py that lies there is not ours to import.
if not (sys.flags.isolated or getattr(sys.flags, "safe_path", False)):
    del sys.path[0]

from tfdoctor.start import main

if __name__ == "__main__":
    main()
