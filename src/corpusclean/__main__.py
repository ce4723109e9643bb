"""`python -m corpusclean`."""

from corpusclean.cli.app import main

if __name__ == "__main__":
    main()
