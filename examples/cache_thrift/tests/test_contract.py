from archex.testing.contracts import ReplacementContract, WaveSchedulerContract
from cache_thrift import SetDuelling, Sparing


class TestSparing(WaveSchedulerContract):
    part = Sparing
    spec = {"history": 8, "gain": 64, "hold": 64}


class TestSetDuelling(ReplacementContract):
    part = SetDuelling
