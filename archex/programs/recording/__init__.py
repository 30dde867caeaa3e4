"""Traces that are kept: recorded once, read by every run whose launch is the same.

repeatable   whether a trace is the same however its waves take turns: only then may a recording stand for it
record       a source run to its end, every wave's trace in one piece
recorded     the arrays of a recording, as a file that processes map into their memory
replay       a source of traces that reads a recording
kept         a launch's traces: read where they are kept, interpreted where not, recorded where that is asked for
"""
