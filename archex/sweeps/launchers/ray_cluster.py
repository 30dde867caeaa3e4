"""A connection to a Ray cluster: one that runs, or one started for the run on this machine.

In: an address (`HOST:PORT` of the head) or none, environment variables for the workers. Out: `Cluster`, every node of it with the same
archex; or a RequestError, within seconds. Ray prints nothing and writes nothing but its own temporary folder.
"""

from __future__ import annotations

import logging
import os
import shutil
import signal
import socket
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from archex.base.errors import ABSENT, Problem, RequestError
from archex.sweeps.launchers.local import cores
from archex.sweeps.launchers.ray_nodes import ADDRESS, Nodes

_PATIENCE = 5.0  # seconds in which a head answers
_STORE_BYTES = 128 << 20
#: What opens a conversation with a server of this kind, with no settings of ours; it answers with a frame of its own (type 4).
_HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
_SETTINGS = 4
#: Ray gives each process on a machine 107 letters for the name of a socket, most of which it needs.
_LONGEST_TEMPORARY = 40
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}


class Cluster:
    """Connected until `close`."""

    def __init__(self, address: str | None, workers: int | None, environment: Mapping[str, str]) -> None:
        self._temporary: Path | None = None
        self._ray = ray = _quiet_ray()
        self._owner = not ray.is_initialized()
        if self._owner:
            handler = signal.getsignal(signal.SIGTERM)
            try:
                self._connect(ray, address, workers, environment)
            except BaseException:
                self.close()
                raise
            finally:
                if threading.current_thread() is threading.main_thread() and handler is not None:
                    signal.signal(signal.SIGTERM, handler)
        self.nodes = Nodes(ray)
        try:
            self.nodes.examine()
        except BaseException:
            self.close()
            raise

    def _connect(self, ray: Any, address: str | None, workers: int | None, environment: Mapping[str, str]) -> None:
        asked = address or os.environ.get("RAY_ADDRESS") or "auto"
        if asked != "auto" and (problem := _unreachable(asked)):
            raise RequestError([problem])
        common: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.CRITICAL}
        if environment:
            common["runtime_env"] = {"env_vars": dict(environment)}
        try:
            try:
                ray.init(address=asked, **common)
            except ConnectionError:
                if address or asked != "auto":
                    raise
                self._start(ray, workers, common)
        except (ConnectionError, RuntimeError, ValueError, OSError, ray.exceptions.RayError) as error:
            said = " ".join(str(error).split())
            hint = "" if "RAY_AUTH_MODE" in os.environ else " (to one with a token: RAY_AUTH_MODE=token)"
            raise RequestError([Problem(ADDRESS, address or ABSENT, f"Ray does not let us in: {said[:400]}{hint}")]) from None

    def _start(self, ray: Any, workers: int | None, common: Mapping[str, Any]) -> None:
        """A cluster of this machine alone."""
        os.environ.setdefault("RAY_worker_niceness", "0")  # these are all we do here
        base = tempfile.gettempdir()
        self._temporary = Path(tempfile.mkdtemp(prefix="archex-ray-", dir=base if len(base) < _LONGEST_TEMPORARY else "/tmp"))
        ray.init(
            address="local",
            num_cpus=workers or cores(),
            include_dashboard=False,
            object_store_memory=_STORE_BYTES,
            _temp_dir=str(self._temporary),
            **common,
        )

    def close(self) -> None:
        """Disconnect: the nodes end what they do for us. A cluster of our own ends."""
        if self._owner:
            self._ray.shutdown()
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)
            self._temporary = None


def _quiet_ray() -> Any:
    """The library, which says nothing unless asked. RequestError if it isn't installed."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError:
        needs = "needs Ray, which is not installed: pip install 'archex-sim[ray]'"
        raise RequestError([Problem("hydra/launcher", "ray", needs)]) from None
    logging.getLogger("ray").setLevel(logging.CRITICAL)
    # Dead nodes and workers: the rows say what became of them; Ray would print the nodes' logs among ours.
    ray._private.worker.print_to_stdstream = lambda *_, **__: None
    return ray


def _unreachable(address: str) -> Problem | None:
    """Ray itself tries for two minutes, prints, and ends the process."""
    host, colon, port = address.rpartition(":")
    if not colon or not host or not port.isdigit() or not 0 < int(port) < 1 << 16 or "/" in host:
        return Problem(ADDRESS, address, "is not HOST:PORT of a cluster's head, such as 10.0.0.1:6379 (ray start --head prints it)")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE) as connection:
            connection.settimeout(_PATIENCE)
            connection.sendall(_HELLO)
            answer = connection.recv(9)
    except OSError as error:
        return Problem(ADDRESS, address, f"nobody answers there: {error.strerror or error}")
    return None if len(answer) > 3 and answer[3] == _SETTINGS else Problem(ADDRESS, address, "what answers there is no Ray head")
