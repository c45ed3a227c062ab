"""Private keys on disk: whole, private, and only what they say they are."""

from __future__ import annotations

import stat
import threading
from pathlib import Path

import msgspec
import pytest

from moot.core.errors import Malformed, Refused
from moot.core.machine import KeyClass
from moot.core.signing import Signer
from moot.keys.folder import FolderKeys, KeyFolder, Passphrase
from moot.keys.passphrase_lock import QUICK_COST, USUAL_COST, LockedSeed, lock_seed, unlock_seed

ORIGIN = "moot.ledger/" + "a" * 32
WORDS = "correct horse"


@pytest.fixture
def folder(tmp_path: Path) -> KeyFolder:
    return KeyFolder(tmp_path / "keys")


def key_path(folder: KeyFolder, name: str, kid: str) -> Path:
    return folder.ledger_folder(ORIGIN) / f"{name}.{kid}.key"


def test_a_key_is_found_again_by_name_and_id(folder: KeyFolder) -> None:
    made = folder.add_key(ORIGIN, "amber-otter", KeyClass.AGENT)
    held = FolderKeys(folder, ORIGIN).find("amber-otter", made.kid)
    assert held is not None
    assert held.signer.public == made.public
    assert held.attended is False


def test_a_key_of_another_name_ledger_or_id_is_not_found(folder: KeyFolder) -> None:
    made = folder.add_key(ORIGIN, "amber-otter", KeyClass.AGENT)
    assert FolderKeys(folder, ORIGIN).find("teal-crane", made.kid) is None
    assert FolderKeys(folder, ORIGIN).find("amber-otter", "0" * 32) is None
    assert FolderKeys(folder, "moot.ledger/" + "b" * 32).find("amber-otter", made.kid) is None


@pytest.mark.requirement("LDG-013")
def test_key_files_and_their_folder_are_private(folder: KeyFolder) -> None:
    made = folder.add_key(ORIGIN, "amber-otter", KeyClass.AGENT)
    path = key_path(folder, "amber-otter", made.kid)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700


@pytest.mark.requirement("LDG-013")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o777])
def test_a_key_that_others_may_read_is_refused(folder: KeyFolder, mode: int) -> None:
    made = folder.add_key(ORIGIN, "amber-otter", KeyClass.AGENT)
    key_path(folder, "amber-otter", made.kid).chmod(mode)
    with pytest.raises(Refused) as refused:
        folder.read_key(ORIGIN, "amber-otter", made.kid)
    assert refused.value.code == "key_exposed"
    assert "chmod 600" in refused.value.hint


def test_a_renamed_key_file_does_not_give_another_name_its_key(folder: KeyFolder) -> None:
    made = folder.add_key(ORIGIN, "amber-otter", KeyClass.AGENT)
    path = key_path(folder, "amber-otter", made.kid)
    path.rename(key_path(folder, "teal-crane", made.kid))
    with pytest.raises(Malformed) as error:
        folder.read_key(ORIGIN, "teal-crane", made.kid)
    assert error.value.code == "bad_key_file"


def test_a_file_whose_secret_was_exchanged_is_refused(folder: KeyFolder) -> None:
    made = folder.add_key(ORIGIN, "amber-otter", KeyClass.AGENT)
    path = key_path(folder, "amber-otter", made.kid)
    file = msgspec.json.decode(path.read_bytes())
    file["secret"] = Signer.new_seed().hex()
    path.write_bytes(msgspec.json.encode(file))
    with pytest.raises(Malformed) as error:
        FolderKeys(folder, ORIGIN).find("amber-otter", made.kid)
    assert error.value.code == "bad_key_file"


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"\xff\xfe", b'{"v":1}', b"null"])
def test_a_damaged_key_file_is_malformed_never_a_crash(folder: KeyFolder, damage: bytes) -> None:
    made = folder.add_key(ORIGIN, "amber-otter", KeyClass.AGENT)
    key_path(folder, "amber-otter", made.kid).write_bytes(damage)
    with pytest.raises(Malformed) as error:
        folder.read_key(ORIGIN, "amber-otter", made.kid)
    assert error.value.code == "bad_key_file"


@pytest.mark.parametrize("secret", ["", "zz", "00" * 31, "00" * 33])
def test_a_secret_of_the_wrong_form_is_malformed(folder: KeyFolder, secret: str) -> None:
    made = folder.add_key(ORIGIN, "amber-otter", KeyClass.AGENT)
    path = key_path(folder, "amber-otter", made.kid)
    file = msgspec.json.decode(path.read_bytes())
    file["secret"] = secret
    path.write_bytes(msgspec.json.encode(file))
    with pytest.raises(Malformed):
        FolderKeys(folder, ORIGIN).find("amber-otter", made.kid)


@pytest.mark.requirement("LDG-014")
def test_a_locked_key_never_stands_in_the_clear(folder: KeyFolder) -> None:
    made = folder.add_key(
        ORIGIN, "operator", KeyClass.HUMAN, passphrase="correct horse", cost=QUICK_COST
    )
    data = key_path(folder, "operator", made.kid).read_bytes()
    file = msgspec.json.decode(data)
    assert file["secret"] is None
    assert b"correct horse" not in data


