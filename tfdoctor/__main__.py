"""`python -m tfdoctor`."""

from tfdoctor.cli import main

if __name__ == "__main__":
    main()
