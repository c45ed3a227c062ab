"""Worktrees and branches that agents worked in and left: what of it nobody needs any more.

left_work.py       who worked where, and who of them is still there
removable.py       why a worktree or a branch must stay, or that nothing is lost with it
"""
