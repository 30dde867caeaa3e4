"""Designs held against a baseline: findings first, then three ways to say them.

`grid` sorts rows into designs and launches. `standings`, `mechanisms`, `traffic`, `flips` and `sensitivity` are what is found, plain
values; `findings` gathers them. `sections` turns findings into tables of text, the same for the terminal and for Markdown (`render`);
`page` puts them, and the numbers to ask further, into one HTML file.
"""
