"""The suites by name, and the share of the time that each gets."""

from __future__ import annotations

from tests.torture import Suite
from tests.torture.clones import clones
from tests.torture.damage import damaged_stores
from tests.torture.edits import edits
from tests.torture.fuzz import fuzzed_requests
from tests.torture.hostile import hostile_repositories
from tests.torture.kills import kill_points
from tests.torture.looks import looks
from tests.torture.oracle import answers
from tests.torture.ordinary import ordinary_programs
from tests.torture.packs import lying_packs, spoilt_packs
from tests.torture.policies import policies
from tests.torture.power import power_cuts
from tests.torture.programs import (
    go_programs,
    java_programs,
    python_programs,
    typescript_programs,
)
from tests.torture.projects import projects
from tests.torture.remedies import remedies
from tests.torture.removals import removals
from tests.torture.renames import renames
from tests.torture.shortages import shortages
from tests.torture.soak import soak
from tests.torture.team import team_kills, team_questions_of_roles

SUITES: dict[str, Suite] = {
    "answers": answers,
    "clones": clones,
    "damaged_stores": damaged_stores,
    "edits": edits,
    "fuzzed_requests": fuzzed_requests,
    "go_programs": go_programs,
    "hostile_repositories": hostile_repositories,
    "java_programs": java_programs,
    "kill_points": kill_points,
    "looks": looks,
    "lying_packs": lying_packs,
    "ordinary_programs": ordinary_programs,
    "policies": policies,
    "power_cuts": power_cuts,
    "projects": projects,
    "python_programs": python_programs,
    "remedies": remedies,
    "removals": removals,
    "renames": renames,
    "shortages": shortages,
    "soak": soak,
    "spoilt_packs": spoilt_packs,
    "team_kills": team_kills,
    "team_questions": team_questions_of_roles,
    "typescript_programs": typescript_programs,
}
SHARES = {
    "answers": 6,
    "clones": 4,
    "damaged_stores": 3,
    "edits": 1,
    "fuzzed_requests": 1,
    "go_programs": 1,
    "hostile_repositories": 2,
    "java_programs": 1,
    "kill_points": 3,
    "looks": 2,
    "lying_packs": 1,
    "ordinary_programs": 1,
    "policies": 2,
    "power_cuts": 2,
    "projects": 4,
    "python_programs": 1,
    "remedies": 4,
    "removals": 2,
    "renames": 3,
    "shortages": 3,
    "soak": 2,
    "spoilt_packs": 1,
    "team_kills": 1,
    "team_questions": 1,
    "typescript_programs": 1,
}
