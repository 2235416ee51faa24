"""The one ignore policy: secrets never read, skips with their reasons, tracked wins over names."""

from __future__ import annotations

from itertools import product

import pytest

from gitindex.base.vocabulary import MAX_TEXT_BYTES, SkipReason
from gitindex.extract.policy import (
    Policy,
    is_policy_file,
    is_secret,
    of_tree,
    secret_names,
    skip_content,
)
from gitindex.git.interface import GITLINK, LINK, Entry
from gitindex.languages.syntax.source import is_generated
from tests.support import Repo

FILE = 0o100644

SECRETS = [
    ".env",
    ".env.local",
    ".envrc",
    ".ENV",
    ".env.production",
    "key.pem",
    "server.KEY",
    "cert.p12",
    "cert.pfx",
    "a.jks",
    "debug.keystore",
    "vault.kdbx",
    "signed.asc",
    "backup.gpg",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".pypirc",
    ".npmrc",
    ".htpasswd",
    ".git-credentials",
    "credentials.json",
    "service-account.json",
    "service-account-prod.json",
    "secrets.yml",
    "secrets.yaml",
    "secrets.json",
    "secrets.toml",
    "terraform.tfstate",
    "prod.tfvars",
    "office.ovpn",
    "putty.ppk",
    "id_rsa",
    "id_ed25519",
    "id_dsa",
    "id_ecdsa",
    "ID_RSA",
    "id_ed25519_sk",
    "id_rsa_work",
    "id_rsa-old",
    "id_rsa.bak",
    "prod.env",
    "AuthKey.p8",
    "http.keytab",
    "credentials",
    "kubeconfig",
    "kubeconfig.yaml",
    "serviceAccountKey.json",
    "my-app-firebase-adminsdk-x1y2z-0123456789.json",
    "application_default_credentials.json",
    "gha-creds-1234.json",
    "rclone.conf",
    "wallet.dat",
    "login.keyring",
    "vault_pass.txt",
    "secret_token.rb",
    ".terraformrc",
    ".dockercfg",
    ".my.cnf",
    ".dockerconfigjson",
    ".boto",
    ".s3cfg",
    ".vault-token",
    "terraform.tfstate.backup",
    "secret.yml",
    "secret.json",
    "application-secrets.properties",
    "app.secrets.yaml",
    "deploy_key",
    "github_rsa",
    "keystore.properties",
    "local.settings.json",
    "wp-config.php",
    "token.txt",
    "ENV.PROD",
    "client_secret_42.json",
    ".bash_history",
    ".ssh/config",
    ".SSH/known_hosts",
    "home/.gnupg/trustdb",
    ".kube/config",
    ".docker/config.json",
    ".cargo/credentials",
    ".idea/WebServers.xml",
    "etc/shadow",
]

HARMLESS = [
    "env.py",
    "environment.ts",
    ".environment-notes",
    "pem.py",
    "keys.py",
    "key.py",
    "keyboard.c",
    "monkey",
    "id_rsa.pub",
    "id_card.py",
    "credentials.py",
    "secrets.py",
    "secrets.md",
    "secret.md",
    "secretary.go",
    "client_secret.py",
    "config.json",
    ".docker/Dockerfile",
    ".kube/deployment.yml",
    "kube/config",
    "ssh/config",
    "monkey_keys",
    "shadow",
    "npmrc",
    "netrc",
    "test_env.py",
    "my.env.py",
    "tfstate.go",
    "README",
    "build/main.o.txt",
    "id_",
    "identity",
    "id_rsa_parser.py",
    "id_ed25519.go",
    "credentials.go",
    "kubeconfig.py",
    "firebase.json",
    "wallet.py",
    "service_account.py",
    "vault.py",
    "env",
]


@pytest.mark.parametrize("name", SECRETS)
@pytest.mark.parametrize("folder", ["", "deep/in/a folder/"])
def test_i37_secret_names_are_secret_anywhere(folder: str, name: str) -> None:
    path = (folder + name).encode()
    assert is_secret(path)
    assert Policy([], []).skip_path(Entry(path, FILE, "0")) is SkipReason.SECRET


