"""Records the commands that clients sent, and the pipeline stages in them at any depth."""

from pymongo import monitoring


class CommandLog(monitoring.CommandListener):
    """Collects names. Several clients may share one log."""

    def __init__(self):
        self.commands, self.stages = set(), set()

    def started(self, event):
        self.commands.add(event.command_name)
        self.walk(event.command)

    def succeeded(self, event):
        pass

    def failed(self, event):
        pass

    def walk(self, value):
        if isinstance(value, dict):
            for name, inner in value.items():
                if name.startswith("$"):
                    self.stages.add(name)
                self.walk(inner)
        elif isinstance(value, (list, tuple)):
            for inner in value:
                self.walk(inner)
