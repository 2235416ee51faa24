"""The one ignore policy: what a path of a tree becomes, or why it is skipped. Names of secrets come first.

The refresher, the overlay and `verify` all use this module. `verify` is independent because it
reads every object again from git, not because it has its own rules.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache

from gitindex.base.errors import ObjectMissing
from gitindex.base.light_types import NamedTuple
from gitindex.base.pattern import compile_later
from gitindex.base.vocabulary import BINARY_PROBE, MAX_TEXT_BYTES, SkipReason
from gitindex.git.interface import GITLINK, LINK, TREE, Entry, Repository
from gitindex.git.wildmatch import (
    MAX_PATTERNS,
    Rule,
    ignores,
    make_rule,
    parse_ignore,
    rule_matches,
)
from gitindex.languages.facts import FactsKey
from gitindex.languages.table import extractor_id, language_of, needs_head


def _table(text: str) -> tuple[str, ...]:
    """Return the words of a text, without its lines of comment."""
    lines = (line.strip() for line in text.splitlines())
    return tuple(word for line in lines if line[:2] != "# " for word in line.split())


_NAMES = _table("""
    # environments
    .env* *.env env.prod* env.local env.staging env.dev env.development
    # private keys, stores of keys and of passwords
    *.pem *.key *.p8 *.p12 *.pfx *.pkcs12 *.ppk *.asc *.gpg *.keytab *.jks *.bks *.keystore *.kdb
    *.kdbx *.psafe3 *.agilekeychain *.keychain *.keyring wallet.dat *.kwallet *.bek *.fve *.tpm
    *_rsa *_dsa *_ecdsa *_ed25519 *_key *.private_key secring.* keystore.properties key.properties
    signing.properties
    # credentials of services and of programs
    credentials credentials.json credentials.xml credentials.yml credentials.yaml credentials.toml
    credentials.yml.enc credentials.tfrc.json .credentials service-account*.json
    service_account*.json client_secret*.json google-services.json serviceaccountkey*.json
    *-adminsdk-*.json application_default_credentials*.json gha-creds-*.json rclone.conf kubeconfig
    kubeconfig.y*ml *.kubeconfig .dockercfg .dockerconfigjson .boto .s3cfg .tugboat .netrc _netrc
    .pgpass pgpass.conf .my.cnf .mylogin.cnf .npmrc .pypirc .htpasswd htpasswd proftpdpasswd
    .git-credentials .vault-token .vault_pass* vault_pass vault_pass.txt vault_password
    vault_password.txt secret_token.rb .esmtprc .terraformrc terraform.rc .muttrc .msmtprc
    .fetchmailrc .pgpass.* sftp-config.json .ftpconfig .remote-sync.json filezilla.xml
    recentservers.xml sitemanager.xml robomongo.json dbeaver-data-sources.xml otr.private_key
    ventrilo_srv.ini wp-config.php localsettings.php local.settings.json *.publishsettings
    *.pubxml.user *.cscfg *.tfstate *.tfstate.backup *.tfvars *.tfvars.json *.ovpn *.tblk *.rdp
    # what says so itself
    secret*.json secret*.yml secret*.yaml secret*.toml secret*.properties secret*.xml secret*.ini
    secret*.conf secret*.txt *[-_.]secret*.json *[-_.]secret*.yml *[-_.]secret*.yaml
    *[-_.]secret*.toml *[-_.]secret*.properties token.txt tokens.txt token.json tokens.json
    password.txt passwords.txt .bash_history .zsh_history .sh_history .history .mysql_history
    .psql_history .irb_history .python_history .node_repl_history .rediscli_history .sqlite_history
""")
_SSH_KEY = r"id_[a-z0-9]+\Z|id_(rsa|dsa|ecdsa|ed25519)[\w-]*(\.(bak|old|orig|txt))?\Z"
_PATHS = _table("""
    .kube/config .docker/config.json .aws/config .config/hub .config/gh/hosts.yml doctl/config.yaml
    .idea/webservers.xml .idea/datasources.xml .vscode/sftp.json .purple/accounts.xml .irssi/config
    .recon-ng/keys.db .cargo/credentials etc/shadow firefox/logins.json .azure/accesstokens.json
    .m2/settings.xml .m2/settings-security.xml .chef/knife.rb .composer/auth.json
