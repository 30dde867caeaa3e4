"""The model held against silicon.

`errors` says how far off each launch is, `explained` whether the model waits for what silicon waits for, `blame` which mechanism
a launch's error points at. `tables` turns them into tables of a terminal, `plot` into a picture, `page` into one HTML file;
`bounds` judges them. In: rows and a `Reference`.
"""

from archex.reports.validate.errors import Error, Errors, compare, families, spearman, warm
from archex.reports.validate.tables import by_counter, by_family, overview, worst

__all__ = ["Error", "Errors", "by_counter", "by_family", "compare", "families", "overview", "spearman", "warm", "worst"]
