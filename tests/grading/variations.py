"""Honest work in other forms than the kit's, and attempts to pass without the work: data for one engine.

Each is an answer cell and the check behind it, as a notebook has them. `tests/grading/test_variations.py` runs all
of a group in one notebook, in a plain kernel and through the judge.
"""

# ruff: noqa: E501 - tables, an answer a line

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tests.notebooks.run_notebook import ROOT


@dataclass(frozen=True)
class Variation:
    """An answer: what ``check`` must say to it at home and in class. ``passes`` is None where both only must agree."""

    name: str
    check: str
    source: str
    passes: bool | None = True


BDP: Final = "lab05.check_bdp(bdp_packets)"
SHOWS: Final = "lab03.check_busy(train_shows)"
SUMMARY: Final = "lab04.check_summary(summary)"
JAIN: Final = "lab06.check_jain(jain)"
TRAIN: Final = "lab03.check_train(estimate_from_train)"
BANDWIDTH: Final = "lab08.check_bandwidth(bandwidth)"
JITTER: Final = "lab08.check_jitter(jitter)"
RTP: Final = "lab09.check_jitter(jitter_ms)"
PREDICTED: Final = "lab00.check_measured_rtt(predicted)"
TAG: Final = "lab10.check_tag(tag)"
PLAN: Final = "lab01.check_plan(plan)"

IMPORTS: Final = """
import collections, enum, functools, itertools, math, operator, statistics, sys, types
from decimal import Decimal
from fractions import Fraction
import numpy as np
import pandas as pd
import linklab
from linklab import measure
from linklab import lab00, lab01, lab03, lab04, lab05, lab06, lab08, lab09, lab10
from linklab.programs import simpleperf
from linklab.measure import PingFlow, SimpleperfFlow, UdpFlow
PATHS = ("h1-h4", "h7-h9", "h1-h9")
"""
HELPERS: Final[Mapping[str, str]] = {
    "helpers.py": "from parts import pairs\n\ndef mean(values):\n    values = list(values)\n    return sum(values) / len(values)\n",
    "parts.py": "def pairs(values):\n    return list(zip(values, values[1:]))\n",
}
_JAIN: Final = """
def jain(values):
    if not any(values):
        raise {}
    return {}
"""
_RIGHT_JAIN: Final = "sum(values) ** 2 / (len(values) * sum(value ** 2 for value in values))"
_RATES: Final = "[8e-6 * frame_bytes * k / (t - arrivals_s[0]) for k, t in enumerate(arrivals_s[1:], 1)]"
_PREFIXES: Final = "net = {it.name: it.prefix.removesuffix('.0/24') for it in linklab.course_network().subnets}\n"
_ROUTERS: Final = """
routers = {"r1-eth0": "A.1", "r1-eth1": "B.1", "r2-eth0": "B.2", "r2-eth1": "C.1", "r2-eth2": "D.1", "r3-eth0": "D.2"}
routers |= {"r3-eth1": "F.1", "r3-eth2": "E.1", "r3-eth3": "G.1", "r4-eth0": "G.2", "r4-eth1": "I.1"}
plan = {name: net[at[0]] + at[1:] + "/24" for name, at in (hosts | routers).items()}
"""
_HOSTS: Final = """
hosts = {"h1-eth0": "A.2", "h2-eth0": "A.3", "h3-eth0": "A.4", "h4-eth0": "E.2", "h5-eth0": "E.3", "h6-eth0": "E.4"}
hosts |= {"h7-eth0": "C.2", "h8-eth0": "F.2", "h9-eth0": "I.2"}
"""

