"""What the steps of the action do: install ctxc, run its gate, hand the reports to GitHub.

It stands beside the action and not inside ctxc, because ctxc never uses the network.
"""