""")
"""Ends of paths: the name alone would be that of any file."""
_FOLDERS = (".ssh", ".gnupg", ".password-store")
"""Folders of which every file counts."""
_STARTS = ("id_", *(n.partition("*")[0] for n in _NAMES if n[0] != "*"))
_ENDS = tuple(name[1:] for name in _NAMES if name[0] == "*" and "[" not in name)
_LAST_NAMES = frozenset(path.rpartition("/")[2].encode() for path in _PATHS)


def is_secret(path: bytes) -> bool:
    """Does the path look like a key or a credential? The content of such a file is never read."""
    folder, _, name = path.rpartition(b"/")
    return _is_secret_name(name) or (bool(folder) and _is_secret_place(folder, name))


@lru_cache(maxsize=4_096)
def _is_secret_name(name: bytes) -> bool:
    """Most names neither begin nor end like a secret: for them the pattern, which is dear, is not made."""
    text = name.decode("utf-8", "replace")
    low = text.lower()
    inside = "secret" in low or "-adminsdk-" in low
    if text.isascii() and not (inside or low.startswith(_STARTS) or low.endswith(_ENDS)):
        return False
    return secret_names().match(text) is not None


def _is_secret_place(folder: bytes, name: bytes) -> bool:
    low = name.lower()
    if low in _LAST_NAMES:
        tail = f"/{folder.decode('utf-8', 'replace').lower()}/{low.decode()}"
        if tail.endswith(tuple(f"/{path}" for path in _PATHS)):
            return True
    if b"." not in folder:
        return False
    return any(part in _FOLDERS for part in folder.decode("utf-8", "replace").lower().split("/"))


@cache
def secret_names() -> re.Pattern[str]:
    """Return the pattern of all names that look like a secret."""
    from fnmatch import translate

    return re.compile("|".join((*map(translate, _NAMES), _SSH_KEY)), re.IGNORECASE)


MAX_PROBED_BYTES = 64 << 20
"""A larger blob is not read to see whether it is a text that a limit leaves out."""
MAX_POLICY_BYTES = 1 << 18  # of one file of rules; its whole lines up to there count
IGNORE_FILE = b".gitindexignore"
ATTRIBUTES_FILE = b".gitattributes"

_BLANK = compile_later(rb"[ \t\r]+")
_WORD = compile_later(rb"[-!]?[A-Za-z0-9_.][-A-Za-z0-9_.]*(=.*)?")
_ESCAPE_TEXT = rb'\\([abfnrtv\\"]|[0-3][0-7]{2})'
_QUOTED = compile_later(rb'"((?:[^"\\]|%s)*+)"' % _ESCAPE_TEXT)
GREPPED = frozenset({SkipReason.GENERATED, SkipReason.MINIFIED})
"""Skipped by facts and ranked search, but still searched line by line."""
_LFS = b"version https://git-lfs.github.com/spec/"


class _Attribute(NamedTuple):
    rule: Rule
    reason: SkipReason
    set: bool


_WATCHED = {
    b"linguist-generated": SkipReason.GENERATED,
    b"linguist-vendored": SkipReason.VENDORED,
    b"binary": SkipReason.BINARY,
}


class Policy:
    """The rules of one tree. A pure function of that tree: files outside it have no effect."""

    def __init__(self, ignore: list[Rule], attributes: list[_Attribute]) -> None:
        self._ignore = ignore
        self._attributes = attributes

    def skip_path(self, entry: Entry) -> SkipReason | None:
        """Return why a path is skipped before its bytes are read; None if it is not."""
        if entry.mode == GITLINK:
            return SkipReason.SUBMODULE
        if entry.mode == TREE:
            return SkipReason.OVERSIZE  # a folder with too many paths
        if entry.mode == LINK:
            return SkipReason.SYMLINK
        if is_secret(entry.path):
            return SkipReason.SECRET
        if ignores(self._ignore, entry.path):
            return SkipReason.IGNORED
        return self._by_attribute(entry.path)

    def _by_attribute(self, path: bytes) -> SkipReason | None:
        verdict: dict[SkipReason, bool] = {}
        for attribute in self._attributes:
            if rule_matches(attribute.rule, path):
                verdict[attribute.reason] = attribute.set
        if not verdict:
            return None
        return next((reason for reason in _WATCHED.values() if verdict.get(reason)), None)


def is_policy_file(path: bytes) -> bool:
    """Can a change of this path change what is indexed elsewhere?"""
    return path == IGNORE_FILE or path.rpartition(b"/")[2] == ATTRIBUTES_FILE


def of_tree(entries: Iterable[Entry], read: Callable[[list[str]], Mapping[str, bytes]]) -> Policy:
    """Return the policy of a tree with these entries; reads only its policy files, in one batch.

    A file that `read` does not return has no effect: in a partial clone it may be missing.
    """
    ignore: list[Rule] = []
    attributes: list[_Attribute] = []
    files = [e for e in entries if is_policy_file(e.path) and e.mode not in (LINK, GITLINK)]
    contents = read([entry.oid for entry in files])
    for entry in sorted(files, key=lambda e: (e.path.count(b"/"), e.path)):
        data = _whole_lines(contents.get(entry.oid, b""))
        base = entry.path.rpartition(b"/")[0]
        if entry.path == IGNORE_FILE:
            ignore = parse_ignore(data)
        else:
            attributes += _parse_attributes(data, base + b"/" if base else b"")
    return Policy(ignore, attributes)


def _whole_lines(data: bytes) -> bytes:
    """Return the lines that are read: half a pattern would skip more than its author wrote."""
    if len(data) <= MAX_POLICY_BYTES:
        return data
    return data[: data.rfind(b"\n", 0, MAX_POLICY_BYTES) + 1]


def skip_content(data: bytes) -> SkipReason | None:
    """Return why a blob's bytes are skipped, independent of its path; None if they are not."""
    if len(data) > MAX_TEXT_BYTES:  # its beginning, as of a file on disk
        return SkipReason.BINARY if _is_binary(data[:BINARY_PROBE]) else SkipReason.OVERSIZE
    if data.startswith(_LFS):
        return SkipReason.LFS_POINTER
    if _is_binary(data):
        return SkipReason.BINARY
    if len(data) > 20_000 and len(data) / (data.count(b"\n") + 1) > 1000:
        return SkipReason.MINIFIED
    return None


