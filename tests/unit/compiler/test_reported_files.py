"""Reports about reading other tools' files, where they are about something that our own files have too.

Ids are those of the public reports that ``tests/cases`` follows; the inputs are short enough to stand here.
"""

from __future__ import annotations

import json

import pytest
from world import compiled

from ctxc.app.explain import explain
from ctxc.model.package import Outcome, Package
from ctxc.model.project import Project, Settings
from ctxc.parse.load import load_project
from ctxc.providers import profile_ids, profile_text
from ctxc.source.memory import MemoryTree

TEMPLATE = """\
template_id: t
version: 1
provider: anthropic
model: claude-sonnet-4-5
{more}sections:
  - {{id: policy, source: policies/house.md}}
{sections}
"""
FIXTURE = "fixture_id: f\ntemplate: t\n{more}inputs: {{user: Go on.}}\n"


def loaded(files: dict[str, str | bytes], sections: str = "", more: str = "", fixture: str = "") -> Project:
    every = {
        "templates/t.yaml": TEMPLATE.format(sections=sections, more=more),
        "policies/house.md": "Be exact.\n",
        "tests/fixtures/f.yaml": FIXTURE.format(more=fixture),
        **files,
    }
    return load_project(MemoryTree(every), Settings(), builtin_providers={p: profile_text(p) for p in profile_ids()})


def package_of(project: Project) -> Package:
    package = compiled(project, project.fixtures["f"])
    assert package.outcome is Outcome.COMPILED, (project.findings, package.findings)
    return package


def system(package: Package) -> str:
    return "\n".join(block["text"] for block in package.request["system"])  # type: ignore[index]


def short(project: Project) -> list[str]:
    return [f"{f.location} {f.name}" for f in project.findings]


# --- front matter -----------------------------------------------------------------------------------------------------

FRAGMENT = """\
---
fragment_id: core.a
version: v1
kind: core
load_mode: route_match
applies_when: {files: ["src/**/*.ts"]}
---
Use strict mode.
"""
ROUTE = 'route: {files: ["src/a/b.ts"]}\n'
FRAGMENTS = "  - {id: fragments, source: fragments}\n"


@pytest.mark.parametrize(
    ("case", "line", "at"),
    [
        ("fm-003", "applies_when: {files: *.tsx}", "6:24"),
        ("fm-005", "summary: Shortens text. Enforces one rule: keep it under ten lines.", "6:42"),
        ("fm-005", 'summary: [action] - for example "list" or "status"', "6:19"),
    ],
)
def test_fm_003_and_005_one_bad_line_loses_nothing_silently(case: str, line: str, at: str) -> None:
    """https://github.com/langwatch/scenario/pull/958, https://github.com/vercel-labs/skills/issues/1525."""
    text = FRAGMENT.replace('applies_when: {files: ["src/**/*.ts"]}', line).replace("route_match", "always")
    good = FRAGMENT.replace("core.a", "core.b")
    project = loaded({"fragments/a.md": text, "fragments/b.md": good}, FRAGMENTS, fixture=ROUTE)
    assert short(project) == [f"fragments/a.md:{at} syntax"], case
    assert list(project.fragments) == ["core.b"]
    package = compiled(project, project.fixtures["f"])
    assert package.outcome is Outcome.INVALID
    assert package.findings[0].message.startswith("fragments/a.md could not be loaded")


def test_fm_008_line_ends_change_nothing() -> None:
    """https://github.com/github/copilot-cli/issues/694: a line of front matter with CRLF was not read."""
    seen = set()
    for text in (
        FRAGMENT,
        FRAGMENT.replace("\n", "\r\n"),
        FRAGMENT.replace("\n", "\r\n", 4),
        FRAGMENT.replace("\n", "\r"),
    ):
        project = loaded({"fragments/a.md": text.encode()}, FRAGMENTS, fixture=ROUTE)
        assert project.fragments["core.a"][0].applies_when == {"files": ("src/**/*.ts",)}
        package = package_of(project)
        assert "\r" not in json.dumps(package.request)
        seen.add((package.snapshot["snapshot_id"], package.snapshot["request_hash"]))
    assert len(seen) == 1


