"""Places are the same with every line end and with a byte order mark, and are found again on demand."""

from __future__ import annotations

import pytest
from parse_world import BlobStore, Load, short

from ctxc.base.errors import UnreadableSource
from ctxc.base.spans import Location, Origin, Span
from ctxc.model.project import Settings
from ctxc.parse.document import places
from ctxc.parse.load import load_project
from ctxc.source.memory import MemoryTree

FILES = {
    "templates/t.yaml": "template_id: t\nversion: 1.10\nsections:\n  # ä\n  - {id: task, sorce: runtime}\n  - id: task\n    source: |\n      two\n      lines\n    tier: 'P9'\n",
    "fragments/m.json": '[\n {"fragment_id": "ä", "path": "a.md",\n  "kind": "cor", "load_mode": "always"}\n]\n',
    "fragments/a.md": "---\nfragment_id: b\nkind: core\nload_mode: sometimes\n---\nText.\n",
    "tests/fixtures/f.yaml": "fixture_id: f\ntemplate: t\ninputs:\n  history: {file: h.jsonl}\n",
    "tests/fixtures/h.jsonl": '{"role": "user", "content": "x"}\n\n{"role": "us", "content": "ä"}\n',
}
EXPECTED = [
    "fragments/a.md:4:12 bad-value",
    "fragments/m.json:3:11 bad-value",
    "templates/t.yaml:2:10 float-like-version",
    "templates/t.yaml:5:16 unknown-key",
    "templates/t.yaml:10:11 bad-value",
    "tests/fixtures/h.jsonl:3:10 bad-message",
]


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "bom"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_findings_stand_at_the_same_places(load: Load, end: str, mark: bytes) -> None:
    files = {k: mark + v.replace("\n", end).encode() for k, v in FILES.items()}
    project = load(files)
    marks = [f"{p}:1:1 byte-order-mark" for p in FILES] if mark else []
    assert short(project) == sorted([*EXPECTED, *marks], key=lambda s: s.split(":")[0] + s.split(":")[1].zfill(3))
    spans = {f.location.path: f.location.span for f in project.findings if f.name != "byte-order-mark"}
    assert spans["templates/t.yaml"] == Span(10, 11, 10, 15)
    assert spans["fragments/m.json"] == Span(3, 11, 3, 16)


def test_a_missing_key_is_shown_where_its_mapping_begins(load: Load) -> None:
    project = load({"templates/t.yaml": "\ntemplate_id: t\nsections:\n  - kind: task\n    source: runtime\n"})
    (finding,) = project.findings
    assert (finding.name, finding.location) == (
        "missing-key", Location("templates/t.yaml", Span(4, 5, 4, 5), "/sections/0")
    )  # fmt: skip


def test_a_fault_inside_an_alias_is_shown_where_the_alias_is_used(load: Load) -> None:
    text = "template_id: t\nversion: 1\nsections:\n  - &s {id: task, source: runtime, tier: P1}\n  - *s\n"
    assert short(load({"templates/t.yaml": text})) == ["templates/t.yaml:5:5 duplicate-id"]
    files = {
        "templates/t.yaml": "template_id: t\nversion: 1\nsections: [{id: task, source: runtime}]\n",
        "tests/fixtures/f.yaml": "fixture_id: f\ntemplate: t\nlabels: {x: &x {a: {b: c}}}\nroute: *x\n",
    }
    (finding,) = load(files).findings
    assert (finding.name, finding.location.pointer, str(finding.location)) == (
        "wrong-type", "/route/a", "tests/fixtures/f.yaml:4:8"
    )  # fmt: skip


def sources(files: dict[str, str | bytes], store: BlobStore | None = None) -> object:
    return load_project(MemoryTree(files), Settings(), store=store).sources


