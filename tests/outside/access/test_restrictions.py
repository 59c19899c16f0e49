"""Authentication restrictions: the addresses from which users may log in."""

from access.guarded import Guarded

HERE = [{"clientSource": ["127.0.0.0/8"], "serverAddress": ["127.0.0.1"]}]
ELSEWHERE = [{"clientSource": ["192.0.2.0/24"]}]


class Everywhere(Guarded):
    """A server that listens on all addresses of the machine."""

    def command_line(self, ready):
        command = super().command_line(ready)
        command[command.index("--mongo-addr") + 1] = "0.0.0.0:0"
        return command

    def start(self):
        super().start()
        self.address = "127.0.0.1", self.address[1]
        return self


def test_restrictions_of_addresses(server, root):
    server.connection().fails_to_login(server.new_user([], authenticationRestrictions=ELSEWHERE))
    user = server.new_user([], authenticationRestrictions=HERE)
    server.login(user)
    root.ok("admin", {"updateUser": user, "authenticationRestrictions": ELSEWHERE})
    server.connection().fails_to_login(user)
    connection = server.user_with(["userAdmin"])
    connection.ok("admin", {"updateUser": user, "authenticationRestrictions": []})
    server.login(user)
    for wrong in ([{"clientSource": ["nowhere"]}], [{"x": []}], [1], {}):
        body = {"updateUser": user, "authenticationRestrictions": wrong}
        assert root.ask_for("admin", body)["ok"] == 0


def test_restricting_a_user_takes_the_right(server, root):
    name = server.new_user([], "app", password="pw")
    limited, _ = server.user_who_may(
        {"resource": {"db": "app", "collection": ""}, "actions": ["changePassword"]}
    )
    limited.ok("app", {"updateUser": name, "pwd": "new"})
    limited.forbidden("app", {"updateUser": name, "authenticationRestrictions": HERE})
    server.login(name, "new", "app")


def test_a_restriction_counts_for_who_is_logged_in(server, root):
    """Restrictions are checked again when the user has changed, as in mongod."""
    user = server.new_user(["read"])
    connection = server.login(user)
    connection.ok("admin", {"find": "c"})
    root.ok("admin", {"updateUser": user, "authenticationRestrictions": ELSEWHERE})
    connection.refused(13, "admin", {"find": "c"})


def test_the_address_of_the_server_is_that_of_the_connection():
    with Everywhere() as server:
        server.login(server.new_user([], authenticationRestrictions=HERE))
        elsewhere = [{"serverAddress": ["192.0.2.1"]}]
        user = server.new_user([], authenticationRestrictions=elsewhere)
        server.connection().fails_to_login(user)
