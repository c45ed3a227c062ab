"""Names that may sign: registered, alive, renewed, ended."""

from __future__ import annotations

from typing import Any

from tests.scenarios.world import World, story


@story(does="agent.register agent.list agent.show", refuses="agent.register agent.show")
def a_name_is_given_once(world: World) -> None:
    made = world.do("agent.register", name="coral-finch")
    assert (made["agent"], made["class"], made["status"], made["epoch"]) == (
        *("coral-finch", "agent", "active"),
        1,
    )
    assert world.refuse("agent.register", name="coral-finch") == "name_taken"
    assert world.refuse("agent.register", name="Coral Finch") == "bad_name"
    elsewhere = world.do("agent.register", name="jade-wren", keys=world.project.root / "wren-keys")
    assert elsewhere["custodian"] != made["custodian"]
    listed = world.do("agent.list")["agents"]
    assert [row["agent"] for row in listed if row["class"] == "agent"] == [
        *("amber-otter", "coral-finch", "jade-wren", "teal-crane"),
    ]
    shown = world.do("agent.show", name="coral-finch")
    assert (shown["kid"], shown["here"], shown["holds"]) == (made["kid"], False, [])
    assert world.refuse("agent.show", name="nobody-here") == "agent_not_found"


@story(refuses="agent.register")
def a_persons_key_needs_a_passphrase_and_no_agent(world: World) -> None:
    person: dict[str, Any] = {"name": "ada-person", "human": True}
    assert world.refuse("agent.register", **person) == "passphrase_required"
    assert world.refuse("agent.register", "amber-otter", **person) == "human_key_required"
    assert not list(world.project.keys.glob("*/ada-person.*"))


@story(
    does="agent.heartbeat agent.retire agent.show reserve",
    refuses="agent.heartbeat agent.retire",
)
def an_agent_lives_and_ends(world: World) -> None:
    beat = world.do("agent.heartbeat", agent="amber-otter")
    assert (beat["agent"], beat["liveness"]) == ("amber-otter", "active")
    assert world.do("agent.show", name="amber-otter")["last_seen_at"] == beat["last_seen_at"]
    assert world.refuse("agent.heartbeat") == "actor_required"
    assert world.refuse("agent.heartbeat", "teal-crane", agent="amber-otter") == "not_you"
    world.do("reserve", "amber-otter", scopes=["src"])
    assert world.refuse("agent.retire", "teal-crane", name="amber-otter") == "not_you"
    ended = world.do("agent.retire", "amber-otter", name="amber-otter", reason="done")
    assert (ended["status"], ended["still_holds"]) == ("retired", [])
    assert world.refuse("agent.heartbeat", agent="amber-otter") == "agent_retired"
    shown = world.do("agent.show", name="amber-otter")
    assert (shown["label"], shown["holds"]) == ("Retired", [])


@story(
    does="agent.rotate agent.revoke agent.show",
    refuses="agent.rotate agent.revoke",
)
def keys_are_renewed_and_revoked(world: World) -> None:
    first = world.do("agent.show", name="amber-otter")["kid"]
    assert world.refuse("agent.rotate", "teal-crane", name="amber-otter") == "not_you"
    second = world.do("agent.rotate", "amber-otter", name="amber-otter")["kid"]
    assert second != first
    keys = world.do("agent.show", name="amber-otter")["keys"]
    assert [(key["kid"], key["status"]) for key in keys] == [(first, "rotated"), (second, "active")]
    leak = {"name": "amber-otter", "reason": "it leaked"}
    assert world.refuse("agent.revoke", "teal-crane", **leak) == "not_you"
    assert world.refuse("agent.revoke", **leak, kid="nothing") == "bad_key_id"
    assert world.refuse("agent.revoke", **leak, kid="0" * 8) == "key_not_found"
    assert world.do("agent.revoke", **leak)["status"] == "revoked"
    # A revoked key consents to nothing; only a person does, whose key is locked.
    assert world.refuse("agent.rotate", name="amber-otter") == "human_key_required"
    assert world.as_person("agent.rotate", name="amber-otter")["status"] == "active"


@story(does="config", refuses="config")
def when_agents_count_as_stale_is_a_persons_word(world: World) -> None:
    (setting,) = world.do("config")["settings"]
    assert (setting["key"], setting["value"]) == ("stale-minutes", "15")
    shorter = {"name": "stale-minutes", "value": "1"}
    assert world.refuse("config", "amber-otter", **shorter) == "human_key_required"
    assert world.refuse("config", **shorter) == "human_key_required"  # nobody is registered as one
    assert world.refuse("config", name="stale-minutes", value="soon") == "bad_stale_minutes"
    assert world.refuse("config", name="stale-minuets") == "config_not_found"
    assert world.do("config", name="stale-minutes")["settings"] == [setting]
