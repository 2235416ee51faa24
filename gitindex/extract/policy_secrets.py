"""Names of files that hold keys and credentials: their content is never read.

The table follows the file rules of secret scanners (gitrob, shhgit, gitleaks) and the entries of
GitHub's `.gitignore` templates that name credentials. Source code, certificates without a key and
settings that only may hold a password are not in it: scanners report those to a person, but a
name is all there is to go by here.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

_NAMES = (
    # environments
    *(".env*", "*.env", "env.prod*", "env.local", "env.staging", "env.dev", "env.development"),
    # private keys, stores of keys and of passwords
    *(
        "*.pem",
        "*.key",
        "*.p8",
        "*.p12",
        "*.pfx",
        "*.pkcs12",
        "*.ppk",
        "*.asc",
        "*.gpg",
        "*.keytab",
    ),
    *(
        "*.jks",
        "*.bks",
        "*.keystore",
        "*.kdb",
        "*.kdbx",
        "*.psafe3",
        "*.agilekeychain",
        "*.keychain",
    ),
    *("*.kwallet", "*.bek", "*.fve", "*.tpm", "*_rsa", "*_dsa", "*_ecdsa", "*_ed25519", "*_key"),
    *("*.private_key", "secring.*", "keystore.properties", "key.properties", "signing.properties"),
    # credentials of services and of programs
    *("credentials", "credentials.json", "credentials.xml", "credentials.yml", "credentials.yaml"),
    *("credentials.toml", "credentials.yml.enc", "credentials.tfrc.json", ".credentials"),
    *(
        "service-account*.json",
        "service_account*.json",
        "client_secret*.json",
        "google-services.json",
    ),
    *(
        "kubeconfig",
        "*.kubeconfig",
        ".dockercfg",
        ".dockerconfigjson",
        ".boto",
        ".s3cfg",
        ".tugboat",
    ),
    *(".netrc", "_netrc", ".pgpass", "pgpass.conf", ".my.cnf", ".mylogin.cnf", ".npmrc", ".pypirc"),
    *(".htpasswd", "htpasswd", "proftpdpasswd", ".git-credentials", ".vault-token", ".vault_pass*"),
    *(".muttrc", ".msmtprc", ".fetchmailrc", ".pgpass.*", "sftp-config.json", ".ftpconfig"),
    *(
        ".remote-sync.json",
        "filezilla.xml",
        "recentservers.xml",
        "sitemanager.xml",
        "robomongo.json",
    ),
    *("dbeaver-data-sources.xml", "otr.private_key", "ventrilo_srv.ini", "wp-config.php"),
    *("localsettings.php", "local.settings.json", "*.publishsettings", "*.pubxml.user", "*.cscfg"),
    *("*.tfstate", "*.tfstate.backup", "*.tfvars", "*.tfvars.json", "*.ovpn", "*.tblk", "*.rdp"),
    # what says so itself
    *("secret*.json", "secret*.yml", "secret*.yaml", "secret*.toml", "secret*.properties"),
    *("secret*.xml", "secret*.ini", "secret*.conf", "secret*.txt", "*[-_.]secret*.json"),
    *("*[-_.]secret*.yml", "*[-_.]secret*.yaml", "*[-_.]secret*.toml", "*[-_.]secret*.properties"),
    *("token.txt", "tokens.txt", "token.json", "tokens.json", "password.txt", "passwords.txt"),
    *(
        ".bash_history",
        ".zsh_history",
        ".sh_history",
        ".history",
        ".mysql_history",
        ".psql_history",
    ),
    *(
        ".irb_history",
        ".python_history",
        ".node_repl_history",
        ".rediscli_history",
        ".sqlite_history",
    ),
)
_SSH_KEY = r"id_[a-z0-9]+\Z|id_(rsa|dsa|ecdsa|ed25519)[\w-]*(\.(bak|old|orig|txt))?\Z"
_PATHS = (
    *(".kube/config", ".docker/config.json", ".aws/config", ".config/hub", ".config/gh/hosts.yml"),
    *("doctl/config.yaml", ".idea/webservers.xml", ".idea/datasources.xml", ".vscode/sftp.json"),
    *(
        ".purple/accounts.xml",
        ".irssi/config",
        ".recon-ng/keys.db",
        ".cargo/credentials",
        "etc/shadow",
    ),
    *(".m2/settings.xml", ".m2/settings-security.xml", ".chef/knife.rb", ".composer/auth.json"),
)
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
    if text.isascii() and not (low.startswith(_STARTS) or low.endswith(_ENDS) or "secret" in low):
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
