"""archex: a declarative framework for exploring GPU architectures."""
