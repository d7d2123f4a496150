"""The store of counts and blobs: what goes in comes out, and nothing in the file is believed blindly."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from ctxc import tokens
from ctxc.tokens import cache
from ctxc.tokens.cache import FILE_NAME, CountStore, clear, open_store

OWNER = b"o" * 32
TEXTS = [f"text number {n}".encode() for n in range(1_200)]


def fill(folder: Path) -> None:
    with open_store(folder) as store:
        store.put_many(OWNER, [(text, 1 + len(text) % 7) for text in TEXTS])
        store.put_blobs("parse/1", {b"a": b"alpha", b"b": b"", b"c": bytes(range(256)) * 100})


def rewrite(folder: Path, statement: str) -> None:
    db = sqlite3.connect(folder / FILE_NAME)
    with db:
        db.execute(statement)
    db.close()


def works(folder: Path | None) -> CountStore:
    """Whatever the state of the file: everything can be asked for, put, and had back."""
    with open_store(folder) as store:
        store.get_many(OWNER, TEXTS)
        store.get_blobs("parse/1", [b"a", b"b", b"c"])
        store.put_many(OWNER, [(b"fresh", 2)])
        store.put_blobs("parse/1", {b"d": b"delta"})
        assert store.get_many(OWNER, [b"fresh"]) == [2]
    return store


def test_counts_and_blobs_survive_the_process(tmp_path: Path) -> None:
    fill(tmp_path)
    with open_store(tmp_path) as store:
        assert store.get_many(OWNER, TEXTS) == [1 + len(text) % 7 for text in TEXTS]
        assert (store.hits, store.misses) == (1_200, 0)
        assert store.get_many(OWNER, [b"never seen", TEXTS[0]]) == [None, 1 + len(TEXTS[0]) % 7]
        assert store.get_many(b"another tokenizer".ljust(32), [TEXTS[0]]) == [None]
        assert (store.hits, store.misses) == (1_201, 2)
        blobs = store.get_blobs("parse/1", [b"a", b"b", b"c", b"d"])
        assert blobs == {b"a": b"alpha", b"b": b"", b"c": bytes(range(256)) * 100}
        assert store.get_blobs("parse/2", [b"a"]) == {}
        assert (store.blob_hits, store.blob_misses) == (3, 2)
        assert store.note == ""


def test_whoever_asks_for_much_of_a_table_gets_all_of_it_in_one_go(tmp_path: Path) -> None:
    fill(tmp_path)
    rewrite(tmp_path, "UPDATE counts SET seal = seal + 1 WHERE seq = 7")
    with open_store(tmp_path) as few, open_store(tmp_path) as many:
        few.get_many(OWNER, TEXTS[:1])
        many.get_many(OWNER, TEXTS[:300])
        rewrite(tmp_path, "DELETE FROM counts")
        assert few.get_many(OWNER, TEXTS[1:]) == [None] * 1_199
        wrong = [(n, t) for n, t in zip(many.get_many(OWNER, TEXTS), TEXTS, strict=True) if n != 1 + len(t) % 7]
        assert [n for n, _ in wrong] == [None]  # the one that was damaged when it was read
        assert many.get_many(OWNER, [b"never seen"]) == [None]


def test_memory_only_keeps_counts_and_writes_nothing() -> None:
    store = works(None)
    assert store.note == ""
    assert store.get_many(OWNER, [b"fresh"]) == [2]


def test_nothing_is_opened_until_something_is_asked(tmp_path: Path) -> None:
    open_store(tmp_path / "made" / "later").close()
    assert list(tmp_path.iterdir()) == []


def test_the_folder_is_marked_as_a_cache(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "cache"
    fill(folder)
    assert (folder / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55\n")
    assert (folder / ".gitignore").read_text() == "*\n"
    assert sorted(path.name for path in folder.iterdir()) == [".gitignore", "CACHEDIR.TAG", FILE_NAME]


def test_clear_removes_the_file_and_nothing_else(tmp_path: Path) -> None:
    fill(tmp_path)
    (tmp_path / "mine.txt").write_text("keep")
    size = (tmp_path / FILE_NAME).stat().st_size
    assert clear(tmp_path) == size
    assert sorted(path.name for path in tmp_path.iterdir()) == [".gitignore", "CACHEDIR.TAG", "mine.txt"]
    assert clear(tmp_path) == 0
    assert clear(tmp_path / "absent") == 0


@pytest.mark.parametrize("number", [0, -1, 6])
def test_an_impossible_count_is_not_kept(number: int) -> None:
    with pytest.raises(ValueError, match="is no count of a text of 5 bytes"):
        open_store(None).put_many(OWNER, [(b"hello", number)])


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE counts SET value = -5",
        "UPDATE counts SET value = 0",
        "UPDATE counts SET value = 1000000",
        "UPDATE counts SET value = 'many'",
        "UPDATE counts SET value = x'00'",
        "UPDATE counts SET value = 1.5",
        "UPDATE counts SET value = value + 1",  # possible as a count, but not what was sealed
        "UPDATE counts SET seal = 0",
        "UPDATE counts SET value = 9223372036854775807",
        "DELETE FROM counts",
    ],
)
def test_values_that_cannot_be_are_counted_again(tmp_path: Path, statement: str) -> None:
    fill(tmp_path)
    rewrite(tmp_path, statement)
    with open_store(tmp_path) as store:
        assert store.get_many(OWNER, TEXTS) == [None] * len(TEXTS)
        store.put_many(OWNER, [(text, 3) for text in TEXTS])
    with open_store(tmp_path) as store:  # and mended
        assert store.get_many(OWNER, TEXTS) == [3] * len(TEXTS)


def test_an_absurd_count_with_a_right_seal_is_not_believed(tmp_path: Path) -> None:
    fill(tmp_path)
    db = sqlite3.connect(tmp_path / FILE_NAME)
    with db:
        for value in (0, 10**9):
            for (key,) in db.execute("SELECT key FROM counts").fetchall():
                seal = cache._count_seal(key, value)
                db.execute("UPDATE counts SET value = ?, seal = ? WHERE key = ?", (value, seal, key))
            db.commit()
            with open_store(tmp_path) as store:
                assert store.get_many(OWNER, TEXTS) == [None] * len(TEXTS)
    db.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE blobs SET value = x'00'",
        "UPDATE blobs SET value = 'text'",
        "UPDATE blobs SET seal = x'00'",
        "UPDATE blobs SET space = 'parse/2'",
        "UPDATE blobs SET key = CAST(key || 'x' AS BLOB)",
        "DROP TABLE blobs",
    ],
)
def test_blobs_that_were_touched_are_gone(tmp_path: Path, statement: str) -> None:
    fill(tmp_path)
    rewrite(tmp_path, statement)
    with open_store(tmp_path) as store:
        assert store.get_blobs("parse/1", [b"a", b"b", b"c"]) == {}
        assert store.get_blobs("parse/2", [b"a", b"b", b"c"]) == {}


def garbage(path: Path) -> None:
    path.write_bytes(b"this is not a database, it only lies here" * 200)


def half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def scrambled(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for at in range(4_096, len(data), 97):
        data[at] ^= 0xFF
    path.write_bytes(bytes(data))


def empty(path: Path) -> None:
    path.write_bytes(b"")


def other_schema(path: Path) -> None:
    path.unlink()
    rewrite(path.parent, "CREATE TABLE counts (key TEXT, value TEXT)")


def other_version(path: Path) -> None:
    rewrite(path.parent, "PRAGMA user_version = 99")


def view(path: Path) -> None:
    rewrite(path.parent, "DROP TABLE counts")
    rewrite(path.parent, "CREATE VIEW counts AS SELECT key, 1 AS value, 1 AS seal, 1 AS seq FROM blobs")


def trigger(path: Path) -> None:
    rewrite(path.parent, "CREATE TRIGGER t AFTER INSERT ON counts BEGIN DELETE FROM counts; END")


def broken_meta(path: Path) -> None:
    rewrite(path.parent, "UPDATE meta SET value = 'x'")


@pytest.mark.parametrize(
    "damage", [garbage, half, scrambled, empty, other_schema, other_version, view, trigger, broken_meta]
)
def test_a_damaged_file_is_replaced(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    fill(tmp_path)
    damage(tmp_path / FILE_NAME)
    works(tmp_path)
    works(tmp_path)
    with open_store(tmp_path) as store:
        assert store.get_many(OWNER, [b"fresh"]) == [2]
        assert store.get_blobs("parse/1", [b"d"]) == {b"d": b"delta"}
        assert store.note == ""


def test_damage_during_a_run_is_survived(tmp_path: Path) -> None:
    fill(tmp_path)
    with open_store(tmp_path) as store:
        assert store.get_many(OWNER, TEXTS[:1]) != [None]
        scrambled(tmp_path / FILE_NAME)
        store.get_many(OWNER, TEXTS)
        store.put_many(OWNER, [(b"fresh", 2)])
        assert store.get_many(OWNER, [b"fresh"]) == [2]


def test_what_is_not_a_plain_file_is_left_alone(tmp_path: Path) -> None:
    victim = tmp_path / "victim.sqlite3"
    rewrite(tmp_path, "CREATE TABLE precious (x)")
    (tmp_path / FILE_NAME).rename(victim)
    before = victim.read_bytes()
    (tmp_path / FILE_NAME).symlink_to(victim)
    store = works(tmp_path)
    assert "not a regular file" in store.note
    assert victim.read_bytes() == before
    (tmp_path / FILE_NAME).unlink()
    (tmp_path / FILE_NAME).mkdir()
    assert "not a regular file" in works(tmp_path).note


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    store = works(tmp_path / "file" / "cache")
    assert store.note.startswith("no cache: ")


def test_a_read_only_folder_is_read_and_never_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with open_store(tmp_path) as store:
        assert store.get_many(OWNER, TEXTS) == [1 + len(text) % 7 for text in TEXTS]
        assert store.get_blobs("parse/1", [b"a"]) == {b"a": b"alpha"}
    works(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    works(tmp_path / "absent")


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX users")
def test_a_folder_of_somebody_else(tmp_path: Path) -> None:
    """The same with real permissions: as another user where the tests run as root, else without write bits."""
    fill(tmp_path)
    parents = list(tmp_path.parents)[:-1]
    modes = {parent: parent.stat().st_mode for parent in parents if parent.owner() == tmp_path.owner()}
    os.chmod(tmp_path / FILE_NAME, 0o444)
    os.chmod(tmp_path, 0o555)
    reader, writer = os.pipe()
    try:
        for parent, mode in modes.items():
            os.chmod(parent, mode | 0o055)
        if (child := os.fork()) == 0:
            try:
                if os.geteuid() == 0:
                    os.setuid(65_534)
                with open_store(tmp_path) as store:
                    store.put_many(OWNER, [(b"fresh", 2)])
                    seen = store.get_many(OWNER, [TEXTS[5]])
                seen += store.get_many(OWNER, [b"fresh"])
                os.write(writer, repr((seen, store.note)).encode())
            finally:
                os._exit(0)
        os.waitpid(child, 0)
    finally:
        for parent, mode in modes.items():
            os.chmod(parent, mode)
        os.chmod(tmp_path, 0o755)
        os.close(writer)
    assert os.read(reader, 10_000).decode() == repr(([1 + len(TEXTS[5]) % 7, 2], ""))
    os.close(reader)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".gitignore", "CACHEDIR.TAG", FILE_NAME]


def test_a_writer_that_holds_the_file_is_gone_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_BUSY_SECONDS", 0.05)
    fill(tmp_path)
    other = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with open_store(tmp_path) as store:
        assert store.get_many(OWNER, TEXTS[:2]) == [1 + len(text) % 7 for text in TEXTS[:2]]
        store.put_many(OWNER, [(b"fresh", 2)])
        store.flush()
        assert "locked" in store.note
        assert store.get_many(OWNER, [b"fresh"]) == [2]
    other.execute("ROLLBACK")
    other.close()
    with open_store(tmp_path) as store:
        assert store.get_many(OWNER, [b"fresh", TEXTS[0]]) == [None, 1 + len(TEXTS[0]) % 7]


def test_processes_that_write_at_once_all_succeed(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from ctxc.tokens.cache import open_store\n"
        "n = int(sys.argv[2])\n"
        "for turn in range(5):\n"
        "    with open_store(Path(sys.argv[1])) as s:\n"
        "        s.get_many(b'o' * 32, [b'x'])\n"
        "        s.put_many(b'o' * 32, [(b'%d %d %d' % (n, turn, i), 3) for i in range(50)])\n"
        "    assert s.note == '', s.note"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(n)]) for n in range(4)]
    assert [process.wait() for process in running] == [0, 0, 0, 0]
    texts = [b"%d %d %d" % (n, turn, i) for n in range(4) for turn in range(5) for i in range(50)]
    with open_store(tmp_path) as store:
        assert store.get_many(OWNER, texts) == [3] * len(texts)


def test_threads_share_a_store(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        wrong: list[object] = []

        def work(n: int) -> None:
            for i in range(200):
                text = b"%d/%d" % (n, i)
                store.put_many(OWNER, [(text, 2)])
                if store.get_many(OWNER, [text]) != [2]:
                    wrong.append(text)
                if i % 50 == 0:
                    store.flush()

        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []


def test_the_oldest_blobs_leave_when_the_file_is_over_its_limit(tmp_path: Path) -> None:
    limit = 2_000_000
    for turn in range(10):
        with open_store(tmp_path, limit_bytes=limit) as store:
            store.put_blobs("s", {b"%d" % turn: bytes([turn]) * 300_000})
            store.put_many(OWNER, [(b"count %d" % turn, 1)])
    with open_store(tmp_path, limit_bytes=limit) as store:
        kept = sorted(store.get_blobs("s", [b"%d" % turn for turn in range(10)]))
        # The seventh went over: three stayed, three came after.
        assert kept == [b"4", b"5", b"6", b"7", b"8", b"9"]
        assert store.get_many(OWNER, [b"count %d" % turn for turn in range(10)]) == [1] * 10
    assert (tmp_path / FILE_NAME).stat().st_size <= limit


def test_the_oldest_counts_leave_too(tmp_path: Path) -> None:
    limit = 400_000
    texts = [b"%05d" % n for n in range(20_000)]
    for start in range(0, 20_000, 1_000):
        with open_store(tmp_path, limit_bytes=limit) as store:
            store.put_many(OWNER, [(text, 1) for text in texts[start : start + 1_000]])
    with open_store(tmp_path, limit_bytes=limit) as store:
        found = store.get_many(OWNER, texts)
    assert found[-1_000:] == [1] * 1_000
    assert None in found[:1_000]
    assert (tmp_path / FILE_NAME).stat().st_size <= limit


def test_a_blob_over_the_limit_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MAX_BLOB_BYTES", 10)
    with open_store(tmp_path) as store:
        store.put_blobs("s", {b"small": b"x" * 10, b"large": b"x" * 11})
    monkeypatch.setattr(cache, "MAX_BLOB_BYTES", 5)
    with open_store(tmp_path) as store:
        assert store.get_blobs("s", [b"small", b"large"]) == {}


def test_the_memory_does_not_grow_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_MEMO_ENTRIES", 100)
    store = open_store(None)
    for n in range(1_000):
        store.put_many(OWNER, [(b"%d" % n, 1)])
    assert len(store._memo) <= 100
    assert store.get_many(OWNER, [b"999"]) == [1]


def test_a_forged_end_is_worked_out_again(tmp_path: Path) -> None:
    """A stored length of a prefix is only used when what it gives does fit."""
    text = "one two three four five six seven eight nine ten " * 5
    with open_store(tmp_path) as store:
        right = tokens.get("o200k_base", store).prefix(text, 10)
    db = sqlite3.connect(tmp_path / FILE_NAME)
    with db:
        for key, value in db.execute("SELECT key, value FROM counts").fetchall():
            if value == right:
                db.execute(
                    "UPDATE counts SET value = ?, seal = ? WHERE key = ?",
                    (right + 40, cache._count_seal(key, right + 40), key),
                )
    db.close()
    with open_store(tmp_path) as store:
        assert tokens.get("o200k_base", store).prefix(text, 10) == right
