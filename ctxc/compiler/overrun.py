"""A fragment over its own ``max_tokens`` is an error that names the chain which brought it in.

The limit is one of the text, in tokens of o200k_base, whichever model the fragment is compiled for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ctxc.compiler import faults
from ctxc.compiler.measure import Draft
from ctxc.compiler.stage import Refused, Request
from ctxc.model.fragment import Fragment


def check_fragments(request: Request, drafts: Mapping[str, Draft]) -> None:
    """Raise Refused for the first fragment whose text, by itself, has more tokens than it allows itself."""
    checked = list(_doubtful(request, drafts.values()))
    if not checked:
        return
    counts = request.reference.count_many([d.content for d, _, _ in checked])
    for (draft, fragment, limit), tokens in zip(checked, counts, strict=True):
        if tokens > limit:
            raise Refused(
                faults.fault(
                    request.project,
                    "fragment-overrun",
                    f"fragment {fragment.id!r} ({draft.section.attributes['cause']}) has {tokens:,} tokens, "
                    f"{tokens - limit:,} over its max_tokens of {limit:,}",
                    at=fragment.origin.child("max_tokens"),
                    fixture=request.fixture.id,
                    help="shorten the text, split the fragment, or raise `max_tokens` on purpose",
                    data={"tokens": tokens, "limit": limit},
                )
            )


def _doubtful(request: Request, drafts: Iterable[Draft]) -> Iterable[tuple[Draft, Fragment, int]]:
    """The fragments that have to be counted by themselves.

    A block counts at least as much as the text in it (a property test): where the block keeps to the limit in the
    same vocabulary, so does the text. In any other a token is at least one byte.
    """
    row = request.row
    same = request.tokenizer.id == request.reference.id
    scaled = row.tokenizer.factor_bp != 10_000 or bool(row.framing.get("estimate"))
    for draft in drafts:
        fragment: Fragment | None = draft.section.attributes.get("fragment")
        limit = fragment.max_tokens if fragment is not None else None
        if fragment is None or limit is None:
            continue
        over = draft.tokens > limit if same and not scaled else len(draft.content.encode("utf-8")) > limit
        if over:
            yield draft, fragment, limit
