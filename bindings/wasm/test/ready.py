"""Pages that say themselves when they are ready."""

from __future__ import annotations

from chrome import Tab


def open_page(tab: Tab, address: str) -> None:
    """Opens a page and waits until it says that it is ready, or that it is not."""
    tab.open(address)
    tab.until("document.body.dataset.ready")
    assert tab.run("document.body.dataset.ready") == "yes", tab.run("document.getElementById('foot').textContent")
