"""Nothing in the deployment files that is secret, of one machine, or open to all."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parent.parent.parent
FILES = [
    ROOT / "Dockerfile",
    ROOT / ".dockerignore",
    ROOT / "docs" / "nightly.md",
    *sorted(
        f for f in (ROOT / "deploy").rglob("*") if f.suffix not in (".lock", ".pyc")
    ),
]
FILES = [file for file in FILES if file.is_file()]
FORBIDDEN = {
    "a private key": r"-----BEGIN|PRIVATE KEY",
    "a key of Google's": r"AIza[0-9A-Za-z_-]{30}|\"private_key_id\"",
    "a key of Amazon's": r"\b(AKIA|ASIA)[0-9A-Z]{16}\b|aws_secret_access_key",
    "a token": r"\b(ghp|gho|glpat|xox[bp])[_-][0-9A-Za-z]{10,}",
    "a password": r"(?i)\b(password|secret|token)\s*[:=]\s*['\"]?[^\s'\"$({]{6,}",
    "a key file": r"GOOGLE_APPLICATION_CREDENTIALS",
    "a path of somebody's machine": r"/home/(?!belvedere\b)\w|/Users/\w|/root\b",
    "an address for all interfaces": r"\b0\.0\.0\.0\b|\[::\]|::/0",
    "a port of the node": r"hostNetwork|hostPort|NodePort|LoadBalancer",
    "an image without a version": r":latest\b",
    "privileges": r"privileged: true|allowPrivilegeEscalation: true",
}
LINK = re.compile(r"\]\(([^)#:]+)\)")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_nothing_that_does_not_belong(file):
    text = file.read_text()
    for what, pattern in FORBIDDEN.items():
        found = re.search(pattern, text)
        assert not found, f"{file.name} holds {what}: {found.group()}"


@pytest.mark.parametrize(
    "line",
    [
        "password: hunter22",
        "  0.0.0.0:8081",
        "AKIAABCDEFGHIJKLMNOP",
        "hostPort: 1",
        "path: /home/ada/x",
    ],
)
def test_it_would_be_found(line):
    assert any(re.search(pattern, line) for pattern in FORBIDDEN.values())


@pytest.mark.parametrize(
    "file", [f for f in FILES if f.suffix == ".md"], ids=lambda file: file.name
)
def test_links_lead_somewhere(file):
    for target in LINK.findall(file.read_text()):
        assert (file.parent / target).exists(), f"{file.name}: {target}"


def test_files_named_in_the_readme_exist():
    text = (ROOT / "deploy" / "README.md").read_text()
    for name in re.findall(r"`((?:deploy|image|tests)/[\w./-]+)`?", text):
        places = (ROOT / name, ROOT / "deploy" / name)
        assert any(place.exists() for place in places), name