def test_locating_values_and_keys() -> None:
    found = sources(FILES)
    locate = found.locate  # type: ignore[attr-defined]
    path = "templates/t.yaml"
    assert locate(Origin(path, "/sections/1/source")) == Location(path, Span(7, 13, 10, 1), "/sections/1/source")
    assert locate(Origin(path, "/sections/1/source"), key=True).span == Span(7, 5, 7, 11)
    assert locate(Origin(path, "/sections/0")).span == Span(5, 5, 5, 31)
    assert locate(Origin(path, "/sections/0/nothing/there")).span == Span(5, 5, 5, 5), "the nearest value around it"
    assert locate(Origin("fragments/a.md", "/kind")).span == Span(3, 7, 3, 11)
    assert locate(Origin("fragments/m.json", "/0/kind"), key=True).span == Span(3, 3, 3, 9)
    assert locate(Origin("tests/fixtures/h.jsonl", "/1/role")).span == Span(3, 10, 3, 14)
    assert locate(Origin("nowhere.yaml", "/a")) == Location("nowhere.yaml", None, "/a")
    assert locate(Origin("", "")) == Location("", None, "")


def test_texts_bodies_and_digests_do_not_depend_on_the_checkout() -> None:
    lf = sources({"policies/a.md": "---\ntitle: x\n---\nA\nB\n", "policies/b.md": "A\n"})
    crlf = sources({"policies/a.md": b"\xef\xbb\xbf---\r\ntitle: x\r\n---\r\nA\r\nB\r\n", "policies/b.md": b"A\r\n"})
    for found in (lf, crlf):
        assert found.read_text("policies/a.md") == "---\ntitle: x\n---\nA\nB\n"  # type: ignore[attr-defined]
        assert found.body("policies/a.md") == "A\nB\n"  # type: ignore[attr-defined]
    for path in ("policies/a.md", "policies/b.md"):
        assert lf.digest(path) == crlf.digest(path)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"\xff\n", "not UTF-8"), (b"---\nopen\n", "never closes"), ("x".encode("utf-16"), "UTF-16")],
)
def test_a_text_that_cannot_be_used_is_refused(data: bytes, said: str) -> None:
    found = sources({"policies/a.md": data})
    with pytest.raises(UnreadableSource) as caught:
        found.body("policies/a.md")  # type: ignore[attr-defined]
    assert said in caught.value.message
    assert caught.value.help
    assert caught.value.location is not None
    assert caught.value.location.span is not None


def test_a_missing_text_is_refused() -> None:
    with pytest.raises(UnreadableSource):
        sources({}).read_text("policies/a.md")  # type: ignore[attr-defined]


def test_places_are_kept_between_runs(store: BlobStore) -> None:
    first = sources({"templates/t.yaml": FILES["templates/t.yaml"]}, store)
    place = first.locate(Origin("templates/t.yaml", "/sections"))  # type: ignore[attr-defined]
    kept = {k: dict(v) for k, v in store.blobs.items() if k.startswith("places/")}
    assert sum(len(v) for v in kept.values()) == 1
    again = sources({"templates/t.yaml": FILES["templates/t.yaml"]}, store)
    assert again.locate(Origin("templates/t.yaml", "/sections")) == place  # type: ignore[attr-defined]


def test_damaged_places_are_found_anew(store: BlobStore) -> None:
    expected = sources({"templates/t.yaml": FILES["templates/t.yaml"]}).locate(Origin("templates/t.yaml", "/version"))  # type: ignore[attr-defined]
    for blob in (b"", b"[1]", b'{"a": 1}', b'{"/version": ["x"]}', b"\xff"):
        for space in [s for s in store.blobs if s.startswith("places/")]:
            store.blobs[space] = dict.fromkeys(store.blobs[space], blob)
        found = sources({"templates/t.yaml": FILES["templates/t.yaml"]}, store)
        assert found.locate(Origin("templates/t.yaml", "/version")) == expected  # type: ignore[attr-defined]


def test_keys_of_a_toml_table_are_found_in_time_that_grows_with_the_file() -> None:
    text = '[tool.ctxc]\nmodel = "m"\n[ tool . "ctxc" . rules ]\nx = 1\n[[other]]\nmodel = "n"\n' + "[" * 200_000
    found = places("pyproject.toml", text.encode())
    assert {k: key or value for k, (value, key) in found.items()} == {
        "": Span(1, 1, 1, 12), "/model": Span(2, 1, 2, 6), "/rules": Span(3, 1, 3, 26), "/x": Span(4, 1, 4, 2),
    }  # fmt: skip
