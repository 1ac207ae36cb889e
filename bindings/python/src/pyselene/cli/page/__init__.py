"""The page of `pyselene serve --web`: what runs, what waits and why, in a browser; needs `pyselene[web]`."""