def _is_binary(data: bytes) -> bool:
    return b"\0" in data and not data.startswith((b"\xff\xfe", b"\xfe\xff"))


def _parse_attributes(data: bytes, base: bytes) -> list[_Attribute]:
    found = []
    for line in data.removeprefix(codecs.BOM_UTF8).split(b"\n")[:MAX_PATTERNS]:
        pattern, words = _split_attributes(line.strip(b" \t\r"))
        if pattern.startswith((b"!", b"[attr]")) or not all(map(_WORD.fullmatch, words)):
            continue  # git drops such a line, too; macros with our words are not supported
        rule = make_rule(pattern, base)
        if rule is not None:
            found += [_Attribute(rule, *word) for word in map(_read_word, words) if word]
    return found


def _split_attributes(line: bytes) -> tuple[bytes, list[bytes]]:
    if line.startswith(b"#"):
        return b"", []
    if quoted := _QUOTED.match(line):
        rest = line[quoted.end() :].strip(b" \t\r")
        return quoted[1].decode("unicode_escape").encode("latin-1"), _BLANK.split(
            rest
        ) if rest else []
    pattern, *words = _BLANK.split(line)
    return pattern, words


def _read_word(word: bytes) -> tuple[SkipReason, bool] | None:
    name, _, value = word.lstrip(b"-!").partition(b"=")
    reason = _WATCHED.get(name)
    if reason is None:
        return None
    return reason, not word.startswith((b"-", b"!")) and value.lower() not in (b"false", b"0")


Read = Callable[[str], bytes | None]
"""Returns a blob's bytes by id; None if it is too large. ObjectMissing: git does not have it."""


NO_KEY = FactsKey("", "")


class PlannedBlob(NamedTuple):
    """One path of a tree with its skip reason, or its language and facts key."""

    entry: Entry
    skip: SkipReason | None
    language: str = ""  # empty for a path that is skipped unread
    key: FactsKey = NO_KEY  # the same


def classify(entry: Entry, policy: Policy, read: Read) -> PlannedBlob:
    """Return what a path becomes. Calls `read` only if the language depends on the content."""
    reason = policy.skip_path(entry)
    if reason is not None:
        return PlannedBlob(entry, reason)
    try:
        start = read(entry.oid) if needs_head(entry.path) else b""
    except ObjectMissing:
        return PlannedBlob(entry, SkipReason.MISSING_BLOB)
    language = language_of(entry.path, (start or b"")[:BINARY_PROBE])
    return PlannedBlob(entry, None, language, FactsKey(entry.oid, extractor_id(language)))


def classify_file(entry: Entry, policy: Policy, data: bytes) -> PlannedBlob:
    """Return what a file on disk becomes, given its bytes."""
    planned = classify(entry, policy, lambda _: data)
    return planned._replace(skip=planned.skip or skip_content(data))


def needs_content(entry: Entry, policy: Policy) -> bool:
    """Will `classify` read this path? For callers that read many blobs at once."""
    return needs_head(entry.path) and policy.skip_path(entry) is None


def reader_of(repository: Repository) -> Read:
    """Return a `Read` over a repository's objects."""

    def read(oid: str) -> bytes | None:
        return repository.read(oid) if repository.size(oid) <= MAX_PROBED_BYTES else None

    return read


def read_present(repository: Repository, oids: Iterable[str]) -> dict[str, bytes]:
    """Return the bytes of some blobs; those that git does not have are left out."""
    found: dict[str, bytes] = {}
    for oid in oids:
        try:
            found[oid] = repository.read(oid)
        except ObjectMissing:
            continue  # a partial clone
    return found


def is_present(repository: Repository, oid: str) -> bool:
    """Does git have this blob locally? In a partial clone it may be missing."""
    try:
        repository.size(oid)
    except ObjectMissing:
        return False
    return True
