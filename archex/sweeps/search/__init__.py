"""Search over designs: a sampler proposes points of a space, what their rows say steers it.

In: the axes of a sweep, objectives, constraints. Out: rounds of points for the run's loop, and the trials that they became. A search is a
function of its seed and of the rows: run again on the folder it wrote, it takes the same way and simulates only what is missing.
"""
