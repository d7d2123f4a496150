"""Shares that a policy bounds from below, each fixture by itself: against a floor, and against the base."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from ctxc.base.values import dataclass
from ctxc.model.contract import Policy
from ctxc.model.finding import Finding
from ctxc.model.measured import Measured
from ctxc.rules._ground import ground, origin_of, selected, settings, told
from ctxc.rules.engine import Context, Rule

Share = Callable[[Measured], "tuple[int, int] | None"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Under:
    """A fixture under a bound. ``shown`` is its share in words, ``limit`` what was asked."""

    policy: Policy
    keys: tuple[Any, ...]
    measured: Measured
    shown: str
    limit: str
    numbers: Mapping[str, Any]

    def finding(
        self, context: Context, rule: Rule, message: str, *, help: str, data: Mapping[str, Any] | None = None
    ) -> Finding:
        """A finding at the fixture."""
        return told(
            context,
            rule,
            self.policy,
            self.keys,
            message,
            at=origin_of(context, self.measured.fixture),
            help=help,
            fixture=self.measured.fixture,
            data={**self.numbers, **(data or {})},
        )


def percent(part: int, whole: int) -> str:
    """A share in percent, rounded down so that what is missing never reads 100%."""
    return f"{100 * part // whole}% ({part:,} of {whole:,})"


def judged(context: Context, name: str, share: Share) -> Iterator[Under]:
    """Fixtures whose share is under the floor that some policy sets under ``regression``, or fell too far."""
    base = ground(context).base or {}
    for policy, regression in settings(context, "regression"):
        bound = regression.get(name)
        if not isinstance(bound, Mapping):
            continue
        for measured in selected(context, policy, bound.get("where", {})):
            here = share(measured)
            if here is None:
                continue
            value = Fraction(*here)
            if "floor" in bound and value < Fraction(str(bound["floor"])):
                yield Under(
                    policy=policy,
                    keys=("regression", name, "floor"),
                    measured=measured,
                    shown=percent(*here),
                    limit=f"the policy wants {bound['floor']} at least",
                    numbers={"part": here[0], "whole": here[1], "limit": bound["floor"]},
                )
            before = base.get(measured.fixture)
            was = share(before) if before is not None else None
            if "max_loss" in bound and was is not None and Fraction(*was) - value > Fraction(str(bound["max_loss"])):
                yield Under(
                    policy=policy,
                    keys=("regression", name, "max_loss"),
                    measured=measured,
                    shown=percent(*here),
                    limit=f"it was {percent(*was)} at the base",
                    numbers={"part": here[0], "whole": here[1], "base": list(was), "limit": bound["max_loss"]},
                )