@pytest.mark.parametrize("name", HARMLESS)
def test_harmless_names_are_not_secret(name: str) -> None:
    if name != ".environment-notes":  # `.env*` is wide on purpose
        assert not is_secret(name.encode())
    assert not is_secret(b".env/" + b"plain.py")


@pytest.mark.parametrize("name", [b"\xff.pem", b"a\nb.key", b".env\n", b"x\n/.env", b"\n.env.pem"])
def test_odd_bytes_hide_no_secret(name: bytes) -> None:
    assert is_secret(name)


def test_the_quick_look_at_a_name_agrees_with_the_pattern() -> None:
    parts = ("", ".", "env", "ENV", "id_", "rsa", ".pem", ".KEY", "credentials", ".json", "secrets")
    more = ("\n", "x", "-", ".bak", "_netrc", "service-account", "\u017f", "\u212aey", "_key")
    for words in product(parts + more, repeat=3):
        name = "".join(words)
        assert is_secret(name.encode()) == bool(secret_names().match(name)), name


def entry(path: str, mode: int = FILE, oid: str = "0") -> Entry:
    return Entry(path.encode(), mode, oid)


def test_reasons_of_paths_in_their_order() -> None:
    files = {
        ".gitindexignore": b"ignored/\n*.min.js\n.env\n",
        ".gitattributes": b"gen/* linguist-generated\nvendored/** linguist-vendored\n*.bin binary\n",
    }
    oids = {str(n): data for n, data in enumerate(files.values())}
    entries = [entry(path, FILE, str(n)) for n, path in enumerate(files)]
    policy = of_tree(entries, lambda wanted: {oid: oids[oid] for oid in wanted})
    expected = {
        "a.py": None,
        ".gitattributes": None,
        "ignored/a.py": SkipReason.IGNORED,
        "x/y.min.js": SkipReason.IGNORED,
        "gen/a.py": SkipReason.GENERATED,
        "vendored/deep/a.py": SkipReason.VENDORED,
        "a.bin": SkipReason.BINARY,
        ".env": SkipReason.SECRET,
        "ignored/id_rsa": SkipReason.SECRET,
    }
    assert {path: policy.skip_path(entry(path)) for path in expected} == expected
    assert policy.skip_path(entry("ignored/link", LINK)) is SkipReason.SYMLINK
    assert policy.skip_path(entry(".env", GITLINK)) is SkipReason.SUBMODULE


@pytest.mark.parametrize(
    ("path", "decides"),
    [
        (".gitindexignore", True),
        ("sub/.gitindexignore", False),
        (".gitattributes", True),
        ("a/b/.gitattributes", True),
        ("x.gitattributes", False),
        (".gitignore", False),
    ],
)
def test_policy_files(path: str, decides: bool) -> None:
    assert is_policy_file(path.encode()) is decides


def test_policy_file_that_is_a_link_has_no_say() -> None:
    def never(oids: list[str]) -> dict[str, bytes]:
        assert oids == []
        return {}

    policy = of_tree([entry(".gitindexignore", LINK), entry("a/.gitattributes", LINK)], never)
    assert policy.skip_path(entry("a")) is None


