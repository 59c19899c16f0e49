"""The ghost matrix: no ghosts and no early expirations on every path, at every instant, in every
state. The ordinary run assigns the kinds of expiry by SEED: four to each state in memory, two to
each on disk, each kind to at least one. `--torture` runs all 78.
"""

import pathlib
import re

import pytest
from lib import prefetch
from lib.matrix import INSTANTS, Left, all_are_dealt, dealt

from ghosts.expiry_kinds import kinds
from ghosts.matrix import Matrix
from ghosts.paths import READS, WRITES

KINDS = {kind.name: kind for kind in kinds()}
PATHS = [path.name for path in [*READS, *WRITES]]
PAGE = pathlib.Path(__file__).parents[3] / "docs" / "compat" / "mongodb.md"

#: Supported commands that neither read, count nor change documents, so that expiry does not matter.
NO_DOCUMENTS = {
    "abortTransaction",
    "authenticate",
    "buildInfo",
    "buildinfo",
    "collMod",
    "commitTransaction",
    "configureFailPoint",
    "connectionStatus",
    "createRole",
    "createUser",
    "currentOp",
    "dropAllRolesFromDatabase",
    "dropAllUsersFromDatabase",
    "dropDatabase",
    "dropRole",
    "dropUser",
    "enableSharding",
    "endSessions",
    "fsync",
    "getCmdLineOpts",
    "getDefaultRWConcern",
    "getDiagnosticData",
    "getLastRequestStatistics",
    "getLog",
    "getParameter",
    "grantPrivilegesToRole",
    "grantRolesToRole",
    "grantRolesToUser",
    "hello",
    "hostInfo",
    "invalidateUserCache",
    "isMaster",
    "ismaster",
    "killAllSessions",
    "killAllSessionsByPattern",
    "killOp",
    "killSessions",
    "listCommands",
    "listDatabases",
    "logout",
    "ping",
    "planCacheClear",
    "planCacheClearFilters",
    "planCacheListFilters",
    "profile",
    "reIndex",
    "refreshSessions",
    "replSetGetConfig",
    "replSetGetStatus",
    "replSetInitiate",
    "replSetReconfig",
    "revokePrivilegesFromRole",
    "revokeRolesFromRole",
    "revokeRolesFromUser",
    "rolesInfo",
    "saslContinue",
    "saslStart",
    "serverStatus",
    "setFeatureCompatibilityVersion",
    "setParameter",
    "shardCollection",
    "startSession",
    "top",
    "updateRole",
    "updateUser",
    "usersInfo",
    "validateDBMetadata",
    "whatsmyuri",
}

#: Stages of the same sort. Those of change streams return events, which have tests of their own.
NO_DOCUMENT_STAGES = {
    "$changeStream",
    "$changeStreamSplitLargeEvent",
    "$currentOp",
    "$indexStats",
    "$listLocalSessions",
    "$listSessions",
}


PAIRS = dealt(KINDS)
matrices = prefetch.fixture(lambda state, kind: Matrix(KINDS[kind], state).run(), "state", "kind")


def test_the_table_has_no_name_twice():
    assert len(set(PATHS)) == len(PATHS)


def test_every_state_and_every_kind_has_its_turn():
    all_are_dealt(PAIRS, KINDS)


@pytest.mark.parametrize(("state", "kind"), PAIRS)
class TestMatrix(Left):
    """One test is one path with one state and kind of expiry, at all instants."""

    @pytest.mark.parametrize("path", PATHS)
    def test_path(self, matrices, state, kind, path):
        cells = matrices(state, kind).cells
        if path.startswith("getMore") and "restart" in state:
            assert (path, 0) not in cells, "a cursor outlived its server"
            return
        found = {instant: cells[path, instant] for instant in INSTANTS}
        assert found == {instant: instant < 0 for instant in INSTANTS}

    def test_indexes_and_collections_stay(self, matrices, state, kind):
        [first, *others] = matrices(state, kind).listed.values()
        assert others == [first] * (len(INSTANTS) - 1)


@pytest.mark.parametrize(("state", "kind"), PAIRS[:1])
class TestTable:
    """The table of paths covers every supported command and stage."""

    def rows(self, section):
        text = PAGE.read_text().split(f"\n## {section}\n")[1].split("\n## ")[0]
        return re.findall(r"^\| `([^`]+)` \| (?:works|differs) \|", text, re.MULTILINE)

    def test_commands(self, matrices, state, kind):
        commands = set(self.rows("Commands"))
        assert len(commands) > 40
        assert commands >= NO_DOCUMENTS
        assert commands - matrices(state, kind).command_log.commands - NO_DOCUMENTS == set()

    def test_stages(self, matrices, state, kind):
        stages = set(self.rows("Pipeline stages"))
        assert len(stages) > 20
        assert stages - matrices(state, kind).command_log.stages == NO_DOCUMENT_STAGES
