"""The ledger of a client that creates, changes and removes users and roles of its own database:
their state after each command, and the rights of each user."""

import dataclasses

#: Collections and actions of the privileges.
COLLECTIONS, ACTIONS = ("c0", "c1", "c2"), ("find", "insert")
#: Few names, so that removed ones are used again.
USERS = tuple(f"user{number}" for number in range(6))
ROLES = tuple(f"role{number}" for number in range(4))


@dataclasses.dataclass(frozen=True)
class User:
    """A user as the ledger has it."""

    password: str
    roles: frozenset = frozenset()
    number: int = 0

    def shown(self):
        """Returns what `usersInfo` shows of the user."""
        return self.roles, self.number


@dataclasses.dataclass(frozen=True)
class Role:
    """A role: pairs of collection and action, and roles that it inherits from."""

    rights: frozenset = frozenset()
    roles: frozenset = frozenset()


class Accounts:
    """Users and roles by name. A change returns a new object, as both states may be legal."""

    def __init__(self, users=None, roles=None, shared=False):
        self.users, self.roles = dict(users or {}), dict(roles or {})
        #: Whether the user that all clients share has this client's role.
        self.shared = shared

    def copy(self):
        return Accounts(self.users, self.roles, self.shared)

    def shown(self):
        """Returns what a server shows of the accounts: everything but passwords."""
        users = {name: user.shown() for name, user in self.users.items()}
        return users, self.roles, self.shared

    def rights(self, name):
        """Returns the rights of a user, including those of inherited roles."""
        rights, left, seen = set(), list(self.users[name].roles), set()
        while left:
            role = left.pop()
            if role not in seen:
                seen.add(role)
                rights |= self.roles[role].rights
                left += self.roles[role].roles
        return rights

    # Changes.

    def put_user(self, name, **fields):
        after = self.copy()
        was = after.users.get(name)
        after.users[name] = dataclasses.replace(was, **fields) if was else User(**fields)
        return after

    def put_role(self, name, **fields):
        after = self.copy()
        after.roles[name] = dataclasses.replace(after.roles.get(name, Role()), **fields)
        return after

    def without_user(self, name):
        after = self.copy()
        del after.users[name]
        return after

    def without_roles(self, names):
        """Drops roles, which also removes them from users and other roles."""
        gone, after = frozenset(names), self.copy()
        after.roles = {
            name: Role(role.rights, role.roles - gone)
            for name, role in self.roles.items()
            if name not in gone
        }
        after.users = {
            name: dataclasses.replace(user, roles=user.roles - gone)
            for name, user in self.users.items()
        }
        return after

    def without_users(self):
        return Accounts({}, self.roles, self.shared)

    def with_shared(self, has):
        return Accounts(self.users, self.roles, has)


class Book:
    """The legal states: one, or two while a command has no reply; and the former passwords by user,
    which must not work any more."""

    def __init__(self):
        self.states = [Accounts()]
        self.former = {}
        self.acknowledged = 0

    @property
    def now(self):
        return self.states[-1]

    def intend(self, after):
        self.states.append(after)

    def acknowledge(self):
        before, after = self.states
        self.retire(before, after)
        self.states = [after]
        self.acknowledged += 1

    def retire(self, before, after):
        """Records passwords of users who were removed or got another password."""
        for name, user in before.users.items():
            kept = after.users.get(name)
            if kept is None or kept.password != user.password:
                self.former.setdefault(name, []).append(user.password)

    def settle(self, found, opens):
        """Keeps the state that a restarted server shows; returns the errors in it. `opens` tells
        whether a password works."""
        legal = [state for state in self.states if state.shown() == found]
        if not legal:
            wanted = " or ".join(f"{state.shown()}" for state in self.states)
            return [f"there is {found}, wanted {wanted}"]
        if len(legal) == 2 and legal[0].users != legal[1].users:
            # The two states differ in one password only.
            legal = [state for state in legal if self.opens_all(state, opens)]
            if len(legal) != 1:
                return [f"{len(legal)} of the old and the new password are good"]
        chosen = legal[-1]
        for other in self.states:
            self.retire(other, chosen)
        self.states = [chosen]
        return []

    def opens_all(self, state, opens):
        """Returns whether the passwords that differ between legal states are this state's."""
        names = {name for one in self.states for name in one.users}
        changed = [
            name
            for name in names
            if len({one.users[name].password for one in self.states if name in one.users}) > 1
        ]
        return all(opens(name, state.users[name].password) for name in changed)