HONEST: Final = (
    Variation("a whole number of numpy's", PREDICTED, "predicted = np.int64(20)"),
    Variation("a small float of numpy's", PREDICTED, "predicted = np.float32(20)"),
    Variation("a fraction", PREDICTED, "predicted = 2 * Fraction('10')"),
    Variation("a decimal", PREDICTED, "predicted = Decimal(20)", None),
    Variation("an array without a dimension", PREDICTED, "predicted = np.array(20.0)", None),
    Variation("a text", PREDICTED, "predicted = '20 ms'", False),
    Variation("the mean of a list", PREDICTED, "predicted = statistics.mean([20, 20])"),
    Variation("numpy in a dictionary", BDP, "bdp_packets = dict(zip(PATHS, np.array([149, 99, 132])))"),
    Variation("fractions in a dictionary", BDP, "bdp_packets = {name: Fraction(2 * n, 2) for name, n in zip(PATHS, (149, 99, 132))}"),
    Variation("an ordered dictionary", BDP, "bdp_packets = collections.OrderedDict(zip(PATHS, (149, 99, 132)))"),
    Variation("a default dictionary", BDP, "bdp_packets = collections.defaultdict(lambda: 132, {'h1-h4': 149, 'h7-h9': 99, 'h1-h9': 132})"),
    Variation("a dictionary that cannot change", BDP, "bdp_packets = types.MappingProxyType({'h1-h4': 149, 'h7-h9': 99, 'h1-h9': 132})"),
    Variation("a dictionary over another", BDP, "bdp_packets = collections.ChainMap({'h1-h4': 149, 'h7-h9': 99}, dict.fromkeys(PATHS, 132))"),
    Variation("a dictionary of one's own", BDP, "class Mine(collections.UserDict):\n    pass\nbdp_packets = Mine(zip(PATHS, (149, 99, 132)))"),
    Variation("names of an Enum", BDP, "class Path(str, enum.Enum):\n    one = 'h1-h4'\n    two = 'h7-h9'\n    three = 'h1-h9'\nbdp_packets = {Path.one: 149, Path.two: 99, Path.three: 132}"),
    Variation("a named tuple", BDP, "bdp_packets = collections.namedtuple('Paths', 'one two three')(149, 99, 132)", None),
    Variation("a series", BDP, "bdp_packets = pd.Series({'h1-h4': 149, 'h7-h9': 99, 'h1-h9': 132})", None),
    Variation("one key more", BDP, "bdp_packets = {'h1-h4': 149, 'h7-h9': 99, 'h1-h9': 132, 'h2-h5': 1}", None),
    Variation("one number wrong", BDP, "bdp_packets = {'h1-h4': np.float64(99), 'h7-h9': 99, 'h1-h9': 132}", False),
    Variation("values of an Enum", SHOWS, "class Is(str, enum.Enum):\n    between = 'c'\ntrain_shows = Is.between"),
    Variation("texts of numpy's", SHOWS, "train_shows = np.array(['c'])[0]"),
    Variation("letters of an Enum", TAG, "Is = enum.StrEnum('Is', 'a b c')\ntag = Is.a"),
    Variation("capital letters with blanks", TAG, "tag = ' A'", None),
    Variation("a summary by statistics", SUMMARY, "def summary(rtt_ms):\n    known = [it for it in rtt_ms if it is not None]\n    return dict(min=min(known), mean=statistics.mean(known), max=max(known), mdev=statistics.pstdev(known))"),
    Variation("a summary by numpy", SUMMARY, "def summary(rtt_ms):\n    known = np.array([np.nan if it is None else it for it in rtt_ms])\n    return {'min': np.nanmin(known), 'mean': np.nanmean(known), 'max': np.nanmax(known), 'mdev': np.nanstd(known)}"),
    Variation("a summary by pandas", SUMMARY, "def summary(rtt_ms):\n    known = pd.Series(rtt_ms, dtype=float).dropna()\n    return {'min': known.min(), 'mean': known.mean(), 'max': known.max(), 'mdev': known.std(ddof=0)}"),
    Variation("an object that is called", SUMMARY, "class Summary:\n    def __call__(self, rtt_ms):\n        known = sorted(filter(None, rtt_ms))\n        mean = sum(known) / len(known)\n        squares = sum(it * it for it in known) / len(known)\n        return collections.OrderedDict(min=known[0], mean=mean, max=known[-1], mdev=math.sqrt(max(0, squares - mean * mean)))\nsummary = Summary()"),
    Variation("a method", SUMMARY, "class Pings:\n    def numbers(self, rtt_ms):\n        known = [Fraction(it) for it in rtt_ms if it is not None]\n        return {'min': min(known), 'mean': statistics.fmean(known), 'max': max(known), 'mdev': statistics.pstdev(known)}\nsummary = Pings().numbers"),
    Variation("a summary that crashes", SUMMARY, "def summary(rtt_ms):\n    return {'min': min(rtt_ms)}", False),
    Variation("an error of statistics", JAIN, _JAIN.format("statistics.StatisticsError('no flow')", _RIGHT_JAIN)),
    Variation("an error of one's own", JAIN, "class NoFlow(ValueError):\n    pass\n" + _JAIN.format("NoFlow('nothing arrived')", _RIGHT_JAIN)),
    Variation("an error of two kinds", JAIN, "class NoFlow(LookupError, ValueError):\n    pass\n" + _JAIN.format("NoFlow('nothing arrived')", _RIGHT_JAIN)),
    Variation("an error that is called ValueError", JAIN, "Wrong = type('ValueError', (Exception,), {})\n" + _JAIN.format("Wrong('no flow')", _RIGHT_JAIN), False),
    Variation("an error of another kind", JAIN, _JAIN.format("ArithmeticError('no flow')", _RIGHT_JAIN), False),
    Variation("an index by numpy", JAIN, _JAIN.format("ValueError('no flow')", "np.mean(values) ** 2 / np.mean(np.square(values))")),
    Variation("an index as a fraction", JAIN, _JAIN.format("ValueError('no flow')", "Fraction(sum(map(Fraction, values)) ** 2, len(values) * sum(Fraction(it) ** 2 for it in values))")),
    Variation("a lambda", JAIN, "def no(): raise ValueError('no flow')\njain = lambda v: sum(v) ** 2 / len(v) / sum(x * x for x in v) if any(v) else no()"),
    Variation("a part of a function", JAIN, "def index(power, values):\n    if not any(values): raise ValueError('no flow')\n    return sum(values) ** power / len(values) / sum(x ** power for x in values)\njain = functools.partial(index, 2)"),
    Variation("a decorated function", JAIN, "@functools.lru_cache\ndef index(values):\n    if not any(values): raise ValueError('no flow')\n    return math.fsum(values) ** 2 / (len(values) * math.sumprod(values, values) if hasattr(math, 'sumprod') else len(values) * sum(map(operator.mul, values, values)))\njain = lambda values: index(tuple(values))"),
    Variation("a function that changes its list", SUMMARY, "def summary(rtt_ms):\n    while None in rtt_ms: rtt_ms.remove(None)\n    rtt_ms.sort()\n    return {'min': rtt_ms[0], 'mean': statistics.fmean(rtt_ms), 'max': rtt_ms[-1], 'mdev': statistics.pstdev(rtt_ms)}"),
    Variation("a train by numpy", TRAIN, "def estimate_from_train(arrival_s, payload_bytes):\n    return 8e-6 * payload_bytes / np.diff(arrival_s).mean()"),
    Variation("a train by a helper", TRAIN, "import helpers\ndef estimate_from_train(arrival_s, payload_bytes):\n    return 8e-6 * payload_bytes / helpers.mean(b - a for a, b in helpers.pairs(arrival_s))"),
    Variation("a train by a file that is run", TRAIN, "%run helpers.py\ndef estimate_from_train(arrival_s, payload_bytes):\n    return 8e-6 * payload_bytes / mean(b - a for a, b in pairs(arrival_s))"),
    Variation("a series as a generator", BANDWIDTH, "def bandwidth(arrivals_s, frame_bytes):\n    yield from " + _RATES),
    Variation("a series as a tuple", BANDWIDTH, f"bandwidth = lambda arrivals_s, frame_bytes: tuple({_RATES})"),
    Variation("a series of numpy's", BANDWIDTH, "def bandwidth(arrivals_s, frame_bytes):\n    t = np.array(arrivals_s)\n    return 8e-6 * frame_bytes * np.arange(1, len(t)) / (t[1:] - t[0])"),
    Variation("a series of pandas'", BANDWIDTH, f"bandwidth = lambda arrivals_s, frame_bytes: pd.Series({_RATES})"),
    Variation("a map", BANDWIDTH, "bandwidth = lambda t, size: map(lambda k: 8e-6 * size * k / (t[k] - t[0]), range(1, len(t)))"),
    Variation("the values of a dictionary", BANDWIDTH, f"bandwidth = lambda arrivals_s, frame_bytes: dict(enumerate({_RATES})).values()"),
    Variation("a deque", BANDWIDTH, f"bandwidth = lambda arrivals_s, frame_bytes: collections.deque({_RATES})"),
    Variation("a series of one's own", BANDWIDTH, f"class Series:\n    def __init__(self, items): self.items = items\n    def __iter__(self): return iter(self.items)\nbandwidth = lambda arrivals_s, frame_bytes: Series({_RATES})"),
    Variation("a dictionary as a series", BANDWIDTH, f"bandwidth = lambda arrivals_s, frame_bytes: dict(enumerate({_RATES}))", False),
    Variation("jitter by sorting", JITTER, "def jitter(departures_s, arrivals_s):\n    got = sorted((a, d) for d, a in zip(departures_s, arrivals_s) if a is not None)\n    delay = [a - d for a, d in got]\n    return [abs(x - y) * 1000 for x, y in zip(delay[1:], delay)]"),
    Variation("jitter by pandas", JITTER, "def jitter(departures_s, arrivals_s):\n    t = pd.DataFrame({'d': departures_s, 'a': arrivals_s}, dtype=float).dropna().sort_values('a')\n    return (1000 * (t.a - t.d).diff().abs()).dropna().tolist()"),
    Variation("jitter as an array", JITTER, "def jitter(departures_s, arrivals_s):\n    a = np.array(arrivals_s, float)\n    d = np.array(departures_s)[~np.isnan(a)]\n    a = a[~np.isnan(a)]\n    order = a.argsort()\n    return 1000 * np.abs(np.diff((a - d)[order]))"),
    Variation("jitter step by step", RTP, "def jitter_ms(arrivals_s, timestamps_s):\n    transit = map(operator.sub, arrivals_s, timestamps_s)\n    *_, last = itertools.accumulate((abs(b - a) for a, b in itertools.pairwise(transit)), lambda j, d: j + (d - j) / 16, initial=0)\n    return 1000 * last"),
    Variation("jitter by recursion", RTP, "def jitter_ms(arrivals_s, timestamps_s):\n    n = len(arrivals_s)\n    if n < 2: return 0\n    before = jitter_ms(arrivals_s[:-1], timestamps_s[:-1])\n    d = abs((arrivals_s[-1] - arrivals_s[-2]) - (timestamps_s[-1] - timestamps_s[-2]))\n    return before + (1000 * d - before) / 16"),
    Variation("another order of hosts", PLAN, _PREFIXES + _HOSTS.replace("A.2", "A.200").replace("E.4", "E.77") + _ROUTERS, False),
    Variation("a host twice", PLAN, _PREFIXES + _HOSTS.replace("A.3", "A.2") + _ROUTERS, False),
    Variation("a crash of the check", "lab03.check_hidden(too_many)", "too_many = np.array([1.0, 2.0])", False),
)  # fmt: skip
"""Without a lab."""

