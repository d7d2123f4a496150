"""What a request costs: its cached prefix, a sequence played against a provider's cache, money, latency.

=========================================================== ========================================================
file                                                        what it does
=========================================================== ========================================================
``recognise.py``, ``recorded.py``                           requests and usage records that others wrote
``layout.py``                                               a request as the blocks that a cache compares
``cache_rules.py``, ``settings.py``                         the rules of a provider's cache; settings that end a prefix
``difference.py``, ``marks.py``, ``stability.py``           what two requests share; marks; what varies and should not
``explicit.py``, ``implicit.py``, ``latest_message.py``,    one kind of cache each
``resource.py``
``simulate.py``, ``sequence.py``, ``conversation.py``       a sequence of calls, its totals, its turns
``placement.py``, ``breakeven.py``                          where breakpoints pay, and when caching pays at all
``price.py``, ``latency.py``                                money in exact decimals; a declared linear model
=========================================================== ========================================================
"""
