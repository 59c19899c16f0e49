"""A server that clients flood, honest clients beside them, and the checks during and after a
flood."""

import os
import time

from bombs import data
from bombs.probe import Probe, furnish
from lib.seed import TORTURE
from lib.server import Server
from lib.wire import WITHIN

#: Seconds of a flood, and of the measurement before it.
SECONDS = float(os.environ.get("FLOOD_SECONDS", "1800" if TORTURE else "1"))
BASELINE = min(SECONDS, 3.0)
#: Honest clients of each API.
HONEST = 8
#: Allowed factor of the honest clients' p99, and seconds of delay by the machine.
TIMES, MOMENT = 3, 0.015
#: Bytes that the server may use during a flood in addition.
MEMORY = 256 << 20
#: The APIs that the honest clients use.
APIS = ("mongo", "nosql")
#: Seconds within which the server has recovered.
RECOVERED = 5.0


class Field:
    """The server, the control server, and the honest clients."""

    def __init__(self, flags=(), wide=True):
        self.server = Server(data_dir=True, nosql=True, flags=flags)
        self.control = Server(nosql=True)
        self.wide = wide

    def __enter__(self):
        self.server.start()
        self.control.start()
        (data.settle if self.wide else furnish)(self.server)
        self.control.client[data.DATABASE]["honest"].insert_one(data.HONEST)
        self.probe = Probe(self.server, self.control, HONEST)
        self.probe.told()
        self.start_counting()
        time.sleep(BASELINE)
        self.baseline = self.probe.told()
        self.usual_share = self.counted()
        self.rest, self.grown, self.measured, self.met = self.server.rss(), 0, 0, None
        return self

    def __exit__(self, *_):
        self.probe.close()
        self.server.close()
        self.control.close()

    def hold(self, work=None):
        """Measures during the flood, while `work` is repeated. If the honest clients were delayed,
        it measures once more: a delay that the flood causes recurs, and one by the machine does
        not."""
        self.measure(work)
        if self.delays():
            self.measure(work)

    def measure(self, work):
        self.probe.told()
        self.start_counting()
        most, problems = 0, self.problems()
        while time.monotonic() - self.began < SECONDS:
            if work:
                work()
            else:
                time.sleep(0.1)
            most = max(most, self.server.rss())
        self.measured += time.monotonic() - self.began
        self.share = self.counted()
        self.grown = max(self.grown, most - self.rest)
        self.met = self.probe.told()
        for api in APIS:
            self.met[api]["problems"] += problems[api]

    def start_counting(self):
        self.spent, self.began = processor(self.server), time.monotonic()

    def counted(self):
        """Returns the processors that the server has used on average since `start_counting`."""
        return (processor(self.server) - self.spent) / (time.monotonic() - self.began)

    def wrong(self, memory=MEMORY):
        """Returns the honest clients' errors and delays, excess memory, and the server's exit."""
        wrong = [problem for api in APIS for problem in self.met[api]["problems"]] + self.delays()
        if memory < self.grown:
            wrong.append(f"{self.grown >> 20} MiB were held")
        if not self.server.alive():
            wrong.append(f"the server ended: {self.server.log.read_text()[-500:]}")
        return wrong

    def problems(self):
        """Returns the requests that failed in the last measurement, by API."""
        return {api: self.met[api]["problems"] if self.met else [] for api in APIS}

    def delays(self):
        """Returns a line for each API with a delay of the honest clients."""
        found = []
        for api in APIS:
            p99, usual = self.met[api]["p99"], self.baseline[api]["p99"]
            # The server that is not flooded shows the delays of the machine itself.
            usual = max(usual, self.met["control"]["p99"])
            if TIMES * usual + MOMENT * WITHIN < p99:
                found.append(f"p99 at {api} {p99 * 1000:.0f} ms, usually {usual * 1000:.0f} ms")
        return found

    def recovers(self):
        """Checks that after the flood a new client is served at once and the server is ready."""
        began = time.monotonic()
        with self.server.connect() as client:
            assert client[data.DATABASE]["honest"].find_one() == data.HONEST
        item = self.server.items.container(data.DATABASE, "c").read("honest", "honest")
        assert item.status == 200
        assert self.server.ready() == (200, "ok\n")
        took = time.monotonic() - began
        assert took < RECOVERED, f"served again after {took:.1f} s"
        self.server.end()

    def figures(self):
        """Returns the figures for the report."""
        return {
            "p99_honest": ", ".join(f"{api} {self.met[api]['p99'] * 1000:.0f} ms" for api in APIS),
            "usual": f"{self.baseline['mongo']['p99'] * 1000:.0f} ms",
            "unattacked_server": f"{self.met['control']['p99'] * 1000:.0f} ms",
            "memory": f"+{self.grown >> 20} MiB",
            "processor": f"{self.share:.0%}",
        }


def processor(server):
    """Returns the processor time of the server in seconds."""
    with open(f"/proc/{server.process.pid}/stat", encoding="utf-8") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
