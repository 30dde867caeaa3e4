"""archex: a declarative framework for exploring GPU architectures."""

from archex.base.hooks import hookimpl

__all__ = ["hookimpl"]
