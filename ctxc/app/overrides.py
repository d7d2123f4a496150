"""``--provider`` and ``--model``: a name that nothing knows is wrong usage, not a fault of every fixture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxc.base.errors import UsageError

if TYPE_CHECKING:
    from ctxc.model.project import Project


def check_overrides(project: Project, provider: str, model: str) -> None:
    """Raise UsageError where no profile of the project has the provider or, of those in use, knows the model."""
    from ctxc.compiler.faults import did_you_mean
    from ctxc.providers import find_row, who_knows

    if provider and provider not in project.providers:
        raise UsageError(
            f"there is no provider profile {provider!r}.{did_you_mean(provider, project.providers)}",
            help="known: " + ", ".join(sorted(project.providers)),
        )
    if not model:
        return
    templates = (t for versions in project.templates.values() for t in versions)
    named = {f.provider for f in project.fixtures.values()} | {t.provider for t in templates}
    named.add(project.settings.provider)
    used = [provider] if provider else sorted(named & project.providers.keys())
    if used and not any(find_row(project.providers[n], model) for n in used):
        patterns = [row.pattern for n in used for row in project.providers[n].models]
        who = " and ".join(used) + (" knows" if len(used) == 1 else " know")
        others = who_knows(project.providers, model)
        if others:
            raise UsageError(f"{who} no model {model!r}.", help=f"pass --provider {' or --provider '.join(others)}")
        raise UsageError(
            f"{who} no model {model!r}.{did_you_mean(model, patterns)}",
            help="known patterns: " + ", ".join(patterns) + "; pass --provider for a model of another provider",
        )