@pytest.mark.parametrize("mode", [FILE, GITLINK], ids=["partial clone", "submodule"])
def test_policy_file_that_git_does_not_have_has_no_say(mode: int) -> None:
    entries = [entry("a/.gitattributes", mode), entry(".gitindexignore", mode)]
    assert of_tree(entries, lambda _oids: {}).skip_path(entry("a/b")) is None


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 1\n"
CONTENT: dict[str, tuple[bytes, SkipReason | None]] = {
    "empty": (b"", None),
    "text": (b"def f():\n    pass\n", None),
    "latin-1": (b"caf\xe9\n", None),
    "NUL at the start": (b"\0abc", SkipReason.BINARY),
    "NUL at the end of the probe": (b"a\n" * 3999 + b"a\0", SkipReason.BINARY),
    "NUL behind the probe": (b"a\n" * 4000 + b"\0", SkipReason.BINARY),
    "UTF-16 little": ("text".encode("utf-16-le").join([b"\xff\xfe", b""]), None),
    "UTF-16 big": ("text".encode("utf-16-be").join([b"\xfe\xff", b""]), None),
    "PNG": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", SkipReason.BINARY),
    "LFS pointer": (LFS, SkipReason.LFS_POINTER),
    "text about LFS": (b"see " + LFS, None),
    "at the limit": (b"line\n" * (MAX_TEXT_BYTES // 5), None),
    "over the limit": (b"line\n" * (MAX_TEXT_BYTES // 5 + 1), SkipReason.OVERSIZE),
    "generated is text": (b"// Code generated by protoc. DO NOT EDIT.\n\npackage x\n", None),
    "minified": (b"a=1;" * 6000, SkipReason.MINIFIED),
    "minified with a licence line": (b"/* licence */\n" + b"a=1;" * 6000, SkipReason.MINIFIED),
    "one long line, but short": (b"a=1;" * 4000, None),
    "long lines among many": (b"x" * 900 + b"\n" + b"y\n" * 20_000, None),
}


@pytest.mark.parametrize("case", CONTENT.values(), ids=CONTENT.keys())
def test_reasons_of_contents(case: tuple[bytes, SkipReason | None]) -> None:
    data, reason = case
    assert skip_content(data) is reason


GENERATED = {
    "go": (b"// Code generated by protoc. DO NOT EDIT.\n\npackage x\n", True),
    "behind a licence": (b"// Licence\n" * 9 + b"// @generated\n", True),
    "html": (b"<!-- @generated by x -->\n", True),
    "a Sphinx conf.py": (b"# This file is automatically generated by sphinx-quickstart\n", False),
    "a list of words": (b"automation\nautogenerated\nautoload\n", False),
    "talks about generated code": (b"x = 'is @generated'\n# code generated elsewhere\n", False),
    "told too late": (b"x = 1\n" * 500 + b"# @generated\n", False),
}


@pytest.mark.parametrize("case", GENERATED.values(), ids=GENERATED.keys())
def test_who_says_that_a_tool_wrote_it(case: tuple[bytes, bool]) -> None:
    assert is_generated(case[0]) is case[1]


def test_c9_tracked_folders_are_indexed_whatever_their_name(repo: Repo) -> None:
    repo.write(".gitignore", "build/\nvendor/\ndist/\nnode_modules/\n*.log\n")
    names = [
        "build/make.py",
        "vendor/lib.py",
        "dist/out.js",
        "node_modules/m/index.js",
        "target/main.rs",
        ".venv/site.py",
        "debug.log",
    ]
    for name in names:
        repo.write(name, f"marker_{len(name)} = 1\n")
    repo.git("add", "-f", *names)
    repo.commit()
    assert repo.gitindex("index").returncode == 0
    indexed = {row.path.decode() for row in repo.mapping() if row.blob_id is not None}
    assert set(names) <= indexed
    repo.assert_published()


def test_i37_no_secret_reaches_a_store(repo: Repo) -> None:
    canary = "canary_7f3a91_value"
    for name in (".env", "deep/server.key", "id_rsa", "conf/credentials.json"):
        repo.write(name, f"token = {canary}\n")
    repo.write("ok.py", "x = 1\n")
    repo.commit()
    assert repo.gitindex("index").returncode == 0
    rows = {row.path: row.skip for row in repo.mapping()}
    assert rows[b".env"] is rows[b"deep/server.key"] is rows[b"id_rsa"] is SkipReason.SECRET
    for folder in (repo.path / ".git" / "gitindex", repo.path / ".llmc"):
        for path in folder.rglob("*"):
            if path.is_file():
                assert canary.encode() not in path.read_bytes(), path