def test_fm_009_a_byte_order_mark_hides_no_front_matter() -> None:
    """https://github.com/QwenLM/qwen-code/pull/2095: the condition was lost, and U+FEFF went to the model."""
    project = loaded({"fragments/a.md": "\ufeff" + FRAGMENT}, FRAGMENTS, fixture=ROUTE)
    assert short(project) == ["fragments/a.md:1:1 byte-order-mark"]
    request = json.dumps(package_of(project).request, ensure_ascii=False)
    assert "Use strict mode." in request
    assert "\ufeff" not in request
    elsewhere = loaded({"fragments/a.md": "\ufeff" + FRAGMENT}, FRAGMENTS, fixture='route: {files: ["a.py"]}\n')
    assert "Use strict mode." not in json.dumps(package_of(elsewhere).request)


def test_fm_013_rules_and_colons_of_a_body_are_body() -> None:
    """https://github.com/continuedev/continue/issues/6095: ``---`` in the text was taken for another document."""
    body = "# Style\n\nFirst part.\n\n---\n\nSecond part.\n\n---\nkey: this is body text, not YAML\n---"
    text = FRAGMENT.replace("Use strict mode.\n", body + "\n")
    project = loaded({"fragments/a.md": text}, FRAGMENTS, fixture=ROUTE)
    assert short(project) == []
    assert body in system(package_of(project))


def test_tp_004_a_rule_in_a_message_does_not_split_it() -> None:
    """https://github.com/promptfoo/promptfoo/issues/241: ``---`` in a prompt made two of it."""
    text = "Part one\n---\nPart two with {{not_a_var}} kept"
    project = loaded({"policies/house.md": text})
    package = compiled(project, project.fixtures["f"])
    (finding,) = package.findings
    assert (str(finding.location), finding.name) == ("policies/house.md:3:15", "unknown-variable")
    assert finding.location.span == (3, 15, 3, 28)
    kept = package_of(loaded({"policies/house.md": text.replace("{{not_a_var}}", "{{{{not_a_var}}}}")}))
    assert text in system(kept)


# --- file patterns ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("case", "patterns", "path", "selected"),
    [
        ("gl-002", '["web/**/*.css", "web/**/*.scss"]', "web/a/b/ui.scss", True),
        ("gl-003", '["**/*.{java,kt}", "**/*.gradle"]', "src/A.kt", True),
        ("gl-003", '["**/*.{java,kt}", "**/*.gradle"]', "build.gradle", True),
        ("gl-003", '["**/*.{java,kt}", "**/*.gradle"]', "src/A.scala", False),
        ("gl-005", '["*.py"]', "pkg/mod/x.py", True),
        ("gl-006", '["**/*.ts", "**/*.js"]', "a.ts", True),
        ("gl-006", '["**/*.ts", "**/*.js"]', "a.js", True),
        ("gl-008", '["does-not-exist/**", "**/*.go"]', "main.go", True),
        ("gl-010", '["src/routes/[[]id]/**"]', "src/routes/[id]/+page.ts", True),
    ],
)
def test_gl_002_to_010_which_files_a_pattern_means(case: str, patterns: str, path: str, selected: bool) -> None:
    text = FRAGMENT.replace('["src/**/*.ts"]', patterns)
    project = loaded({"fragments/a.md": text}, FRAGMENTS, fixture=f'route: {{files: ["{path}"]}}\n')
    package = package_of(project)
    assert ("Use strict mode." in system(package)) is selected, case
    (trail,) = explain(project, project.fixtures["f"], package, "core.a").trails
    assert (trail.placed is not None) is selected
    if not selected:
        assert trail.decisions[0].reason == f"no file of {path} matches **/*.{{java,kt}} or **/*.gradle"


