"""Makes `python -m pyselene` the command `pyselene`."""

from .cli import main

main()
