"""Two policies that spare a cache too small for all its waves."""

from archex import hookimpl

from cache_thrift.replacement import SetDuelling
from cache_thrift.scheduler import Sparing


@hookimpl
def archex_parts():
    return [SetDuelling, Sparing]


@hookimpl
def archex_config_dirs():
    return ["pkg://cache_thrift.conf"]