# --- files that are named ---------------------------------------------------------------------------------------------


def test_im_002_a_file_that_is_not_there_is_told_where_it_is_named() -> None:
    """https://github.com/anthropics/claude-code/issues/88813: an import that does not resolve left no trace."""
    project = loaded({}, "  - {id: more, kind: policy, source: policies/gone.md}")
    assert short(project) == ["templates/t.yaml:7:38 missing-file"]
    assert project.findings[0].message.startswith('there is no file "policies/gone.md"')
    assert compiled(project, project.fixtures["f"]).outcome is Outcome.INVALID


def test_im_004_a_path_of_another_root_is_told_with_the_one_that_is_there() -> None:
    """https://github.com/anthropics/claude-code/issues/51305: two roots, and the file of the other one was missed."""
    manifest = '{"fragment_id": "a", "version": "v1", "path": "house.md", "kind": "core", "load_mode": "always"}'
    project = loaded({"fragments/manifest.json": manifest}, FRAGMENTS)
    assert short(project) == ["fragments/manifest.json:1:47 missing-file"]


def test_im_006_and_007_an_at_sign_in_a_text_is_text() -> None:
    """https://github.com/google-gemini/gemini-cli/issues/11161 and 20702: @param and mail domains were imported."""
    text = "Document with @param and @returns.\nUse @Injectable().\nAsk ops@example.org (not @example.org).\n@docs/style.md"
    assert text in system(package_of(loaded({"policies/house.md": text})))


def test_im_009_and_021_names_of_files_in_any_letters() -> None:
    """https://github.com/google-gemini/gemini-cli/issues/11214: digits first, other scripts, blanks."""
    names = ("1-intro.md", "規約.md", "extra user notes.md")
    sections = "".join(f'  - {{id: s{n}, kind: policy, source: "policies/{x}"}}\n' for n, x in enumerate(names))
    project = loaded({f"policies/{x}": f"CANARY-{n}\n" for n, x in enumerate(names)}, sections)
    assert short(project) == []
    assert [f"CANARY-{n}" in system(package_of(project)) for n in range(3)] == [True] * 3


def test_im_010_a_file_that_is_no_text() -> None:
    """https://github.com/google-gemini/gemini-cli/issues/10945: a PDF flooded the terminal."""
    project = loaded({"policies/house.md": b"%PDF-1.4\n\x00\xff\xfe binary"})
    package = compiled(project, project.fixtures["f"])
    assert package.outcome is Outcome.INVALID
    (finding,) = package.findings
    assert (str(finding.location), finding.name) == ("templates/t.yaml:6:26", "unreadable-file")
    assert finding.message == (
        "section 'policy': 'policies/house.md': the file is binary (a NUL byte at offset 9); expected UTF-8"
    )


def test_im_017_fragments_that_require_each_other() -> None:
    """https://github.com/google-gemini/gemini-cli/pull/2230: a circle, told with its members."""
    rows = [
        {"fragment_id": x, "version": "v1", "path": f"{x}.md", "kind": "core", "load_mode": "always", "requires": [y]}
        for x, y in ("ab", "bc", "ca")
    ]
    files = {f"fragments/{x}.md": f"{x.upper()}-CANARY\n" for x in "abc"}
    project = loaded({**files, "fragments/manifest.json": json.dumps({"fragments": rows})}, FRAGMENTS)
    (finding,) = project.findings
    assert finding.name == "requires-cycle"
    assert finding.message.endswith("a -> b -> c -> a")


def test_im_019_what_is_required_is_followed_to_the_end() -> None:
    """https://github.com/anthropics/claude-code/issues/77963: imports inside imports were not followed."""
    rows = [
        {"fragment_id": f"d{n}", "version": "v1", "path": f"d{n}.md", "kind": "core",
         "load_mode": "explicit" if n else "always", "requires": [f"d{n + 1}"] if n < 6 else []}
        for n in range(7)
    ]  # fmt: skip
    files = {f"fragments/d{n}.md": f"LEVEL-{n}\n" for n in range(7)}
    text = system(package_of(loaded({**files, "fragments/manifest.json": json.dumps(rows)}, FRAGMENTS)))
    assert [f"LEVEL-{n}" in text for n in range(7)] == [True] * 7


