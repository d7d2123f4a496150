"""The compiler: one stage per file, in the order of the pipeline.

========== =================== ==========================================================================
stage      file                what it does
========== =================== ==========================================================================
load       ``ctxc/parse``      files to typed objects with positions
(resolve)  ``resolve.py``      which template, contract, tools, provider, model and budget a fixture uses
collect    ``collect.py``      inputs and fragments become candidate sections
authorise  ``authorise.py``    tenant, permissions, expiry, revocation, supersession
reconcile  ``reconcile.py``    conflicts first, then duplicates
select     ``select.py``       route, load modes, dependencies, explainable scores (``score.py``)
allocate   ``allocate.py``     required floors, tiers, buckets, borrowing
fit        ``fit.py``          the overflow ladder, section by section (``truncate/``)
order      ``order.py``        stable prefix, dynamic suffix, newest request last, focus at the end
render     ``render.py``       provider request with cache marks (``wrap.py`` puts text into blocks)
verify     ``verify.py``       counts, pairing, escaping, zones, shape of the provider request
snapshot   ``snapshot.py``     the canonical record
========== =================== ==========================================================================

``pipeline.py`` runs them. A stage is a pure function from immutable values to immutable values; none reads the
clock, the environment, the network or the order of a directory listing.
"""