_BUILT: Final = """
from mininet.node import Host, Node
from mininet.topo import Topo

class LinuxRouter(Node):
    def config(self, **params):
        super().config(**params)
        self.cmd("sysctl -w net.ipv4.ip_forward=1")

    def terminate(self):
        self.cmd("sysctl -w net.ipv4.ip_forward=0")
        super().terminate()

class Plain(Host):
    "A host of my own."

def end(number, interface):
    return {f"intfName{number}": interface, f"params{number}": {"ip": plan[interface]}}

class Mine(Topo):
    def build(self):
        for name in ("s2", "s1"):
            self.addSwitch(name)
        for name in ("r4", "r3", "r2", "r1"):
            self.addNode(name, cls=LinuxRouter, ip=None)
        for number in range(9, 0, -1):
            self.addHost(f"h{number}", cls=Plain, ip=plan[f"h{number}-eth0"])
        self.addLink("r1", "s1", **end(1, "r1-eth0"))
        for host, switch in (("h6", "s2"), ("h3", "s1"), ("h2", "s1"), ("h1", "s1"), ("h5", "s2"), ("h4", "s2")):
            self.addLink(switch, host)
        self.addLink("s2", "r3", **end(2, "r3-eth2"))
        self.addLink("r2", "h7", **end(1, "r2-eth1"))
        self.addLink("r3", "h8", **end(1, "r3-eth1"))
        self.addLink("r4", "h9", **end(1, "r4-eth1"))
        for name, one, other in (("L1", "r1-eth1", "r2-eth0"), ("L2", "r2-eth2", "r3-eth0"), ("L3", "r3-eth3", "r4-eth0")):
            it = linklab.course_network().link(name)
            shape = dict(bw=it.rate_mbps, delay=f"{it.delay_ms}ms", max_queue_size=it.queue_packets)
            self.addLink(one[:2], other[:2], **end(1, one), **end(2, other), **shape)

lab.stop()
lab = linklab.start(Mine())
for host, name in dict(h1="A", h2="A", h3="A", h4="E", h5="E", h6="E", h7="C", h8="F", h9="I").items():
    lab[host].cmd(f"ip route add default via {net[name]}.1")
lab["r1"].cmd(f"ip route add default via {net['B']}.2")
lab["r4"].cmd(f"ip route add default via {net['G']}.1")
lab["r2"].cmd(f"ip route add {net['A']}.0/24 via {net['B']}.1; ip route add default via {net['D']}.2")
lab["r3"].cmd(f"ip route add 10.0.0.0/8 via {net['D']}.1; ip route add {net['I']}.0/24 via {net['G']}.2")
"""
_PINGS: Final = "{name: measure.run(lab, PingFlow(a, b, address=far[name])) for name, (a, b) in lab04.LINKS.items()}"
_SENT: Final = "SimpleperfFlow('r1', 'r2', 25, address=far['L1'])"
_BOTH: Final = f"PingFlow('r1', 'r2', 25, 1, address=far['L1']), {_SENT}"
_SEARCH: Final = """
class Search:
    def __init__(self): self.tried = []
    def __call__(self, prober):
        arrival_s = np.array(prober.train(40))
        guess = 8e-6 * 1448 / np.median(np.diff(arrival_s))
        low, high = 0.9 * guess, 1.06 * guess
        while high - low > 0.04 * high:
            rate = (low + high) / 2
            self.tried.append(rate)
            low, high = (rate, high) if prober.send(rate, 2).loss_percent <= 0.5 else (low, rate)
        return {}
find_bandwidth = Search()
"""