# --- tools ------------------------------------------------------------------------------------------------------------

TOOLS = "  - {id: tools, source: tools.json}\n"


def offered(tools: object) -> Package:
    return package_of(loaded({"tools.json": json.dumps(tools)}, TOOLS))


def test_ts_002_one_schema_that_is_refused_takes_no_other_with_it() -> None:
    """https://github.com/anthropics/claude-code/issues/88049: one bad schema, and all tools were gone."""
    plain, bad = {"type": "object"}, {"anyOf": [{"type": "object"}, {"type": "object"}]}
    tools = [{"name": n, "description": n, "inputSchema": s} for n, s in (("a", plain), ("bad", bad), ("c", plain))]
    assert [t["name"] for t in offered({"tools": tools}).request["tools"]] == ["a", "bad", "c"]  # type: ignore[index]


def test_ts_004_a_reference_inside_a_schema_stays_one() -> None:
    """https://github.com/labring/FastGPT/issues/6395: a parameter with $ref was shown as an array."""
    schema = {
        "type": "object",
        "properties": {"request": {"$ref": "#/$defs/Req"}},
        "required": ["request"],
        "$defs": {"Req": {"type": "object", "properties": {"q": {"type": "string"}}}},
    }
    (tool,) = offered({"tools": [{"name": "ask", "description": "ask", "inputSchema": schema}]}).request["tools"]  # type: ignore[index]
    assert tool["input_schema"] == schema


def test_ts_009_an_answer_of_a_server_with_its_envelope() -> None:
    """https://github.com/vercel/ai/issues/19240: only the first page was used. That lint says so: CTX642."""
    page = {"tools": [{"name": "one", "inputSchema": {"type": "object"}}], "nextCursor": "eyJvZmZzZXQiOjF9"}
    package = offered({"jsonrpc": "2.0", "id": 1, "result": page})
    assert [t["name"] for t in package.request["tools"]] == ["one"]  # type: ignore[index]
    assert "eyJvZmZzZXQiOjF9" not in json.dumps(package.request)


# --- what a template says ---------------------------------------------------------------------------------------------


def test_tp_001_json_in_a_text_stays_as_it_is() -> None:
    """https://github.com/langchain-ai/langchain/issues/32702: literal JSON was taken for variables."""
    example = 'Answer as JSON like {"answer": "...", "list": []}.'
    project = loaded(
        {"policies/house.md": f"{example}\nThe user is {{{{ name }}}}.\n"}, more="variables: {name: Ada}\n"
    )
    assert f"{example}\nThe user is Ada.\n" in system(package_of(project))


@pytest.mark.parametrize("place", ["variables", "route", "user", "task"])
def test_tp_003_a_value_is_never_a_template(place: str) -> None:
    """https://github.com/promptfoo/promptfoo/issues/1283: a value with ``{#`` was rendered."""
    value = "a {# b and {% raw %} and {{ secret }} and {{ 7*7 }} and {{name}}"
    quoted = json.dumps(value)
    if place in ("user", "task"):
        project = loaded(
            {"tests/fixtures/f.yaml": f"fixture_id: f\ntemplate: t\ninputs: {{user: hi, {place}: {quoted}}}\n".replace(
                "user: hi, user", "user"
            )},
            "  - {id: task, source: runtime}\n", "variables: {name: Ada}\n",
        )  # fmt: skip
    else:
        named = "variables: {name: Ada"
        keys = {
            "variables": (f"{named}, doc: {quoted}}}\n", ""),
            "route": (f"{named}}}\n", f"route: {{doc: {quoted}}}\n"),
        }
        more, fixture = keys[place]
        project = loaded({"policies/house.md": "Text: {{ doc }}\n"}, more=more, fixture=fixture)
    package = package_of(project)
    texts = json.dumps(package.request, ensure_ascii=False)
    assert value in texts
    assert "49" not in texts.replace(value, "")
    assert "Ada" not in texts


