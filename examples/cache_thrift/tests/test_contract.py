from archex.testing.contracts import ReplacementContract, WaveSchedulerContract
from cache_thrift import CacheConscious, SetDuelling


class TestCacheConscious(WaveSchedulerContract):
    part = CacheConscious
    spec = {"history": 8, "gain": 64, "hold": 64}


class TestSetDuelling(ReplacementContract):
    part = SetDuelling