IN_LABS: Final = (
    Variation("pings in another mapping", "lab04.check_pings(pings)", f"pings = types.MappingProxyType({_PINGS})"),
    Variation("one ping more", "lab04.check_together(together)", f"together = measure.run_together(lab, [PingFlow('h1', 'h4', 25, 1), {_BOTH}])"),
    Variation("a network of one's own classes", "lab01.check_nodes(lab)", _PREFIXES + _HOSTS + _ROUTERS + _BUILT),
    Variation("other ports", "lab01.check_addresses(lab)", "pass"),
    Variation("links in another order", "lab01.check_links(lab)", "pass"),
    Variation("forwarding by a class", "lab01.check_forwarding(lab)", "pass"),
    Variation("default and summary routes", "lab01.check_routes(lab)", "pass"),
    Variation("all of it reached", "lab01.check_reachability(lab)", "pass"),
    Variation("a search by an object", "lab03.check_search(find_bandwidth, (11,))", _SEARCH.format("low")),
    Variation("simpleperf in two files", 'simpleperf.check_step("simpleperf.py", "transfer")', "pass"),
)  # fmt: skip
"""In labs, one after the other: the first ones in the course network, then in one of the student's."""
COURSE_LAB: Final = """
lab = linklab.start(linklab.course_network())
far = {name: linklab.course_network().link(name).b.address.removesuffix("/24") for name in ("L1", "L2", "L3")}
"""
PROGRAM: Final[Mapping[str, str]] = {
    "simpleperf.py": "import sys\n\nimport core\n\nif __name__ == '__main__':\n    sys.exit(core.main())\n",
    "core.py": (ROOT / "solutions" / "simpleperf.py").read_text("utf-8"),
}

