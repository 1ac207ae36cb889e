"""Pages of `pyselene serve --web` and `pyselene fleet serve`: what runs, what waits and why; need `pyselene[web]`."""
