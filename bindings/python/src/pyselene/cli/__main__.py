"""Makes ``python -m pyselene.cli`` the command ``pyselene``."""

from . import main

main()