_FRAME: Final = (
    "next(f.f_locals[n] for f in _frames() for n in ('right', 'value') if isinstance(f.f_locals.get(n), float))"
)
_FRAMES: Final = """
def _frames():
    frame = sys._getframe()
    while frame:
        yield frame
        frame = frame.f_back
"""
_MADE_UP: Final = """
from linklab.measure import Origin, PingResult
def made_up(a, b, rtt):
    return PingResult(PingFlow(a, b), Origin("ping", "6"), (rtt,) * 25, rtt, rtt, rtt, 0.0, 0, 0)
pings = {"L1": made_up("r1", "r2", 20.0), "L2": made_up("r2", "r3", 40.0), "L3": made_up("r3", "r4", 20.0)}
"""

CHEATS: Final = (
    Variation("an object that equals everything", BDP, "class All(float):\n    __eq__ = lambda *_: True\n    __hash__ = float.__hash__\n    __lt__ = __gt__ = __le__ = __ge__ = __eq__\nbdp_packets = dict.fromkeys(PATHS, All(1))"),
    Variation("a number that changes", BDP, "class Any(float):\n    tries = itertools.cycle((149.0, 132.0))\n    def __float__(self): return next(self.tries)\n    __abs__ = __float__\nbdp_packets = dict.fromkeys(PATHS, Any(1))"),
    Variation("nothing but nan", BDP, "bdp_packets = dict.fromkeys(PATHS, float('nan'))"),
    Variation("infinity", BDP, "bdp_packets = dict.fromkeys(PATHS, float('inf'))"),
    Variation("an empty dictionary", BDP, "bdp_packets = {}"),
    Variation("a constant of the lab's", BDP, "bdp_packets = lab05.PATHS"),
    Variation("what the check returned", BDP, "bdp_packets = lab05.check_bdp({'h1-h4': 1, 'h7-h9': 2, 'h1-h9': 3})"),
    Variation("a result that has passed", BDP, "from linklab.grade import Check, Result\nbdp_packets = Result('mine', (Check.passing('all', ''),))"),
    Variation("an error that has passed", BDP, "from linklab.grade import Check, GradeError, Result\nclass Lazy(dict):\n    def get(self, *_): raise GradeError(Result('mine', (Check.passing('all', ''),)))\n    items = get\nbdp_packets = Lazy(one=1)"),
    Variation("a result printed by oneself", BDP, "from IPython.display import publish_display_data\npublish_display_data({'application/vnd.linklab.result+json': {'linklab_result': 1, 'title': 'x', 'outcome': 'passed', 'checks': []}, 'text/plain': 'passed'})\nbdp_packets = {}"),
    Variation("one number for all", BDP, "bdp_packets = dict.fromkeys(PATHS, 132)"),
    Variation("a letter that is all letters", TAG, "class Each(str):\n    __eq__ = lambda *_: True\n    __hash__ = str.__hash__\n    strip = lower = casefold = lambda self: self\ntag = Each('b')"),
    Variation("all letters at once", TAG, "tag = ['a', 'b', 'c']"),
    Variation("a key that is read", TAG, "import json, pathlib\none = json.loads((pathlib.Path(linklab.__file__).parent / 'labs/lab10/choices.json').read_text())['tag']\ntag = one.get('right', 'b')"),
    Variation("a constant in place of a function", JAIN, _JAIN.format("ValueError('no flow')", "1.0")),
    Variation("a function that always raises", JAIN, "def jain(values): raise ValueError('no flow')"),
    Variation("an answer from the caller's frame", JAIN, _FRAMES + _JAIN.format("ValueError('no flow')", _FRAME)),
    Variation("an answer from what is in memory", JAIN, "import gc\n" + _JAIN.format("ValueError('no flow')", "next(it for it in gc.get_objects() if type(it).__name__ == 'Expectation').value")),
    Variation("the function itself as an answer", JAIN, "jain = lambda values: jain"),
    Variation("an answer that equals everything", JAIN, "class All(float):\n    __eq__ = lambda *_: True\n    __hash__ = float.__hash__\njain = lambda values: All(1)"),
    Variation("a series that is any series", BANDWIDTH, "class Any(list):\n    __eq__ = lambda *_: True\n    __len__ = lambda self: 3\n    __iter__ = lambda self: iter([1.0] * 3)\nbandwidth = lambda *_: Any()"),
    Variation("an empty series", BANDWIDTH, "bandwidth = lambda *_: []"),
    Variation("a series from the check's module", BANDWIDTH, "from linklab.labs.lab08 import functions\ncases = iter(vars(functions).get('_ARRIVALS', {}).values())\nbandwidth = lambda *_: next(cases)"),
    Variation("a check that is replaced", BDP, "from linklab.grade import Check, Result\ndef passed(*_): return Result('mine', (Check.passing('all', ''),))\nfor module in (lab05, sys.modules['linklab.labs.lab05.rules']):\n    module.check_bdp = passed\nbdp_packets = {}"),
    Variation("a require that is replaced", BDP, "from linklab.grade.result import Result as R\nR.require = lambda self: self\nR.passed = property(lambda self: True)\nbdp_packets = {}"),
    Variation("a module that is replaced", BDP, "class Anything(types.ModuleType):\n    def __getattr__(self, name): return lambda *_: self\nsys.modules['linklab.labs.lab05'] = lab05 = Anything('lab05')\nbdp_packets = {}"),
    Variation("files that shadow the judge's", BDP, "for name in ('linklab', 'statistics', 'json', 'sitecustomize', 'usercustomize'):\n    open(f'{name}.py', 'w').write('raise SystemExit(0)')\nbdp_packets = {}"),
    Variation("a kernel that hands over what it likes", BDP, "from linklab.grade import values\nvalues.write = lambda *_: '{\"$\": \"data\", \"class\": \"linklab.grade.result.Result\", \"fields\": {}}'\nbdp_packets = {}"),
    Variation("a pickle in the place of a value", BDP, "from linklab.grade import values\nvalues.write = lambda *_: '{\"$\": \"exception\", \"kind\": \"GradeError\", \"bases\": [\"Result\"], \"says\": \"\"}'\nbdp_packets = {}"),
)  # fmt: skip
"""Attempts to pass without the work: none may pass through the judge. The last ones harm their own kernel for good."""

KNOWN_TO_PASS: Final = (
    Variation("numbers that are guessed with the check", PREDICTED, "predicted = next(it for it in range(1, 1000) if lab00.check_measured_rtt(it).passed)"),
    Variation("letters that are guessed with the check", TAG, "tag = next(letter for letter in 'abcd' if lab10.check_tag(letter).passed)"),
    Variation("a rate that is imported", TRAIN, "from linklab.analysis.packets import train_rate_mbps as estimate_from_train"),
    Variation("measurements that are made up", "lab04.check_pings(pings)", _MADE_UP),
)  # fmt: skip
"""Those that pass today, since the package that checks is the one that students import: see docs/sandbox.md."""