def test_bt_014_an_empty_history_is_said_to_be_empty() -> None:
    """https://github.com/langchain-ai/langchain/issues/30376: an empty history crashed."""
    files = {
        "tests/fixtures/h.json": "[]",
        "tests/fixtures/f.yaml": "fixture_id: f\ntemplate: t\ninputs: {user: Go on., history: {file: h.json}}\n",
    }
    project = loaded(files, "  - {id: history, source: runtime}\n")
    package = package_of(project)
    found = explain(project, project.fixtures["f"], package)
    assert [(e.section_id, e.reason) for e in found.empty] == [("history", "inputs.history of the fixture is empty")]
    (trail,) = explain(project, project.fixtures["f"], package, "history").trails
    assert (trail.placed, trail.stopped, trail.state.discoverable) == (None, "discoverable", "no:empty")
    assert trail.remedy == "give the fixture something for it to show"


@pytest.mark.parametrize(
    ("text", "at", "name"),
    [
        ("One.\nTwo {{ missing }}.\n", "policies/house.md:2:5", "missing"),
        ("---\nctxc_ignore: []\n---\nOne {{env.GITHUB_TOKEN}}\n", "policies/house.md:4:5", "env.GITHUB_TOKEN"),
        ("{{ system.secret }}", "policies/house.md:1:1", "system.secret"),
    ],
)
def test_t073_t075_a_variable_without_a_value_is_an_error_with_its_place(text: str, at: str, name: str) -> None:
    project = loaded({"policies/house.md": text})
    package = compiled(project, project.fixtures["f"])
    assert (package.outcome, package.request) == (Outcome.INVALID, None)
    (finding,) = package.findings
    assert (str(finding.location), finding.message) == (at, f"variable {{{{{name}}}}} has no value.")
    assert ("without dots" in finding.help) is ("." in name)


def test_t073_the_place_of_a_variable_in_a_literal() -> None:
    project = loaded({}, '  - {id: more, kind: policy, source: literal, text: "Be {{kind}}."}\n')
    package = compiled(project, project.fixtures["f"])
    assert [str(f.location) for f in package.findings] == ["templates/t.yaml:7:57"]


@pytest.mark.parametrize(
    "text",
    [
        "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
        "{{ 7*7 }} {{ name | upper }} {% for x in y %}{# c #}{{#each}}{{/each}}",
        "{x.__class__.__init__.__globals__[sys]} ; {x:>1000000000} ; %(x)s %s ; $x ${x} $(id) `id`",
        "run: echo ${{ github.event.issue.title }}",
    ],
)
def test_t069_t071_syntax_of_other_template_languages_is_text(text: str) -> None:
    assert text in system(package_of(loaded({"policies/house.md": text})))


def test_t072_a_value_is_not_expanded_again() -> None:
    more = 'variables: {a: "{{b}} {{{{b}}}} {{system.secret}}", b: SECRET}\n'
    text = system(package_of(loaded({"policies/house.md": "x {{a}} y"}, more=more)))
    assert "x {{b}} {{{{b}}}} {{system.secret}} y" in text
    assert "SECRET" not in text


def test_t074_what_includes_is_named_by_id_and_never_in_a_circle() -> None:
    assert "{{include: ../../x}}" in system(package_of(loaded({"policies/house.md": "{{include: ../../x}}"})))
    assert short(loaded({}, "  - {id: more, kind: policy, source: ../../x}"))[0].endswith(" path-outside")
    other = TEMPLATE.format(more="extends: t\n", sections="").replace("template_id: t", "template_id: u")
    project = loaded({"templates/u.yaml": other}, more="extends: u\n")
    assert [n.rpartition(" ")[2] for n in short(project)] == ["extends-cycle"]
