"""A server that requires authentication, with a user that holds all rights."""

import itertools

from lib.server import Server

from access.connection import Connection

ROOT, ROOT_PASSWORD = "root", "the root's password, 1"
NUMBERS = itertools.count(1)


class Guarded(Server):
    """One `ebb serve`, with a first user unless `first_user` is false."""

    def __init__(self, flags=(), first_user=True, **options):
        super().__init__(**options)
        self.flags = list(flags)
        if first_user:
            self.flags += ["--root-user", ROOT, "--root-password-file", self.secret(ROOT_PASSWORD)]
        self.opened = []

    def secret(self, text):
        """Writes a password into a file; returns its path."""
        path = self.home / f"password-{next(NUMBERS)}"
        path.write_text(text + "\n")
        path.chmod(0o600)
        return str(path)

    def connection(self):
        """Returns a connection that is not logged in."""
        self.opened.append(Connection(self.address))
        return self.opened[-1]

    def root(self):
        return self.connection().login(ROOT, ROOT_PASSWORD)

    def login(self, user, password="pw", database="admin", mechanism="SCRAM-SHA-256"):
        return self.connection().login(user, password, database, mechanism)

    def new_user(self, roles, database="admin", name=None, password="pw", **more):
        """Creates a user with these roles, which belong to the user's database unless they name
        another; returns the name."""
        name = name or f"user{next(NUMBERS)}"
        body = {"createUser": name, "pwd": password, "roles": roles, **more}
        with self.root() as root:
            root.ok(database, body)
        return name

    def user_with(self, roles, database="admin"):
        """Returns a connection of a new user with these roles."""
        return self.login(self.new_user(roles, database), database=database)

    def user_who_may(self, *privileges, database="admin", roles=()):
        """Creates a role with these privileges, and a user with only this role; returns a
        connection of the user and the role's name."""
        role = f"role{next(NUMBERS)}"
        body = {"createRole": role, "privileges": list(privileges), "roles": list(roles)}
        with self.root() as root:
            root.ok(database, body)
        return self.user_with([{"role": role, "db": database}], database), role

    def close(self):
        for connection in self.opened:
            connection.close()
        super().close()


def may(actions, database, collection=""):
    """Returns a privilege; `actions` are separated by spaces."""
    resource = {"db": database, "collection": collection}
    return {"resource": resource, "actions": actions.split()}


def new_name(prefix="db"):
    """Returns an unused name."""
    return f"{prefix}{next(NUMBERS)}"
