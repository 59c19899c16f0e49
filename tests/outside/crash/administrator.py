"""A client that administers users and roles of its own database, and one user that all clients
share, until its server dies; and the comparison after the next start."""

import random

from access.guarded import ROOT, ROOT_PASSWORD
from lib.random_choice import weighted
from pymongo.errors import AutoReconnect

from crash.accounts import ACTIONS, COLLECTIONS, ROLES, USERS, Book, Role
from crash.clients import OfDocuments

#: The database and the name of the user whom all clients change.
SHARED, COMMON = "shared", "common"
#: Error codes of an unauthorized command and of a failed login.
UNAUTHORIZED, FAILED = 13, 18


class Administrator(OfDocuments):
    """One client. It is kept over restarts, with its ledger."""

    def __init__(self, number, seed):
        self.number, self.database = number, f"team{number}"
        self.random = random.Random(f"{seed} administrator {number}")
        self.book, self.tags, self.probes, self.wrong = Book(), 0, 0, []

    def attach(self, server):
        self.server = server
        self.begin(f"administrator {self.number}", server)

    def open(self, server):
        self.client = server.connect(
            username=ROOT,
            password=ROOT_PASSWORD,
            retryWrites=False,
            retryReads=False,
            maxPoolSize=1,
            serverSelectionTimeoutMS=5_000,
        )

    # Steps.

    def step(self):
        users, roles = self.book.now.users, self.book.now.roles
        weighted(
            self.random,
            {
                self.create_user: 3 if len(users) < len(USERS) else 0,
                self.create_role: 3 if len(roles) < len(ROLES) else 0,
                self.password: 3 if users else 0,
                self.whole_user: 2 if users else 0,
                self.grant: 4 if users and roles else 0,
                self.revoke: 3 if users and roles else 0,
                self.drop_user: 2 if users else 0,
                self.rights: 4 if roles else 0,
                self.inherit: 2 if len(roles) > 1 else 0,
                self.whole_role: 1 if roles else 0,
                self.drop_role: 1 if roles else 0,
                self.drop_all: 0.2,
                self.change_common: 2,
                self.probe: 2 if users else 0,
            },
        )()

    def change(self, after, body, database=None):
        """Sends a command that changes the accounts to `after`."""
        self.book.intend(after)
        self.client[database or self.database].command(body)
        self.book.acknowledge()

    def tag(self):
        self.tags += 1
        return f"{self.number}-{self.tags}"

    def some(self, names, least=1):
        names = sorted(names)
        return self.random.sample(names, self.random.randint(min(least, len(names)), len(names)))

    def a_user(self):
        return self.random.choice(sorted(self.book.now.users))

    def a_role(self):
        return self.random.choice(sorted(self.book.now.roles))

    def create_user(self):
        state = self.book.now
        name = self.random.choice([name for name in USERS if name not in state.users])
        password, roles = f"password {self.tag()}", self.some(state.roles, 0)
        body = {"createUser": name, "pwd": password, "roles": roles, "customData": {"n": 0}}
        if self.random.random() < 0.5:
            body["mechanisms"] = ["SCRAM-SHA-256"]
        self.change(state.put_user(name, password=password, roles=frozenset(roles)), body)

    def password(self):
        name, password = self.a_user(), f"password {self.tag()}"
        body = {"updateUser": name, "pwd": password}
        self.change(self.book.now.put_user(name, password=password), body)

    def whole_user(self):
        """Changes a user's password, roles and data in one command, which must be atomic."""
        name, password, state = self.a_user(), f"password {self.tag()}", self.book.now
        roles, number = self.some(state.roles, 0), self.tags
        after = state.put_user(name, password=password, roles=frozenset(roles), number=number)
        body = {"updateUser": name, "pwd": password, "roles": roles, "customData": {"n": number}}
        self.change(after, body)

    def grant(self):
        name, roles, state = self.a_user(), self.some(self.book.now.roles), self.book.now
        after = state.put_user(name, roles=state.users[name].roles | set(roles))
        self.change(after, {"grantRolesToUser": name, "roles": roles})

    def revoke(self):
        name, roles, state = self.a_user(), self.some(self.book.now.roles), self.book.now
        after = state.put_user(name, roles=state.users[name].roles - set(roles))
        self.change(after, {"revokeRolesFromUser": name, "roles": roles})

    def drop_user(self):
        name = self.a_user()
        self.change(self.book.now.without_user(name), {"dropUser": name})

    def privileges(self):
        """Returns random rights, as pairs and in the form of a command."""
        every = [(collection, action) for collection in COLLECTIONS for action in ACTIONS]
        rights = self.some(every)
        named = [
            {"resource": {"db": self.database, "collection": name}, "actions": actions}
            for name in COLLECTIONS
            if (actions := [action for collection, action in rights if collection == name])
        ]
        return frozenset(rights), named

    def create_role(self):
        state = self.book.now
        name = self.random.choice([name for name in ROLES if name not in state.roles])
        rights, privileges = self.privileges()
        body = {"createRole": name, "privileges": privileges, "roles": []}
        self.change(state.put_role(name, rights=rights), body)

    def rights(self):
        name, (rights, privileges), state = self.a_role(), self.privileges(), self.book.now
        had = state.roles[name].rights
        if self.random.random() < 0.5:
            body = {"grantPrivilegesToRole": name, "privileges": privileges}
            self.change(state.put_role(name, rights=had | rights), body)
        else:
            body = {"revokePrivilegesFromRole": name, "privileges": privileges}
            self.change(state.put_role(name, rights=had - rights), body)

    def inherit(self):
        """Changes the roles that a role inherits, only to earlier ones, to avoid cycles."""
        state = self.book.now
        first, *rest = sorted(state.roles)
        name = self.random.choice(rest)
        others = self.some([role for role in [first, *rest] if role < name])
        had = state.roles[name].roles
        if self.random.random() < 0.6:
            body = {"grantRolesToRole": name, "roles": others}
            self.change(state.put_role(name, roles=had | set(others)), body)
        else:
            body = {"revokeRolesFromRole": name, "roles": others}
            self.change(state.put_role(name, roles=had - set(others)), body)

    def whole_role(self):
        name, (rights, privileges), state = self.a_role(), self.privileges(), self.book.now
        others = self.some([role for role in state.roles if role < name], 0)
        after = state.put_role(name, rights=rights, roles=frozenset(others))
        self.change(after, {"updateRole": name, "privileges": privileges, "roles": others})

    def drop_role(self):
        name = self.a_role()
        after = self.book.now.without_roles([name])
        self.change(after, {"dropRole": name})

    def drop_all(self):
        state = self.book.now
        if self.random.random() < 0.5:
            after, body = state.without_users(), {"dropAllUsersFromDatabase": 1}
        else:
            after, body = state.without_roles(ROLES), {"dropAllRolesFromDatabase": 1}
        self.change(after, body)

    def change_common(self):
        """Grants this client's role to the shared user, or revokes it."""
        state = self.book.now
        name = "revokeRolesFromUser" if state.shared else "grantRolesToUser"
        body = {name: COMMON, "roles": [f"of{self.number}"]}
        self.change(state.with_shared(not state.shared), body, SHARED)

    def probe(self):
        """Logs in as one of its users while other clients change theirs."""
        self.probes += 1
        try:
            self.wrong += self.wrong_rights(self.a_user())
        except (AssertionError, OSError) as error:
            if isinstance(error, AssertionError) and "closed after" not in str(error):
                raise
            raise AutoReconnect(str(error)) from error

    # Checks.

    def wrong_rights(self, name):
        """Logs in as a user and tries every action; returns the differences from the ledger."""
        state, wrong = self.book.now, []
        here = f"{self.database}.{name}"
        with self.server.connection() as connection:
            reply = connection.try_login(name, state.users[name].password, self.database)
            if reply["ok"] != 1:
                return [f"{here} cannot log in: {reply}"]
            rights = state.rights(name)
            for collection in COLLECTIONS:
                for action, body in (
                    ("find", {"find": collection, "limit": 1}),
                    ("insert", {"insert": collection, "documents": [{}]}),
                ):
                    reply = connection.ask_for(self.database, body)
                    may, told = (collection, action) in rights, (reply["ok"], reply.get("code"))
                    if told != ((1, None) if may else (0, UNAUTHORIZED)):
                        wrong.append(f"{here} {action}s in {collection}: {reply}, may: {may}")
            reply = connection.ask_for("elsewhere", {"find": "c0"})
            if reply.get("code") != UNAUTHORIZED:
                wrong.append(f"{here} finds elsewhere: {reply}")
        return wrong

    def opens(self, name, password):
        """Returns whether a password works."""
        with self.server.connection() as connection:
            reply = connection.try_login(name, password, self.database)
        assert reply["ok"] == 1 or reply["code"] == FAILED, reply
        return reply["ok"] == 1

    def found(self, root, common):
        """Returns the accounts of this client as a server shows them."""
        users = root.ok(self.database, {"usersInfo": 1})["users"]
        roles = root.ok(self.database, {"rolesInfo": 1, "showPrivileges": True})["roles"]
        return (
            {user["user"]: (self.names(user["roles"]), user["customData"]["n"]) for user in users},
            {role["role"]: self.role(role) for role in roles},
            {"role": f"of{self.number}", "db": SHARED} in common,
        )

    def names(self, roles):
        foreign = [role for role in roles if role["db"] != self.database]
        assert not foreign, foreign
        return frozenset(role["role"] for role in roles)

    def role(self, told):
        rights = set()
        for privilege in told["privileges"]:
            assert privilege["resource"]["db"] == self.database, told
            name = privilege["resource"]["collection"]
            rights |= {(name, action) for action in privilege["actions"]}
        return Role(frozenset(rights), self.names(told["roles"]))

    def compare(self, root, common):
        """Returns all errors after a start, and the number of logins that were tried."""
        pending = {
            name
            for state in self.book.states
            for name, user in state.users.items()
            if self.book.states[0].users.get(name) != user
        }
        wrong = self.book.settle(self.found(root, common), self.opens)
        if wrong:
            return [f"{self.database}: {text}" for text in wrong], 0
        users = self.book.now.users
        good = {*self.some(users)[:2], *(pending & users.keys())} if users else set()
        for name in good:
            wrong += self.wrong_rights(name)
        former = [
            (name, passwords[-1 - self.random.randrange(min(3, len(passwords)))])
            for name, passwords in self.random.sample(
                sorted(self.book.former.items()), min(2, len(self.book.former))
            )
        ]
        former += [(name, passwords[-1]) for name, passwords in self.lost(pending)]
        wrong += [
            f"{self.database}.{name} logs in with a password that was changed, or is back"
            for name, password in former
            if self.opens(name, password)
        ]
        return wrong, len(good) + len(former)

    def lost(self, names):
        return [(name, self.book.former[name]) for name in names if name in self.book.former]