def test_a_locked_key_opens_with_its_passphrase_and_says_whether_it_was_attended(
    folder: KeyFolder,
) -> None:
    made = folder.add_key(ORIGIN, "operator", KeyClass.HUMAN, passphrase=WORDS, cost=QUICK_COST)
    asked: list[str] = []

    def ask(name: str) -> Passphrase:
        asked.append(name)
        return Passphrase(WORDS, attended=True)

    keys = FolderKeys(folder, ORIGIN, ask)
    first, second = keys.find("operator", made.kid), keys.find("operator", made.kid)
    assert first is not None
    assert first is second
    assert first.attended is True
    assert first.signer.public == made.public
    assert asked == ["operator"]


def test_a_wrong_passphrase_opens_nothing(folder: KeyFolder) -> None:
    made = folder.add_key(ORIGIN, "operator", KeyClass.HUMAN, passphrase=WORDS, cost=QUICK_COST)
    keys = FolderKeys(folder, ORIGIN, lambda _: Passphrase(WORDS.upper(), attended=True))
    with pytest.raises(Refused) as refused:
        keys.find("operator", made.kid)
    assert refused.value.code == "wrong_passphrase"


@pytest.mark.requirement("LDG-014")
@pytest.mark.parametrize(
    "short", ["", "pass", "1234567", " 123456 ", " " * 20, "sésame!", "語" * 7]
)
def test_a_key_is_not_locked_with_what_is_soon_guessed(folder: KeyFolder, short: str) -> None:
    with pytest.raises(Refused) as refused:
        folder.add_key(ORIGIN, "operator", KeyClass.HUMAN, passphrase=short, cost=QUICK_COST)
    assert refused.value.code == "passphrase_too_short"
    assert "8 characters" in str(refused.value)
    assert refused.value.hint
    assert not folder.ledger_folder(ORIGIN).exists()


@pytest.mark.requirement("LDG-014")
@pytest.mark.parametrize("enough", ["12345678", "a b c d e", "語" * 8])
def test_eight_characters_of_any_kind_will_do(folder: KeyFolder, enough: str) -> None:
    made = folder.add_key(ORIGIN, "operator", KeyClass.HUMAN, passphrase=enough, cost=QUICK_COST)
    file = folder.read_key(ORIGIN, "operator", made.kid)
    assert file is not None
    assert file.open(enough).kid == made.kid


@pytest.mark.requirement("LDG-014")
@pytest.mark.parametrize("short", ["", "pass"])
def test_a_key_that_was_locked_with_less_before_still_opens(folder: KeyFolder, short: str) -> None:
    seed = Signer.new_seed()
    made = folder.add_key(
        ORIGIN, "operator", KeyClass.HUMAN, passphrase=WORDS, cost=QUICK_COST, seed=seed
    )
    path = key_path(folder, "operator", made.kid)
    older = msgspec.json.decode(path.read_bytes())
    older["locked"] = msgspec.to_builtins(lock_seed(seed, short, QUICK_COST))
    path.write_bytes(msgspec.json.encode(older))
    keys = FolderKeys(folder, ORIGIN, lambda _: Passphrase(short, attended=True))
    held = keys.find("operator", made.kid)
    assert held is not None
    assert held.signer.kid == made.kid


def test_a_locked_key_without_anyone_to_unlock_it_is_refused(folder: KeyFolder) -> None:
    made = folder.add_key(ORIGIN, "operator", KeyClass.HUMAN, passphrase=WORDS, cost=QUICK_COST)
    with pytest.raises(Refused) as refused:
        FolderKeys(folder, ORIGIN).find("operator", made.kid)
    assert refused.value.code == "human_key_required"


def test_a_locked_seed_with_an_absurd_cost_is_refused_before_it_is_paid() -> None:
    locked = lock_seed(bytes(32), "pass", QUICK_COST)
    for greedy in (
        LockedSeed(locked.box, 1 << 40, locked.rounds, locked.salt),
        LockedSeed(locked.box, locked.memory, 10**9, locked.salt),
        LockedSeed(locked.box, -1, locked.rounds, locked.salt),
    ):
        with pytest.raises(Malformed):
            unlock_seed(greedy, "pass")


@pytest.mark.parametrize("field", ["box", "salt"])
@pytest.mark.parametrize("value", ["", "zz", "00"])
def test_a_damaged_locked_seed_is_an_expected_error(field: str, value: str) -> None:
    damaged = msgspec.structs.replace(lock_seed(bytes(32), "pass", QUICK_COST), **{field: value})
    with pytest.raises((Malformed, Refused)):
        unlock_seed(damaged, "pass")


def test_the_folder_has_one_id_however_many_make_it_at_once(folder: KeyFolder) -> None:
    seen: list[str] = []
    start = threading.Barrier(8)

    def read() -> None:
        start.wait()
        seen.append(KeyFolder(folder.path).custodian)

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 8
    assert len(set(seen)) == 1


def test_looking_for_a_key_creates_nothing(tmp_path: Path) -> None:
    folder = KeyFolder(tmp_path / "absent")
    assert folder.read_key(ORIGIN, "amber-otter", "0" * 32) is None
    assert list(folder.names_with_keys(ORIGIN)) == []
    assert not (tmp_path / "absent").exists()


def test_the_cost_of_a_guess_is_what_libsodium_recommends() -> None:
    from nacl import bindings

    moderate = bindings.crypto_pwhash_argon2id_OPSLIMIT_MODERATE
    assert (USUAL_COST.rounds, QUICK_COST.rounds) == (
        moderate,
        bindings.crypto_pwhash_argon2id_OPSLIMIT_MIN,
    )
    assert USUAL_COST.memory == bindings.crypto_pwhash_argon2id_MEMLIMIT_MODERATE
    assert QUICK_COST.memory == bindings.crypto_pwhash_argon2id_MEMLIMIT_MIN
