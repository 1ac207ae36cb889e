"""The application, which brings the command selene_worker."""

from __future__ import annotations

from django.apps import AppConfig


class SeleneConfig(AppConfig):  # type: ignore[misc]
    """Its label is not that of Django itself."""

    name = "pyselene.django"
    label = "pyselene"
    verbose_name = "Selene"
